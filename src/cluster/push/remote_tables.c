/* See remote_tables.h. */
#include "cluster/push/remote_tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cluster/push/remote_views.h"

/* Columns of all tables, behind those of each. Order and names are those of struct batch_common (row_batch.h). */
static const struct remote_column common_columns[] = {
	{ "run", "name of the run; empty of agents", REMOTE_NAME, NULL },
	{ "node", "machine that it was recorded on", REMOTE_NAME, NULL },
	{ "job", "job on many nodes that it is part of; null: none was named", REMOTE_WORD, NULL },
	{ "job_rank", "its number among the processes of the job", REMOTE_INT, NULL },
	{ "batch", "number of the batch that it came in, of this node", REMOTE_NUMBER, NULL },
	{ "day", "of the batch's first row, in UTC: the partition", REMOTE_DAY, NULL },
};

#define COMMON_COUNT (sizeof(common_columns) / sizeof(*common_columns))

/* A sample of an agent (metric_store.h). */
static const struct remote_column metric_columns[] = {
	{ "time", "start of the interval in UTC, nanoseconds since 1970", REMOTE_TIME, NULL },
	{ "length", "length of the interval, ns", REMOTE_NUMBER, NULL },
	{ "metric", "what was measured", REMOTE_NAME, NULL },
	{ "label", "of which device, operation or GPU; empty: of all", REMOTE_NAME, NULL },
	{ "op", "and which operation of a device", REMOTE_NAME, NULL },
	{ "pid", "of which process; 0: of all", REMOTE_NUMBER, NULL },
	{ "comm", "its name", REMOTE_NAME, NULL },
	{ "value", "of a figure or a counter", REMOTE_REAL, NULL },
	{ "count", "of a histogram: events", REMOTE_NUMBER, NULL },
	{ "sum", "how long all of them took together, ns", REMOTE_NUMBER, NULL },
	{ "max", "how long the longest took, ns; null: not known", REMOTE_UINT, NULL },
	{ "slots", "how many took less than 2, 4, 8 ... microseconds", REMOTE_SLOTS, NULL },
};

#define METRIC_COUNT (sizeof(metric_columns) / sizeof(*metric_columns))

static enum remote_type type_of(const struct query_column *column)
{
	switch (column->source) {
	case SOURCE_BOOL: return REMOTE_TRUTH;
	case SOURCE_TEXT:
		return column->role == ROLE_VALUE && strcmp(column->name, "comm") &&
				       strcmp(column->name, "dev")
			       ? REMOTE_TEXT
			       : REMOTE_WORD;
	case SOURCE_COMM: return REMOTE_WORD;
	case SOURCE_PATH:
	case SOURCE_FS_PATH: return REMOTE_TEXT;
	case SOURCE_T: return REMOTE_REAL;
	case SOURCE_UTC: return REMOTE_INT;
	default: break;
	}
	if (column->type == DUCKDB_TYPE_DOUBLE)
		return REMOTE_REAL;
	return column->type == DUCKDB_TYPE_UBIGINT ? REMOTE_UINT : REMOTE_INT;
}

/* The first column orders the rows: it is never null, as the sort key must not be. */
static void fill_from_schema(struct remote_table *table, const struct schema_table *schema)
{
	unsigned count = query_columns(schema, table->sources);

	table->name = schema->name;
	table->key = schema->columns[0].name;
	table->is_timed = schema->columns[0].type != TYPE_TEXT;
	for (unsigned i = 0; i < count; i++) {
		const struct query_column *source = &table->sources[i];
		bool first = source->source != SOURCE_RUN && source->source != SOURCE_NODE &&
			     !table->count;

		if (source->source == SOURCE_RUN || source->source == SOURCE_NODE)
			continue;
		table->columns[table->count++] =
			(struct remote_column){ .name = source->name,
						.doc = source->doc,
						.type = !first		  ? type_of(source)
							: table->is_timed ? REMOTE_TIME
									  : REMOTE_NAME,
						.source = source };
	}
}

void remote_table_fill(struct remote_table *table, unsigned number)
{
	memset(table, 0, sizeof(*table));
	if (number < TABLE_COUNT) {
		fill_from_schema(table, &schema_tables[number]);
	} else {
		table->name = "metric";
		table->key = "time";
		table->is_timed = true;
		memcpy(table->columns, metric_columns, sizeof(metric_columns));
		table->count = METRIC_COUNT;
	}
	memcpy(&table->columns[table->count], common_columns, sizeof(common_columns));
	table->count += COMMON_COUNT;
}

