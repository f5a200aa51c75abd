#include "render/rows_csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/paths.h"
#include "store/rows.h"

#define PROGRESS_ROWS 32768

static uint64_t rows_csv_wanted(const struct rows_csv *what)
{
	uint64_t wanted = 0;

	for (unsigned i = 0; i < what->column_count; i++) {
		wanted |= 1ull << what->columns[i].column;
		if (what->columns[i].kind == SHOWN_COMM)
			wanted |= 1; /* ts: a thread's name changes with time */
		if (what->columns[i].kind == SHOWN_FS_PATH)
			wanted |= PATHS_FS_COLUMNS;
	}
	return wanted;
}

static void rows_csv_text(struct csv *csv, const char *bytes, size_t size)
{
	if (bytes)
		csv_text(csv, bytes, size);
	else
		csv_null(csv);
}

static void rows_csv_real(struct csv *csv, int64_t cell)
{
	union {
		int64_t bits;
		double real;
	} value = { .bits = cell };

	csv_real(csv, value.real);
}

static void rows_csv_cell(struct csv *csv, const struct dims *dims, const struct rows *rows,
			  const struct shown_column *column)
{
	int64_t cell = rows_cell(rows, column->column);
	const char *text;
	size_t size = 0;

	if (cell == CELL_NULL) {
		csv_null(csv);
		return;
	}
	switch (column->type) {
	case TYPE_UINT: csv_uint(csv, (uint64_t)cell); break;
	case TYPE_INT: csv_int(csv, cell); break;
	case TYPE_BOOL: csv_bool(csv, cell != 0); break;
	case TYPE_REAL: rows_csv_real(csv, cell); break;
	case TYPE_FILE: csv_int(csv, dims_file(dims, cell)); break;
	case TYPE_PATH:
		text = dims_path(dims, cell, &size);
		rows_csv_text(csv, text, size);
		break;
	case TYPE_NAME:
	case TYPE_TEXT:
		text = rows_text(rows, column->column, &size);
		rows_csv_text(csv, text, size);
		break;
	}
}

static int rows_csv_fs_path(struct csv *csv, const struct dims *dims, const struct rows *rows,
			    struct buf *scratch)
{
	struct dims_text path;
	int err = path_of_fs_row(dims, rows, scratch, &path);

	if (!err)
		rows_csv_text(csv, path.bytes, path.size);
	return err;
}

static int rows_csv_row(const struct rows_csv *what, const struct dims *dims,
			const struct rows *rows, struct csv *csv, struct buf *scratch)
{
	int err = 0;

	for (unsigned i = 0; i < what->column_count && !err; i++) {
		const struct shown_column *column = &what->columns[i];
		const char *text = NULL;
		size_t size = 0;
		int64_t cell;

		switch (column->kind) {
		case SHOWN_CELL: rows_csv_cell(csv, dims, rows, column); break;
		case SHOWN_COMM:
			cell = rows_cell(rows, column->column);
			if (cell != CELL_NULL)
				text = dims_comm(dims, cell, (uint64_t)rows_cell(rows, 0), &size);
			rows_csv_text(csv, text, size);
			break;
		case SHOWN_PATH:
			cell = rows_cell(rows, column->column);
			if (cell != CELL_NULL)
				text = dims_path(dims, cell, &size);
			rows_csv_text(csv, text, size);
			break;
		case SHOWN_FS_PATH: err = rows_csv_fs_path(csv, dims, rows, scratch); break;
		}
	}
	csv_end_row(csv);
	return err;
}

static void rows_csv_progress(const struct rows_csv *what, uint64_t rows)
{
	if (what->progress)
		what->progress(what->data, rows);
}

static int rows_csv_events(const struct rows_csv *what, struct reader *reader,
			   const struct dims *dims, struct csv *csv, struct error *e)
{
	struct buf scratch = { 0 };
	struct rows *rows = NULL;
	uint64_t done = 0;
	int err;

	err = rows_open(&rows, reader, what->table, rows_csv_wanted(what), what->from, what->to, e);
	if (err)
		return err;
	while (done < what->limit && !csv->error && (err = rows_next(rows, e)) > 0) {
		err = rows_csv_row(what, dims, rows, csv, &scratch);
		if (err) {
			error_set(e, err, "out of memory");
			break;
		}
		if (!(++done % PROGRESS_ROWS))
			rows_csv_progress(what, PROGRESS_ROWS);
	}
	rows_csv_progress(what, done % PROGRESS_ROWS);
	buf_free(&scratch);
	rows_close(rows);
	return err < 0 ? err : 0;
}

