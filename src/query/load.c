#include "query/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_dimension(unsigned table)
{
	return table == TABLE_thread || table == TABLE_file;
}

static size_t dimension_rows(const struct run *run, unsigned table)
{
	return table == TABLE_thread ? threads_count(dims_threads(run->dims))
				     : dims_file_count(run->dims);
}

/* A dimension in pieces of as many rows as a chunk has at most. */
static int list_dimension(const struct run *run, unsigned table, struct buf *out)
{
	size_t rows = dimension_rows(run, table), step = 65536;
	int err = 0;

	for (size_t at = 0; at < rows && !err; at += step) {
		struct part part = { .run = run,
				     .chunk = { .table = table,
						.offset = at,
						.rows = (uint32_t)(rows - at < step ? rows - at
										    : step),
						.last_end = UINT64_MAX } };

		err = buf_append(out, &part, sizeof(part));
	}
	return err;
}

static int list_chunks(const struct run *run, unsigned table, struct buf *out, struct error *e)
{
	struct chunk *chunks = NULL;
	size_t count;
	int err = reader_select(run->reader, table, 0, UINT64_MAX, &chunks, &count, e);

	if (err)
		return error_add(e, err, "cannot read trace '%s'", run->path);
	for (size_t i = 0; i < count && !err; i++) {
		struct part part = { .run = run, .chunk = chunks[i] };

		err = buf_append(out, &part, sizeof(part));
	}
	free(chunks);
	return err ? error_set(e, err, "out of memory") : 0;
}

int load_list(const struct runs *runs, unsigned table, struct part **parts, size_t *count,
	      struct error *e)
{
	struct buf out = { .limit = SIZE_MAX };
	int err = 0;

	for (size_t i = 0; i < runs->count && !err; i++) {
		if (!is_dimension(table))
			err = list_chunks(&runs->items[i], table, &out, e);
		else if (list_dimension(&runs->items[i], table, &out))
			err = error_set(e, -ENOMEM, "out of memory");
	}
	if (err)
		buf_free(&out);
	*parts = (struct part *)out.data;
	*count = out.size / sizeof(**parts);
	return err;
}

static int64_t thread_number(const struct thread_row *row, unsigned column)
{
	switch (column) {
	case column_thread_first_ts: return row->first_ts;
	case column_thread_last_ts: return row->last_ts;
	case column_thread_tid: return row->tid;
	case column_thread_pid: return row->pid;
	default: return CELL_NULL;
	}
}

static int64_t file_number(const struct file_row *row, unsigned column)
{
	switch (column) {
	case column_file_file: return row->file;
	case column_file_inode: return row->inode;
	case column_file_generation: return row->generation;
	default: return CELL_NULL;
	}
}

static struct dims_text file_text(const struct file_row *row, unsigned column)
{
	switch (column) {
	case column_file_path: return row->path;
	case column_file_host_path: return row->host_path;
	case column_file_dev: return row->dev;
	case column_file_fs: return row->fs;
	case column_file_kind: return row->kind;
	default: return (struct dims_text){ 0 };
	}
}

static struct dims_text dimension_text(const struct part *part, unsigned column, size_t row)
{
	const struct thread_row *thread;

	row += part->chunk.offset;
	if (part->chunk.table == TABLE_file)
		return file_text(dims_file_row(part->run->dims, row), column);
	thread = threads_row(dims_threads(part->run->dims), row);
	return (struct dims_text){ thread->comm, thread->comm_size };
}

static int64_t dimension_number(const struct part *part, unsigned column, size_t row)
{
	row += part->chunk.offset;
	if (part->chunk.table == TABLE_file)
		return file_number(dims_file_row(part->run->dims, row), column);
	return thread_number(threads_row(dims_threads(part->run->dims), row), column);
}

/* Every row has a text of its own, laid out as a decoded dictionary: ends, then bytes. */
static int dimension_texts(const struct part *part, unsigned column, struct column *out)
{
	uint32_t rows = part->chunk.rows, end = 0, *ends;
	size_t size = 0;
	char *bytes;

	for (uint32_t row = 0; row < rows; row++)
		size += dimension_text(part, column, row).size;
	ends = size < UINT32_MAX ? buf_reserve(&out->text_memory, rows * sizeof(*ends) + size)
				 : NULL;
	if (!ends)
		return -ENOMEM;
	bytes = (char *)(ends + rows);
	for (uint32_t row = 0; row < rows; row++) {
		struct dims_text text = dimension_text(part, column, row);

		out->cells[row] = text.bytes ? row : CELL_NULL;
		if (text.size)
			memcpy(bytes + end, text.bytes, text.size);
		end += (uint32_t)text.size;
		ends[row] = end;
	}
	out->text_count = rows;
	out->text_ends = ends;
	out->text_bytes = bytes;
	return 0;
}

static int load_dimension(const struct part *part, unsigned column, struct column *out)
{
	uint8_t type = schema_tables[part->chunk.table].columns[column].type;

	out->cells = buf_reserve(&out->cell_memory, part->chunk.rows * sizeof(*out->cells));
	if (!out->cells)
		return -ENOMEM;
	out->rows = part->chunk.rows;
	if (type == TYPE_NAME || type == TYPE_TEXT)
		return dimension_texts(part, column, out);
	for (uint32_t row = 0; row < out->rows; row++)
		out->cells[row] = dimension_number(part, column, row);
	return 0;
}

void load_begin(struct loaded *loaded, const struct part *part)
{
	loaded->part = part;
	loaded->has = 0;
}

int load_columns(struct loaded *loaded, uint64_t wanted, struct error *e)
{
	const struct part *part = loaded->part;
	int err = 0;

	wanted &= ~loaded->has;
	for (unsigned c = 0; wanted >> c && !err; c++) {
		if (!(wanted >> c & 1))
			continue;
		if (!is_dimension(part->chunk.table))
			err = reader_decode(part->run->reader, &part->chunk, c, &loaded->columns[c],
					    e);
		else if (load_dimension(part, c, &loaded->columns[c]))
			err = error_set(e, -ENOMEM, "out of memory");
		if (!err)
			loaded->has |= 1ull << c;
	}
	return err;
}

void load_free(struct loaded *loaded)
{
	for (unsigned c = 0; c < TABLE_MAX_COLUMNS; c++)
		column_free(&loaded->columns[c]);
}
