/* See trace_rows.h. Rows of tables thread and file, which the dims have merged, are read from there; `rows` stands one row
 * ahead, on the next to be written, so that whether there is one is known before a batch is begun.
 */
#include "cluster/push/trace_rows.h"

#include <errno.h>
#include <string.h>

#include "store/paths.h"

#define SECONDS_A_DAY 86400u

void row_common_write(struct row_writer *writer, const struct row_common *common)
{
	row_text(writer, common->run, strlen(common->run));
	row_text(writer, common->node, strlen(common->node));
	row_maybe_text(writer, common->job, common->job ? strlen(common->job) : 0);
	if (common->rank < 0)
		row_null(writer);
	else
		row_maybe_number(writer, (uint64_t)common->rank);
	row_number(writer, common->batch);
	row_day(writer, common->day);
}

/* ---- where rows come from ---- */

static bool from_dims(const struct trace_rows *rows)
{
	return rows->number == TABLE_thread || rows->number == TABLE_file;
}

static uint64_t dims_rows(const struct trace_rows *rows)
{
	return rows->number == TABLE_thread ? threads_count(dims_threads(rows->dims))
					    : dims_file_count(rows->dims);
}

static int advance(struct trace_rows *rows, struct error *e)
{
	int more;

	if (from_dims(rows)) {
		rows->ended = rows->at >= dims_rows(rows);
		return 0;
	}
	more = rows_next(rows->rows, e);
	rows->ended = more == 0;
	return more < 0 ? more : 0;
}

static uint64_t needed(const struct trace_rows *rows)
{
	uint64_t all = 1;

	for (unsigned i = 0; i < rows->table.count; i++)
		if (rows->table.columns[i].source)
			all |= query_column_needs(rows->table.columns[i].source);
	return all;
}

int trace_rows_begin(struct trace_rows *rows, unsigned table, uint64_t skip, struct error *e)
{
	int err = 0;

	trace_rows_end(rows);
	rows->number = table;
	rows->ended = false;
	remote_table_fill(&rows->table, table);
	if (!from_dims(rows))
		err = rows_open(&rows->rows, rows->reader, table, needed(rows), 0, UINT64_MAX, e);
	else
		rows->at = skip;
	if (!err)
		err = advance(rows, e);
	for (; !err && !rows->ended && rows->at < skip; rows->at++)
		err = advance(rows, e);
	return err;
}

void trace_rows_end(struct trace_rows *rows)
{
	rows_close(rows->rows);
	rows->rows = NULL;
	rows->at = 0;
	buf_free(&rows->scratch);
}

/* ---- cells ---- */

/* What a cell holds: a number, or a text that is not NULL. */
struct value {
	int64_t number; /* CELL_NULL: null */
	const char *text;
	size_t size;
};

static struct value text_value(const char *text, size_t size)
{
	return (struct value){ .number = CELL_NULL, .text = text, .size = size };
}

static struct value of_text(const struct dims_text *text)
{
	return text_value(text->bytes, text->size);
}

static struct value of_thread(const struct trace_rows *rows, unsigned column)
{
	const struct thread_row *row = threads_row(dims_threads(rows->dims), rows->at);

	switch (column) {
	case column_thread_first_ts: return (struct value){ .number = row->first_ts };
	case column_thread_last_ts: return (struct value){ .number = row->last_ts };
	case column_thread_tid: return (struct value){ .number = row->tid };
	case column_thread_pid: return (struct value){ .number = row->pid };
	default: return text_value(row->comm, row->comm_size);
	}
}

static struct value of_file(const struct trace_rows *rows, unsigned column)
{
	const struct file_row *row = dims_file_row(rows->dims, rows->at);

	switch (column) {
	case column_file_file: return (struct value){ .number = row->file };
	case column_file_inode: return (struct value){ .number = row->inode };
	case column_file_generation: return (struct value){ .number = row->generation };
	case column_file_path: return of_text(&row->path);
	case column_file_dev: return of_text(&row->dev);
	case column_file_fs: return of_text(&row->fs);
	case column_file_kind: return of_text(&row->kind);
	default: return of_text(&row->host_path);
	}
}

static int64_t cell(const struct trace_rows *rows, unsigned column)
{
	if (rows->number == TABLE_thread)
		return of_thread(rows, column).number;
	if (rows->number == TABLE_file)
		return of_file(rows, column).number;
	return rows_cell(rows->rows, column);
}

static struct value stored_text(const struct trace_rows *rows, unsigned column)
{
	struct value value = { .number = CELL_NULL };

