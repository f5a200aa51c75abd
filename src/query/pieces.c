#include "query/pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/text.h"
#include "schema/schema.h"

#define VECTOR_ROWS 2048

/* COLUMN(name, type) */
#define PIECE_COLUMNS(COLUMN)    \
	COLUMN(ts, BIGINT)       \
	COLUMN(dur, BIGINT)      \
	COLUMN(cause, VARCHAR)   \
	COLUMN(says, VARCHAR)    \
	COLUMN(name, VARCHAR)    \
	COLUMN(file, BIGINT)     \
	COLUMN(path, VARCHAR)    \
	COLUMN(context, VARCHAR) \
	COLUMN(tid, BIGINT)      \
	COLUMN(t, DOUBLE)        \
	COLUMN(run, VARCHAR)     \
	COLUMN(node, VARCHAR)

enum piece_column {
#define PIECE_COLUMN_ID(name, type) PIECE_##name,
	PIECE_COLUMNS(PIECE_COLUMN_ID)
#undef PIECE_COLUMN_ID
		PIECE_COLUMN_COUNT
};

/* How far a statement is. One thread of DuckDB walks it. */
struct piece_scan {
	size_t run, at;
};

/* ---- making ---- */

static void free_pieces(const struct pieces_table *table, struct pieces *by_run)
{
	for (size_t i = 0; by_run && i < table->runs->count; i++) {
		buf_free(&by_run[i].list);
		strings_free(&by_run[i].names);
	}
	free(by_run);
}

static int make_all(struct pieces_table *table, struct error *e)
{
	struct pieces *by_run = calloc(table->runs->count + 1, sizeof(*by_run));
	int err = 0;

	if (!by_run)
		return error_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < table->runs->count && table->make && !err; i++) {
		by_run[i].list.limit = SIZE_MAX;
		err = table->make(&table->runs->items[i], &by_run[i], e);
	}
	if (err)
		free_pieces(table, by_run);
	else
		table->by_run = by_run;
	return err;
}

/* ---- DuckDB's callbacks ---- */

static void pieces_bind(duckdb_bind_info info)
{
#define ADD_PIECE_COLUMN(column, kind)                                                     \
	do {                                                                               \
		duckdb_logical_type type = duckdb.create_logical_type(DUCKDB_TYPE_##kind); \
		duckdb.bind_add_result_column(info, #column, type);                        \
		duckdb.destroy_logical_type(&type);                                        \
	} while (0);
	PIECE_COLUMNS(ADD_PIECE_COLUMN)
#undef ADD_PIECE_COLUMN
	duckdb.bind_set_bind_data(info, duckdb.bind_get_extra_info(info), NULL);
}

static void pieces_begin(duckdb_init_info info)
{
	struct pieces_table *table = duckdb.init_get_bind_data(info);
	struct piece_scan *scan = calloc(1, sizeof(*scan));
	struct error e = { "out of memory" };
	int err = 0;

	pthread_mutex_lock(&table->lock);
	if (scan && !table->by_run)
		err = make_all(table, &e);
	pthread_mutex_unlock(&table->lock);
	if (!scan || err) {
		duckdb.init_set_error(info, e.text);
		free(scan);
		return;
	}
	duckdb.init_set_max_threads(info, 1);
	duckdb.init_set_init_data(info, scan, free);
}

static void set_null(duckdb_vector vector, idx_t row)
{
	duckdb.vector_ensure_validity_writable(vector);
	duckdb.vector_get_validity(vector)[row / 64] &= ~(1ull << row % 64);
}

static void set_text(duckdb_vector vector, idx_t row, const char *bytes, size_t size)
{
	if (bytes)
		duckdb.vector_assign_string_element_len(vector, row, bytes, size);
	else
		set_null(vector, row);
}

static void set_number(duckdb_vector vector, idx_t row, int64_t number)
{
	if (number == CELL_NULL)
		set_null(vector, row);
	else
		((int64_t *)duckdb.vector_get_data(vector))[row] = number;
}

static void set_shown(duckdb_vector vector, idx_t row, const duckdb_string_t *text)
{
	set_text(vector, row, text ? text_bytes(text) : NULL, text ? text->inlined.length : 0);
}

static void fill_row(const struct run *run, const struct pieces *pieces, const struct piece *piece,
		     duckdb_vector *vectors, idx_t row)
{
	double *t = duckdb.vector_get_data(vectors[PIECE_t]);
	const char *name = NULL;
	size_t size = 0;

	if (piece->name != UINT32_MAX)
		name = strings_get(&pieces->names, piece->name, &size);
	set_number(vectors[PIECE_ts], row, (int64_t)piece->ts);
	set_number(vectors[PIECE_dur], row, (int64_t)piece->dur);
	set_text(vectors[PIECE_cause], row, piece->cause, strlen(piece->cause));
	set_text(vectors[PIECE_says], row, piece->says, strlen(piece->says));
	set_text(vectors[PIECE_name], row, name, size);
	set_number(vectors[PIECE_file], row, piece->file);
	set_shown(vectors[PIECE_path], row,
		  piece->file == CELL_NULL ? NULL : run_path(run, piece->file));
	set_text(vectors[PIECE_context], row, piece->context, strlen(piece->context));
	set_number(vectors[PIECE_tid], row, piece->tid);
	t[row] = (double)(int64_t)(piece->ts - run->start) / 1e9;
	set_shown(vectors[PIECE_run], row, &run->name);
	set_shown(vectors[PIECE_node], row, &run->node);
}

static void pieces_next(duckdb_function_info info, duckdb_data_chunk output)
{
	const struct pieces_table *table = duckdb.function_get_bind_data(info);
	struct piece_scan *scan = duckdb.function_get_init_data(info);
	duckdb_vector vectors[PIECE_COLUMN_COUNT];
	idx_t row = 0;

	for (unsigned i = 0; i < PIECE_COLUMN_COUNT; i++)
		vectors[i] = duckdb.data_chunk_get_vector(output, i);
	while (row < VECTOR_ROWS && scan->run < table->runs->count) {
		const struct pieces *pieces = &table->by_run[scan->run];
		const struct piece *list = (const struct piece *)pieces->list.data;

		if (scan->at == pieces->list.size / sizeof(*list)) {
			scan->run++;
			scan->at = 0;
			continue;
		}
		fill_row(&table->runs->items[scan->run], pieces, &list[scan->at++], vectors, row++);
	}
	duckdb.data_chunk_set_size(output, row);
}

void pieces_init(struct pieces_table *table, const struct runs *runs, pieces_maker make)
{
	*table = (struct pieces_table){ .runs = runs, .make = make };
	pthread_mutex_init(&table->lock, NULL);
}

int pieces_register(struct pieces_table *table, duckdb_connection connection, struct error *e)
{
	duckdb_table_function function = duckdb.create_table_function();
	int err = 0;

	duckdb.table_function_set_name(function, "strata_ledger");
	duckdb.table_function_set_extra_info(function, table, NULL);
	duckdb.table_function_set_bind(function, pieces_bind);
	duckdb.table_function_set_init(function, pieces_begin);
	duckdb.table_function_set_function(function, pieces_next);
	if (duckdb.register_table_function(connection, function) != DuckDBSuccess)
		err = error_set(e, -EINVAL, "DuckDB does not take the ledger");
	duckdb.destroy_table_function(&function);
	return err;
}

void pieces_close(struct pieces_table *table)
{
	free_pieces(table, table->by_run);
	table->by_run = NULL;
	pthread_mutex_destroy(&table->lock);
}
