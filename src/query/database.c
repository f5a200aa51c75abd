/* See database.h. A struct database owns DuckDB's, the runs and the tables that DuckDB's callbacks point to; it
 * closes DuckDB first.
 */
#include "query/database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "query/hint.h"
#include "query/plan.h"
#include "query/scan.h"
#include "query/spill.h"
#include "query/utc.h"
#include "query/views.h"

struct database {
	duckdb_database handle;
	duckdb_connection connection;
	struct runs runs;
	struct scan_progress progress;
	struct scan_table tables[TABLE_COUNT];
	struct pieces_table ledger;
	char *spill; /* folder; NULL: none */
};

/* Runs a statement of our own whose rows nobody wants. */
static int run_own(struct database *database, const char *sql, struct error *e)
{
	duckdb_result result = { 0 };
	int err = 0;

	if (duckdb.query(database->connection, sql, &result) != DuckDBSuccess)
		err = error_set(e, -EINVAL, "DuckDB: %s", duckdb.result_error(&result));
	duckdb.destroy_result(&result);
	return err;
}

static int run_own_buf(struct database *database, struct buf *sql, int built, struct error *e)
{
	if (!built)
		built = buf_append(sql, "", 1);
	return built ? error_set(e, built, "out of memory")
		     : run_own(database, (const char *)sql->data, e);
}

static int append_literal(struct buf *out, const char *text)
{
	int err = buf_append(out, "'", 1);

	if (!err)
		err = escape_append(out, ESCAPE_SQL, text, strlen(text));
	return err ? err : buf_append(out, "'", 1);
}

/* The table by its bare name, with the columns in the order of `dump` and then those of SQL alone. */
static int create_table(struct database *database, struct scan_table *table, struct error *e)
{
	const char *name = schema_tables[table->table].name;
	struct buf sql = { 0 };
	int err;

	err = scan_register(table, database->connection, e);
	if (err)
		return err;
	err = buf_printf(&sql, "CREATE VIEW \"%s\" AS SELECT ", name);
	for (unsigned i = 0; i < table->column_count && !err; i++) {
		/* run and node come first there and last here. */
		const char *column = table->columns[(i + 2) % table->column_count].name;

		err = buf_printf(&sql, "%s" SCAN_PREFIX "%s_%s AS \"%s\"", i ? ", " : "", name,
				 column, column);
	}
	if (!err)
		err = buf_printf(&sql, " FROM " SCAN_PREFIX "%s()", name);
	err = run_own_buf(database, &sql, err, e);
	buf_free(&sql);
	return err;
}

static int create_view(struct database *database, const struct view *view, struct error *e)
{
	struct buf sql = { 0 };
	int err = buf_printf(&sql, "CREATE VIEW %s AS ", view->name);

	if (!err)
		err = view_append_sql(view, &sql);
	err = run_own_buf(database, &sql, err, e);
	buf_free(&sql);
	return err;
}

/* No file but the output may be touched, and no statement can undo that. */
static int lock_down(struct database *database, const struct database_options *options,
		     struct error *e)
{
	struct buf sql = { 0 };
	int err = 0;

	if (options->allow_files)
		return 0;
	if (options->output) {
		err = buf_printf(&sql, "SET allowed_paths = [");
		if (!err)
			err = append_literal(&sql, options->output);
		if (!err)
			err = buf_printf(&sql, "]");
		err = run_own_buf(database, &sql, err, e);
	}
	buf_free(&sql);
	if (!err)
		err = run_own(database,
			      "SET enable_external_access = false; SET lock_configuration = true",
			      e);
	return err;
}

/* Without a folder, what does not fit into memory is an error of the statement. */
static int set_spill(struct database *database, struct error *e)
{
	struct buf sql = { 0 };
	int err;

	database->spill = spill_make();
	err = buf_printf(&sql, "SET temp_directory = ");
	if (!err)
		err = append_literal(&sql, database->spill ? database->spill : "");
	err = run_own_buf(database, &sql, err, e);
	buf_free(&sql);
	return err;
}

static int open_database(struct database *database, const struct database_options *options,
			 struct error *e)
{
	int err;