	if (rows->number == TABLE_thread)
		return of_thread(rows, column);
	if (rows->number == TABLE_file)
		return of_file(rows, column);
	value.text = rows_text(rows->rows, column, &value.size);
	return value;
}

/* The text of a column that shows one. */
static int find_text(struct trace_rows *rows, const struct query_column *column, struct value *out)
{
	int64_t id = cell(rows, column->column);
	struct dims_text path;
	int err;

	*out = (struct value){ .number = CELL_NULL };
	switch (column->source) {
	case SOURCE_TEXT: *out = stored_text(rows, column->column); break;
	case SOURCE_PATH:
		if (id != CELL_NULL)
			out->text = dims_path(rows->dims, id, &out->size);
		break;
	case SOURCE_COMM:
		if (id != CELL_NULL)
			out->text = dims_comm(rows->dims, id, (uint64_t)cell(rows, 0), &out->size);
		break;
	case SOURCE_FS_PATH:
		err = path_of_fs_row(rows->dims, rows->rows, &rows->scratch, &path);
		if (err)
			return err;
		*out = of_text(&path);
		break;
	default: break;
	}
	return 0;
}

static int64_t find_number(const struct trace_rows *rows, const struct query_column *column)
{
	uint64_t realtime;
	int64_t number = column->source == SOURCE_UTC || column->source == SOURCE_T
				 ? cell(rows, 0)
				 : cell(rows, column->column);

	if (number == CELL_NULL)
		return number;
	if (column->source == SOURCE_FILE)
		return dims_file(rows->dims, number);
	if (column->source == SOURCE_UTC)
		return dims_utc(rows->dims, (uint64_t)number, &realtime) ? CELL_NULL
									 : (int64_t)realtime;
	return number;
}

static void write_real(const struct trace_rows *rows, struct row_writer *writer,
		       const struct query_column *column)
{
	int64_t number = find_number(rows, column);

	if (number == CELL_NULL)
		row_null(writer);
	else if (column->source == SOURCE_T)
		row_maybe_real(writer, (double)(int64_t)((uint64_t)number - rows->start) / 1e9);
	else
		row_maybe_number(writer, (uint64_t)number); /* the bits of a double */
}

static int write_cell(struct trace_rows *rows, struct row_writer *writer,
		      const struct remote_column *column)
{
	struct value value;
	int64_t number;
	int err;

	switch (column->type) {
	case REMOTE_TEXT:
	case REMOTE_WORD:
	case REMOTE_NAME:
		err = find_text(rows, column->source, &value);
		if (!err && column->type == REMOTE_NAME)
			row_text(writer, value.text ? value.text : "", value.text ? value.size : 0);
		else if (!err)
			row_maybe_text(writer, value.text, value.size);
		return err;
	case REMOTE_REAL: write_real(rows, writer, column->source); return 0;
	default: break;
	}
	number = find_number(rows, column->source);
	if (column->type == REMOTE_TIME)
		row_number(writer, number == CELL_NULL ? 0 : (uint64_t)number);
	else if (number == CELL_NULL)
		row_null(writer);
	else if (column->type == REMOTE_TRUTH)
		row_maybe_truth(writer, number != 0);
	else
		row_maybe_number(writer, (uint64_t)number);
	return 0;
}

static int write_row(struct trace_rows *rows, struct row_writer *writer,
		     const struct row_common *common)
{
	int64_t key = rows->table.is_timed ? cell(rows, 0) : 0;
	int err = 0;

	for (unsigned i = 0; i < rows->table.count && rows->table.columns[i].source && !err; i++)
		err = write_cell(rows, writer, &rows->table.columns[i]);
	row_common_write(writer, common);
	row_end(writer, key == CELL_NULL ? 0 : key);
	return err;
}

uint16_t trace_rows_day(const struct trace_rows *rows)
{
	uint64_t realtime = 0, ts = rows->start;

	if (!rows->ended && schema_is_timed(&schema_tables[rows->number]) &&
	    cell(rows, 0) != CELL_NULL)
		ts = (uint64_t)cell(rows, 0);
	if (dims_utc(rows->dims, ts, &realtime))
		return 0;
	return (uint16_t)(realtime / 1000000000u / SECONDS_A_DAY);
}

int trace_rows_write(struct trace_rows *rows, struct row_writer *writer,
		     const struct row_common *common, uint64_t most, uint64_t bytes,
		     struct error *e)
{
	int err = 0;

	while (!err && !rows->ended && writer->rows < most && writer->raw < bytes) {
		if (write_row(rows, writer, common))
			return error_set(e, -ENOMEM, "out of memory");
		rows->at++;
		err = advance(rows, e);
	}
	return err;
}
