#include "query/scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/fill.h"

/* A scan of the table by one statement, shared by its threads. */
struct scan {
	struct scan_table *table;
	struct part *parts;
	size_t count;
	_Atomic size_t next;
	struct query_column columns[QUERY_MAX_COLUMNS]; /* those asked for */
	unsigned column_count;
	uint64_t needs; /* stored columns to decode */
};

/* One thread's share of it. */
struct scan_worker {
	struct loaded loaded;
	struct filler *filler;
	uint8_t *blocks; /* which to give out; NULL: all */
	uint32_t rows, at;
};

static void scan_free(void *data)
{
	struct scan *scan = data;

	free(scan->parts);
	free(scan);
}

static void worker_free(void *data)
{
	struct scan_worker *worker = data;

	load_free(&worker->loaded);
	filler_close(worker->filler);
	free(worker->blocks);
	free(worker);
}

static void scan_bind(duckdb_bind_info info)
{
	struct scan_table *table = duckdb.bind_get_extra_info(info);
	uint64_t rows = 0;
	struct part *parts;
	struct error e;
	size_t count;

	table->binds++;
	for (unsigned i = 0; i < table->column_count; i++) {
		duckdb_logical_type type = duckdb.create_logical_type(table->columns[i].type);
		char name[64];

		snprintf(name, sizeof(name), SCAN_PREFIX "%s_%s", schema_tables[table->table].name,
			 table->columns[i].name);
		duckdb.bind_add_result_column(info, name, type);
		duckdb.destroy_logical_type(&type);
	}
	if (load_list(table->runs, table->table, &parts, &count, &e)) {
		duckdb.bind_set_error(info, e.text);
		return;
	}
	for (size_t i = 0; i < count; i++)
		rows += parts[i].chunk.rows;
	free(parts);
	duckdb.bind_set_cardinality(info, rows, true);
	duckdb.bind_set_bind_data(info, table, NULL);
}

/* Parts that the filter leaves out by their times and run are dropped here. */
static void scan_drop_parts(struct scan *scan)
{
	struct scan_progress *progress = scan->table->progress;
	size_t kept = 0;

	for (size_t i = 0; i < scan->count; i++) {
		progress->total += scan->parts[i].chunk.rows;
		if (!filter_wants_part(&scan->table->filter, &scan->parts[i]))
			continue;
		scan->parts[kept++] = scan->parts[i];
		progress->rows += scan->parts[i].chunk.rows;
	}
	scan->count = kept;
}

static void scan_init(duckdb_init_info info)
{
	struct scan_table *table = duckdb.init_get_bind_data(info);
	struct scan *scan = calloc(1, sizeof(*scan));
	struct error e = { "out of memory" };

	if (!scan || load_list(table->runs, table->table, &scan->parts, &scan->count, &e)) {
		duckdb.init_set_error(info, e.text);
		free(scan);
		return;
	}
	scan->table = table;
	scan_drop_parts(scan);
	for (idx_t i = 0; i < duckdb.init_get_column_count(info); i++) {
		const struct query_column *column =
			&table->columns[duckdb.init_get_column_index(info, i)];

		scan->columns[scan->column_count++] = *column;
		scan->needs |= query_column_needs(column);
	}
	duckdb.init_set_max_threads(info, scan->count ? scan->count : 1);
	duckdb.init_set_init_data(info, scan, scan_free);
}

static void scan_init_worker(duckdb_init_info info)
{
	struct scan_worker *worker = calloc(1, sizeof(*worker));

	if (!worker) {
		duckdb.init_set_error(info, "out of memory");
		return;
	}
	duckdb.init_set_init_data(info, worker, worker_free);
}

/* Damage inside a chunk whose checksum holds ends that chunk, not the query. */
static void scan_note_damage(struct scan *scan, const struct part *part, const struct error *e)
{
	struct scan_progress *progress = scan->table->progress;

	pthread_mutex_lock(&progress->lock);
	if (!*progress->damage.text) {
		progress->damage = *e;
		error_add(&progress->damage, -EBADMSG, "trace '%s'", part->run->path);
	}
	pthread_mutex_unlock(&progress->lock);
}

/* Decodes the part. 1 when it has rows to give, 0 when the filter leaves it out, -errno. */
static int worker_load(struct scan *scan, struct scan_worker *worker, const struct part *part,
		       struct error *e)
{
	const struct filter *filter = &scan->table->filter;
	size_t blocks = part->chunk.rows / FILTER_BLOCK + 1;
	uint8_t *marks;
	int err;