static void rows_csv_number(struct csv *csv, int64_t cell)
{
	if (cell == CELL_NULL)
		csv_null(csv);
	else
		csv_uint(csv, (uint64_t)cell);
}

static void rows_csv_thread_cell(struct csv *csv, const struct thread_row *row, unsigned column)
{
	switch (column) {
	case column_thread_first_ts: rows_csv_number(csv, row->first_ts); break;
	case column_thread_last_ts: rows_csv_number(csv, row->last_ts); break;
	case column_thread_tid: rows_csv_number(csv, row->tid); break;
	case column_thread_pid: rows_csv_number(csv, row->pid); break;
	case column_thread_comm: rows_csv_text(csv, row->comm, row->comm_size); break;
	default: csv_null(csv); break;
	}
}

static int rows_csv_compare_threads(const void *a, const void *b)
{
	const struct thread_row *left = *(const struct thread_row *const *)a;
	const struct thread_row *right = *(const struct thread_row *const *)b;

	if (left->first_ts != right->first_ts)
		return left->first_ts < right->first_ts ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

/* Like every table with a time, in order of it; the dims have them by tid. */
static int rows_csv_threads(const struct rows_csv *what, const struct dims *dims, struct csv *csv,
			    struct error *e)
{
	size_t count = threads_count(dims_threads(dims));
	const struct thread_row **rows = calloc(count + 1, sizeof(*rows));

	if (!rows)
		return error_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		rows[i] = threads_row(dims_threads(dims), i);
	qsort(rows, count, sizeof(*rows), rows_csv_compare_threads);
	if (count > what->limit)
		count = what->limit;
	for (size_t i = 0; i < count && !csv->error; i++) {
		for (unsigned c = 0; c < what->column_count; c++)
			rows_csv_thread_cell(csv, rows[i], what->columns[c].column);
		csv_end_row(csv);
	}
	rows_csv_progress(what, count);
	free(rows);
	return 0;
}

static void rows_csv_file_cell(struct csv *csv, const struct file_row *row, unsigned column)
{
	switch (column) {
	case column_file_file: csv_int(csv, row->file); break;
	case column_file_path: rows_csv_text(csv, row->path.bytes, row->path.size); break;
	case column_file_host_path:
		rows_csv_text(csv, row->host_path.bytes, row->host_path.size);
		break;
	case column_file_dev: rows_csv_text(csv, row->dev.bytes, row->dev.size); break;
	case column_file_inode: rows_csv_number(csv, row->inode); break;
	case column_file_generation: rows_csv_number(csv, row->generation); break;
	case column_file_fs: rows_csv_text(csv, row->fs.bytes, row->fs.size); break;
	case column_file_kind: rows_csv_text(csv, row->kind.bytes, row->kind.size); break;
	default: csv_null(csv); break;
	}
}

static void rows_csv_files(const struct rows_csv *what, const struct dims *dims, struct csv *csv)
{
	size_t count = dims_file_count(dims);

	if (count > what->limit)
		count = what->limit;
	for (size_t i = 0; i < count && !csv->error; i++) {
		for (unsigned c = 0; c < what->column_count; c++)
			rows_csv_file_cell(csv, dims_file_row(dims, i), what->columns[c].column);
		csv_end_row(csv);
	}
	rows_csv_progress(what, count);
}

int rows_csv_write(const struct rows_csv *what, struct reader *reader, const struct dims *dims,
		   struct csv *csv, struct error *e)
{
	int err = 0;

	for (unsigned i = 0; i < what->column_count; i++)
		csv_text(csv, what->columns[i].name, strlen(what->columns[i].name));
	csv_end_row(csv);
	if (what->table == TABLE_thread)
		err = rows_csv_threads(what, dims, csv, e);
	else if (what->table == TABLE_file)
		rows_csv_files(what, dims, csv);
	else
		err = rows_csv_events(what, reader, dims, csv, e);
	csv_flush(csv);
	return err;
}