/* ---- the statements ---- */

static const char *type_name(enum remote_type type, bool low)
{
	switch (type) {
	case REMOTE_TIME: return "Int64";
	case REMOTE_INT: return "Nullable(Int64)";
	case REMOTE_UINT: return "Nullable(UInt64)";
	case REMOTE_REAL: return "Nullable(Float64)";
	case REMOTE_TRUTH: return "Nullable(UInt8)";
	case REMOTE_TEXT: return "Nullable(String)";
	case REMOTE_WORD: return low ? "LowCardinality(Nullable(String))" : "Nullable(String)";
	case REMOTE_NAME: return low ? "LowCardinality(String)" : "String";
	case REMOTE_NUMBER: return "UInt64";
	case REMOTE_DAY: return "Date";
	case REMOTE_SLOTS: return "Array(UInt64)";
	}
	return "";
}

/* Times, positions and numbers of batches grow: their differences are small. */
static const char *codec_of(const struct remote_column *column)
{
	bool grows = column->type == REMOTE_TIME || column->type == REMOTE_NUMBER ||
		     !strcmp(column->name, "utc") || !strcmp(column->name, "pos");

	return grows ? " CODEC(Delta, ZSTD(1))" : " CODEC(ZSTD(1))";
}

void remote_home(struct sql_text *sql, const struct remote_layout *layout, const char *table)
{
	sql_name(sql, layout->database);
	sql_add(sql, ".`%s%s`", table, layout->cluster ? "_local" : "");
}

static void add_column(struct sql_text *sql, const struct remote_column *column,
		       const struct clickhouse_server *server)
{
	sql_add(sql, "`%s` %s%s", column->name, type_name(column->type, server->low_cardinality),
		server->codecs ? codec_of(column) : "");
}

/* Batches of a table that may come again: those that all nodes have under way, and many more. See deliver.c. */
#define DEDUPLICATION_WINDOW 10000

void remote_table_ddl(struct sql_text *sql, const struct remote_layout *layout,
		      const struct remote_table *table, const struct clickhouse_server *server)
{
	sql_add(sql, "CREATE TABLE IF NOT EXISTS ");
	remote_home(sql, layout, table->name);
	for (unsigned i = 0; i < table->count; i++) {
		sql_add(sql, i ? ", " : " (");
		add_column(sql, &table->columns[i], server);
	}
	sql_add(sql,
		") ENGINE = MergeTree() PARTITION BY day ORDER BY (node, run, `%s`)"
		" SETTINGS index_granularity = 8192",
		table->key);
	if (server->tokens)
		sql_add(sql, ", non_replicated_deduplication_window = %d", DEDUPLICATION_WINDOW);
	if (clickhouse_knows(&server->table_settings, "fsync_after_insert"))
		sql_add(sql, ", fsync_after_insert = 1");
}

/* What old servers want before they take LowCardinality, and later ones no longer know. */
const char *remote_settings(const struct clickhouse_server *server)
{
	return clickhouse_knows(&server->settings, "allow_experimental_low_cardinality_type")
		       ? "&allow_experimental_low_cardinality_type=1"
		       : "";
}

static void add_distributed(struct sql_text *sql, const struct remote_layout *layout,
			    const char *table)
{
	sql_add(sql, "CREATE TABLE IF NOT EXISTS ");
	sql_name(sql, layout->database);
	sql_add(sql, ".`%s` AS ", table);
	remote_home(sql, layout, table);
	sql_add(sql, " ENGINE = Distributed(");
	sql_string(sql, layout->cluster);
	sql_add(sql, ", ");
	sql_string(sql, layout->database);
	sql_add(sql, ", '%s_local', cityHash64(node))", table);
}

/* The columns that the database has, as "table.column". */
static int list_columns(struct clickhouse *clickhouse, const char *database, struct strings *out,
			struct error *e)
{
	struct sql_text sql = { 0 };
	struct buf body = { 0 };
	uint32_t number;
	char *line, *rest;
	int err;

	sql_add(&sql, "SELECT concat(table, '.', name) FROM system.columns WHERE database = ");
	sql_string(&sql, database);
	err = clickhouse_do(clickhouse, NULL, &sql, &body, e);
	for (rest = (char *)body.data; !err && rest && (line = strsep(&rest, "\n"));)
		if (*line && strings_add(out, line, strlen(line), &number))
			err = error_set(e, -ENOMEM, "out of memory");
	buf_free(&body);
	sql_free(&sql);
	return err;
}