	if (duckdb.open(NULL, &database->handle) != DuckDBSuccess ||
	    duckdb.connect(database->handle, &database->connection) != DuckDBSuccess)
		return error_set(e, -ENOMEM, "DuckDB cannot open a database in memory");
	/* Nothing is fetched behind the user's back, and strata shows the progress itself. */
	err = run_own(database,
		      "SET autoinstall_known_extensions = false; "
		      "SET autoload_known_extensions = false; SET enable_progress_bar = false",
		      e);
	if (!err)
		err = set_spill(database, e);
	for (unsigned i = 0; i < TABLE_COUNT && !err; i++) {
		scan_table_init(&database->tables[i], i, &database->runs, &database->progress);
		err = create_table(database, &database->tables[i], e);
	}
	if (!err)
		err = utc_register(database->connection, &database->runs, e);
	if (!err)
		err = pieces_register(&database->ledger, database->connection, e);
	for (unsigned i = 0; i < view_count && !err; i++)
		err = create_view(database, &views[i], e);
	return err ? err : lock_down(database, options, e);
}

int database_open(struct database **out, char *const *paths, size_t count,
		  const struct database_options *options, struct error *e)
{
	struct database *database = calloc(1, sizeof(*database));
	int err;

	if (!database)
		return error_set(e, -ENOMEM, "out of memory");
	pthread_mutex_init(&database->progress.lock, NULL);
	pieces_init(&database->ledger, &database->runs, options->make_ledger);
	err = duckdb_load(e);
	if (!err)
		err = runs_open(&database->runs, paths, count, e);
	if (!err)
		err = open_database(database, options, e);
	if (err) {
		database_close(database);
		return err;
	}
	*out = database;
	return 0;
}

void database_close(struct database *database)
{
	if (!database)
		return;
	if (database->connection)
		duckdb.disconnect(&database->connection);
	if (database->handle)
		duckdb.close(&database->handle);
	spill_remove(database->spill);
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		filter_free(&database->tables[i].filter);
	pieces_close(&database->ledger);
	runs_close(&database->runs);
	pthread_mutex_destroy(&database->progress.lock);
	free(database);
}

const struct runs *database_runs(const struct database *database)
{
	return &database->runs;
}

static void begin_statement(struct database *database)
{
	database->progress.rows = database->progress.done = 0;
	database->progress.total = database->progress.given = 0;
	database->progress.damage.text[0] = '\0';
	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		filter_free(&database->tables[i].filter);
		database->tables[i].binds = 0;
	}
}

/* Whether a cell can hold the type. */
static bool is_plain_type(duckdb_type type)
{
	return (type >= DUCKDB_TYPE_BOOLEAN && type <= DUCKDB_TYPE_DOUBLE) ||
	       type == DUCKDB_TYPE_HUGEINT || type == DUCKDB_TYPE_VARCHAR;
}

static bool is_number(duckdb_type type)
{
	return (type >= DUCKDB_TYPE_TINYINT && type <= DUCKDB_TYPE_DOUBLE) ||
	       type == DUCKDB_TYPE_HUGEINT || type == DUCKDB_TYPE_DECIMAL;
}

static int prepare(struct database *database, const char *sql, duckdb_prepared_statement *statement,
		   struct error *e)
{
	if (duckdb.prepare(database->connection, sql, statement) != DuckDBSuccess) {
		hint_set(e, duckdb.prepare_error(*statement), sql);
		duckdb.destroy_prepare(statement);
		return -EINVAL;
	}
	if (duckdb.nparams(*statement)) {
		duckdb.destroy_prepare(statement);
		return error_set(e, -EINVAL,
				 "the query has a parameter ($1 or ?): write its value");
	}
	return 0;
}

static int describe_columns(duckdb_prepared_statement statement, bool json, struct result *result)
{
	idx_t count = duckdb.prepared_statement_column_count(statement);

	result->columns = calloc(count + 1, sizeof(*result->columns));
	if (!result->columns)
		return -ENOMEM;
	for (idx_t i = 0; i < count; i++) {
		duckdb_type type = duckdb.prepared_statement_column_type(statement, i);
		const char *name = duckdb.prepared_statement_column_name(statement, i);

		result->columns[i].name = strdup(name ? name : "");
		result->columns[i].is_number = is_number(type);
		result->columns[i].is_json = json && !is_plain_type(type);
		duckdb.free((void *)name);
		if (!result->columns[i].name)
			return -ENOMEM;
		result->column_count++;
	}
	return 0;
}

/* The query again, with the columns that a cell cannot hold made into text. */
static int append_casts(struct buf *out, duckdb_prepared_statement statement, const char *sql,
			bool json)
{
	idx_t count = duckdb.prepared_statement_column_count(statement);
	int err = buf_printf(out, "SELECT ");

	for (idx_t i = 0; i < count && !err; i++) {
		duckdb_type type = duckdb.prepared_statement_column_type(statement, i);
		const char *form = is_plain_type(type) ? "%sc%llu"
				   : json	       ? "%sto_json(c%llu)::VARCHAR"
						       : "%sc%llu::VARCHAR";

		err = buf_printf(out, form, i ? ", " : "", (unsigned long long)i);
	}
	if (!err)
		err = buf_printf(out, " FROM (\n%s\n) AS q(", sql);
	for (idx_t i = 0; i < count && !err; i++)
		err = buf_printf(out, "%sc%llu", i ? ", " : "", (unsigned long long)i);
	return err ? err : buf_append(out, ")", 2);
}

