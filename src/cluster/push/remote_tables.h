/* The tables of a trace, and the samples of agents, as ClickHouse has them: stated by the schema, as everywhere.
 *
 * Every table has, after its own columns as `strata sql` shows them, who recorded the row and in which batch it came:
 *
 *     run, node     as in `strata sql`
 *     job, job_rank of a job on many nodes; null: none
 *     batch, day    the batch's number on its node, and the day of its first row, one and the same in all its rows: a
 *                   partition, so that an insert is one block in one partition, all or nothing
 *
 * With a cluster a table is two: NAME_local, which has the rows, and NAME over those of all shards.
 */
#ifndef STRATA_CLUSTER_PUSH_REMOTE_TABLES_H
#define STRATA_CLUSTER_PUSH_REMOTE_TABLES_H

#include "base/buf.h"
#include "cluster/push/clickhouse.h"
#include "query/columns.h"
#include "schema/schema.h"

/* How a cell goes over the wire; see remote_type_name(). */
enum remote_type {
	REMOTE_TIME,   /* Int64, never null: what rows are in order of */
	REMOTE_INT,    /* Nullable(Int64) */
	REMOTE_UINT,   /* Nullable(UInt64) */
	REMOTE_REAL,   /* Nullable(Float64) */
	REMOTE_TRUTH,  /* Nullable(UInt8) */
	REMOTE_TEXT,   /* Nullable(String) */
	REMOTE_WORD,   /* the same of few values: LowCardinality where the server has it */
	REMOTE_NAME,   /* of a node or run, never null */
	REMOTE_NUMBER, /* UInt64, never null */
	REMOTE_DAY,    /* Date */
	REMOTE_SLOTS,  /* Array(UInt64): a histogram */
};

#define REMOTE_MAX_COLUMNS (QUERY_MAX_COLUMNS + 4)

struct remote_column {
	const char *name, *doc;
	enum remote_type type;
	const struct query_column *source; /* NULL: one that is of all tables */
};

struct remote_table {
	const char *name;
	const char *key; /* the column that rows are sorted by, after node and run */
	bool is_timed;	 /* the key is a number, of which a batch has bounds */
	struct query_column sources[QUERY_MAX_COLUMNS];
	struct remote_column columns[REMOTE_MAX_COLUMNS];
	unsigned count;
};

/* Number of a table: enum table_id, and after those the samples of agents. */
#define REMOTE_METRIC	   TABLE_COUNT
#define REMOTE_TABLE_COUNT (TABLE_COUNT + 1)

void remote_table_fill(struct remote_table *table, unsigned number);

/* What the tables are to be. */
struct remote_layout {
	const char *database;
	const char *cluster; /* NULL: tables of one server */
};

/* Adds the statement that makes the home of a table's rows, as this server takes it. */
void remote_table_ddl(struct sql_text *sql, const struct remote_layout *layout,
		      const struct remote_table *table, const struct clickhouse_server *server);

/* Adds database.table, or database.table_local with a cluster. */
void remote_home(struct sql_text *sql, const struct remote_layout *layout, const char *table);

/* What a statement that makes such a table needs in its URL. */
const char *remote_settings(const struct clickhouse_server *server);

/* Makes what is not there: database, tables, columns that a later version has, views. */
int remote_layout_make(struct clickhouse *clickhouse, const struct remote_layout *layout,
		       struct error *e);

#endif