static bool has_column(const struct strings *columns, const char *table, const char *column)
{
	char name[160];
	uint32_t number;
	int size = snprintf(name, sizeof(name), "%s.%s", table, column);

	return strings_find(columns, name, (size_t)size, &number);
}

/* Adds to a table of an earlier version the columns that this one has. `name` is its own, with _local or without. */
static int add_columns(struct clickhouse *clickhouse, const char *database, const char *name,
		       const struct remote_table *table, const struct strings *columns,
		       const struct clickhouse_server *server, struct error *e)
{
	struct sql_text sql = { 0 };
	int err = 0;

	for (unsigned i = 0; i < table->count && !err; i++) {
		if (has_column(columns, name, table->columns[i].name) ||
		    !has_column(columns, name, "batch"))
			continue;
		sql_add(&sql, "ALTER TABLE ");
		sql_name(&sql, database);
		sql_add(&sql, ".`%s` ADD COLUMN ", name);
		add_column(&sql, &table->columns[i], server);
		err = clickhouse_do(clickhouse, remote_settings(server), &sql, NULL, e);
	}
	sql_free(&sql);
	return err;
}

static int make_table(struct clickhouse *clickhouse, const struct remote_layout *layout,
		      const struct remote_table *table, const struct strings *columns,
		      const struct clickhouse_server *server, struct error *e)
{
	struct sql_text sql = { 0 };
	char home[96];
	int err = 0;

	snprintf(home, sizeof(home), "%s%s", table->name, layout->cluster ? "_local" : "");
	if (!has_column(columns, home, "batch")) {
		remote_table_ddl(&sql, layout, table, server);
		err = clickhouse_do(clickhouse, remote_settings(server), &sql, NULL, e);
	}
	if (!err)
		err = add_columns(clickhouse, layout->database, home, table, columns, server, e);
	if (!err && layout->cluster && !has_column(columns, table->name, "batch")) {
		add_distributed(&sql, layout, table->name);
		err = clickhouse_do(clickhouse, remote_settings(server), &sql, NULL, e);
	} else if (!err && layout->cluster) {
		err = add_columns(clickhouse, layout->database, table->name, table, columns, server,
				  e);
	}
	sql_free(&sql);
	return err ? error_add(e, err, "cannot make table %s", home) : 0;
}

static int make_views(struct clickhouse *clickhouse, const struct remote_layout *layout,
		      const struct strings *columns, const struct clickhouse_server *server,
		      struct error *e)
{
	struct sql_text sql = { 0 };
	int err = 0;

	for (unsigned i = 0; i < remote_view_count && !err; i++) {
		if (has_column(columns, remote_views[i].name, "node"))
			continue;
		sql_add(&sql, "CREATE VIEW IF NOT EXISTS ");
		sql_name(&sql, layout->database);
		sql_add(&sql, ".`%s` AS ", remote_views[i].name);
		remote_view_add(&sql, &remote_views[i], layout->database);
		err = clickhouse_do(clickhouse, remote_settings(server), &sql, NULL, e);
		if (err)
			error_add(e, err, "cannot make view %s", remote_views[i].name);
	}
	sql_free(&sql);
	return err;
}

int remote_layout_make(struct clickhouse *clickhouse, const struct remote_layout *layout,
		       struct error *e)
{
	const struct clickhouse_server *server;
	struct strings columns = { 0 };
	struct sql_text sql = { 0 };
	struct remote_table table;
	int err = clickhouse_probe(clickhouse, &server, e);

	if (err)
		return err;
	sql_add(&sql, "CREATE DATABASE IF NOT EXISTS ");
	sql_name(&sql, layout->database);
	err = clickhouse_do(clickhouse, NULL, &sql, NULL, e);
	if (!err)
		err = list_columns(clickhouse, layout->database, &columns, e);
	for (unsigned i = 0; i < REMOTE_TABLE_COUNT && !err; i++) {
		remote_table_fill(&table, i);
		err = make_table(clickhouse, layout, &table, &columns, server, e);
	}
	if (!err)
		err = make_views(clickhouse, layout, &columns, server, e);
	strings_free(&columns);
	sql_free(&sql);
	return err;
}