static bool needs_casts(duckdb_prepared_statement statement)
{
	if (duckdb.prepared_statement_type(statement) != DUCKDB_STATEMENT_TYPE_SELECT)
		return false;
	for (idx_t i = 0; i < duckdb.prepared_statement_column_count(statement); i++)
		if (!is_plain_type(duckdb.prepared_statement_column_type(statement, i)))
			return true;
	return false;
}

static int add_casts(struct database *database, duckdb_prepared_statement *statement,
		     const char *sql, bool json, struct error *e)
{
	duckdb_prepared_statement cast = NULL;
	struct buf text = { 0 };
	int err = 0;

	if (!needs_casts(*statement))
		return 0;
	if (append_casts(&text, *statement, sql, json))
		err = error_set(e, -ENOMEM, "out of memory");
	if (!err)
		err = prepare(database, (const char *)text.data, &cast, e);
	if (!err) {
		duckdb.destroy_prepare(statement);
		*statement = cast;
	}
	buf_free(&text);
	return err;
}

static int execute(duckdb_prepared_statement statement, const char *sql, struct result *result,
		   struct error *e)
{
	duckdb_pending_result pending = NULL;
	int err = 0;

	if (duckdb.pending_prepared_streaming(statement, &pending) != DuckDBSuccess) {
		hint_set(e, duckdb.pending_error(pending), sql);
		err = -EINVAL;
	} else if (duckdb.execute_pending(pending, &result->handle) != DuckDBSuccess) {
		hint_set(e, duckdb.result_error(&result->handle), sql);
		err = -EINVAL;
	}
	duckdb.destroy_pending(&pending);
	return err;
}

int database_run(struct database *database, const char *sql, size_t size, bool json,
		 struct result *result, struct error *e)
{
	duckdb_prepared_statement statement = NULL;
	char *text = strndup(sql, size);
	int err;

	*result = (struct result){ 0 };
	if (!text)
		return error_set(e, -ENOMEM, "out of memory");
	begin_statement(database);
	err = prepare(database, text, &statement, e);
	if (err)
		goto out;
	if (duckdb.prepared_statement_type(statement) == DUCKDB_STATEMENT_TYPE_SELECT)
		plan_filters(database->connection, text, database->tables);
	if (describe_columns(statement, json, result))
		err = error_set(e, -ENOMEM, "out of memory");
	if (!err)
		err = add_casts(database, &statement, text, json, e);
	if (!err)
		err = execute(statement, text, result, e);
	if (err)
		goto out;
	result->is_query =
		duckdb.result_return_type(result->handle) == DUCKDB_RESULT_TYPE_QUERY_RESULT;
	result->is_plan =
		duckdb.prepared_statement_type(statement) == DUCKDB_STATEMENT_TYPE_EXPLAIN;
out:
	if (statement)
		duckdb.destroy_prepare(&statement);
	if (err)
		result_free(result);
	free(text);
	return err;
}

int database_write_parquet(struct database *database, const char *sql, size_t size,
			   const char *path, uint64_t *rows, struct error *e)
{
	struct result result = { 0 };
	struct buf text = { 0 };
	int64_t got = 0;
	int err;

	begin_statement(database);
	err = buf_printf(&text, "COPY (\n%.*s\n) TO ", (int)size, sql);
	if (!err)
		err = append_literal(&text, path);
	if (!err)
		err = buf_printf(&text, " (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)");
	if (err)
		err = error_set(e, err, "out of memory");
	if (!err)
		err = database_run(database, (const char *)text.data, text.size, false, &result, e);
	if (!err)
		got = result_next(&result, e);
	if (got < 0)
		err = (int)got;
	if (got > 0)
		*rows = (uint64_t)result_cell(&result, 0, 0).number;
	result_free(&result);
	buf_free(&text);
	return err;
}

void database_interrupt(struct database *database)
{
	duckdb.interrupt(database->connection);
}

double database_progress(const struct database *database)
{
	uint64_t rows = database->progress.rows, done = database->progress.done;

	return rows ? (double)done / (double)rows : 0;
}

void database_scanned(const struct database *database, uint64_t *total, uint64_t *given)
{
	*total = database->progress.total;
	*given = database->progress.given;
}

const char *database_damage(const struct database *database)
{
	return *database->progress.damage.text ? database->progress.damage.text : NULL;
}
