/* A table as SQL shows it: what `strata dump` shows, and beside it `t`, `utc`, `run` and `node`.
 *
 * The table function has `run` first, because a query that needs no column at all, such as count(*), still
 * asks for the first one, and that must cost nothing; the view over it has the order of `dump`.
 */
#ifndef STRATA_QUERY_COLUMNS_H
#define STRATA_QUERY_COLUMNS_H

#include "query/duckdb_api.h"
#include "schema/shown.h"

enum column_source {
	SOURCE_RUN,	/* name of the run */
	SOURCE_NODE,	/* machine it was recorded on */
	SOURCE_NUMBER,	/* the cell */
	SOURCE_BOOL,	/* the cell, as a byte */
	SOURCE_TEXT,	/* the cell's text in the chunk */
	SOURCE_FILE,	/* the one id under which the file is known */
	SOURCE_PATH,	/* path of the file in the cell */
	SOURCE_COMM,	/* name of the thread in the cell */
	SOURCE_FS_PATH, /* path that a row of table fs is about */
	SOURCE_T,	/* seconds since the start of the recording */
	SOURCE_UTC,	/* the time in UTC */
};

struct query_column {
	const char *name, *unit, *doc;
	duckdb_type type;
	enum column_source source;
	unsigned column; /* in the table, where the source has one */
	enum column_role role;
};

#define QUERY_MAX_COLUMNS (SHOWN_MAX_COLUMNS + 4)

/* Lists the columns of the table function and returns how many there are. */
unsigned query_columns(const struct schema_table *table,
		       struct query_column out[QUERY_MAX_COLUMNS]);

/* Columns of the stored table that must be decoded to show this one, one bit each. */
uint64_t query_column_needs(const struct query_column *column);

/* SQL's name of a type. */
const char *query_type_name(duckdb_type type);

#endif