	load_begin(&worker->loaded, part);
	if (filter->count) {
		marks = realloc(worker->blocks, blocks);
		if (!marks)
			return error_set(e, -ENOMEM, "out of memory");
		worker->blocks = marks;
		err = filter_mark_blocks(filter, &worker->loaded, marks, e);
		if (err <= 0)
			return err;
	}
	err = load_columns(&worker->loaded, scan->needs, e);
	if (!err && filler_begin(worker->filler, &worker->loaded))
		err = error_set(e, -ENOMEM, "out of memory");
	if (err)
		return err;
	worker->rows = part->chunk.rows;
	worker->at = 0;
	return 1;
}

/* Goes on to the next part that has rows to give. 1, 0 at the end, -errno. */
static int worker_next_part(struct scan *scan, struct scan_worker *worker, struct error *e)
{
	for (;;) {
		size_t next = atomic_fetch_add(&scan->next, 1);
		int found;

		worker->rows = worker->at = 0;
		if (next >= scan->count)
			return 0;
		found = worker_load(scan, worker, &scan->parts[next], e);
		if (found > 0)
			return found;
		if (found == -EBADMSG)
			scan_note_damage(scan, &scan->parts[next], e);
		else if (found < 0)
			return found;
		scan->table->progress->done += scan->parts[next].chunk.rows;
	}
}

/* Passes the blocks that the filter leaves out. Whether there are rows left. */
static bool worker_seek(struct scan_worker *worker)
{
	while (worker->blocks && worker->at < worker->rows &&
	       !worker->blocks[worker->at / FILTER_BLOCK])
		worker->at += FILTER_BLOCK;
	return worker->at < worker->rows;
}

static int scan_fill(struct scan *scan, struct scan_worker *worker, duckdb_data_chunk output)
{
	uint32_t left = worker->rows - worker->at;
	uint32_t count = left < FILTER_BLOCK ? left : FILTER_BLOCK;
	int err = 0;

	for (unsigned i = 0; i < scan->column_count && !err; i++)
		err = filler_fill(worker->filler, i, worker->at, count,
				  duckdb.data_chunk_get_vector(output, i));
	worker->at += count;
	if (!err)
		duckdb.data_chunk_set_size(output, count);
	scan->table->progress->given += count;
	return err;
}

static void scan_next(duckdb_function_info info, duckdb_data_chunk output)
{
	struct scan *scan = duckdb.function_get_init_data(info);
	struct scan_worker *worker = duckdb.function_get_local_init_data(info);
	struct error e = { "out of memory" };
	int found = 1;

	if (!worker->filler)
		worker->filler = filler_open(scan->columns, scan->column_count);
	if (!worker->filler) {
		duckdb.function_set_error(info, e.text);
		return;
	}
	while (found > 0 && !worker_seek(worker)) {
		scan->table->progress->done += worker->rows;
		found = worker_next_part(scan, worker, &e);
	}
	if (found > 0)
		found = scan_fill(scan, worker, output);
	if (found < 0)
		duckdb.function_set_error(info, e.text);
}

void scan_table_init(struct scan_table *scan, unsigned table, const struct runs *runs,
		     struct scan_progress *progress)
{
	*scan = (struct scan_table){ .table = table, .runs = runs, .progress = progress };
	scan->column_count = query_columns(&schema_tables[table], scan->columns);
	scan->filter.columns = scan->columns;
}

int scan_register(struct scan_table *scan, duckdb_connection connection, struct error *e)
{
	duckdb_table_function function = duckdb.create_table_function();
	char name[64];
	int err = 0;

	snprintf(name, sizeof(name), SCAN_PREFIX "%s", schema_tables[scan->table].name);
	duckdb.table_function_set_name(function, name);
	duckdb.table_function_set_extra_info(function, scan, NULL);
	duckdb.table_function_set_bind(function, scan_bind);
	duckdb.table_function_set_init(function, scan_init);
	duckdb.table_function_set_local_init(function, scan_init_worker);
	duckdb.table_function_set_function(function, scan_next);
	duckdb.table_function_supports_projection_pushdown(function, true);
	if (duckdb.register_table_function(connection, function) != DuckDBSuccess)
		err = error_set(e, -EINVAL, "DuckDB does not take table '%s'",
				schema_tables[scan->table].name);
	duckdb.destroy_table_function(&function);
	return err;
}
