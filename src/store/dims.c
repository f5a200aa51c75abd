/* See dims.h. Everything is read once by dims_open, freed by dims_close, and constant in between, so that
 * any thread may ask.
 *
 * While rows are read, texts are numbers in one set of strings; once all are in, and the set no longer
 * moves, the rows given out get their pointers.
 */
#include "store/dims.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/strings.h"
#include "store/rows.h"

#define NO_TEXT UINT32_MAX

struct stored_file {
	int64_t file, inode, generation;
	uint32_t path, host_path, dev, fs, kind;
	uint32_t same; /* number of its (dev, inode, generation, path); equal for one file */
};

struct fact {
	char *key, *value;
};

struct dims {
	struct strings texts;
	struct threads *threads;
	struct buf files;   /* struct file_row, by id, canonical ones */
	struct map by_file; /* all ids -> place in files */
	struct buf facts;   /* struct fact */
	struct clocks clocks;
};

/* The text of a cell as a number in dims->texts, or NO_TEXT. */
static int keep_text(struct dims *dims, const struct rows *rows, unsigned column, uint32_t *number)
{
	size_t size;
	const char *text = rows_text(rows, column, &size);

	*number = NO_TEXT;
	return text ? strings_add(&dims->texts, text, size, number) : 0;
}

static struct dims_text give_text(const struct dims *dims, uint32_t number)
{
	struct dims_text text = { 0 };

	if (number != NO_TEXT)
		text.bytes = strings_get(&dims->texts, number, &text.size);
	return text;
}

static int read_table(struct reader *reader, unsigned table, struct dims *dims, struct buf *records,
		      int (*take)(struct dims *, const struct rows *, struct buf *),
		      struct error *e)
{
	struct rows *rows = NULL;
	int err = rows_open(&rows, reader, table, ~0ull, 0, UINT64_MAX, e);

	while (!err) {
		err = rows_next(rows, e);
		if (err <= 0)
			break;
		err = take(dims, rows, records);
		if (err)
			error_set(e, err, "no memory for table '%s'", schema_tables[table].name);
	}
	rows_close(rows);
	return err;
}

static int take_file(struct dims *dims, const struct rows *rows, struct buf *records)
{
	struct stored_file record = {
		.file = rows_cell(rows, column_file_file),
		.inode = rows_cell(rows, column_file_inode),
		.generation = rows_cell(rows, column_file_generation),
	};
	int err = keep_text(dims, rows, column_file_path, &record.path);

	if (!err)
		err = keep_text(dims, rows, column_file_host_path, &record.host_path);
	if (!err)
		err = keep_text(dims, rows, column_file_dev, &record.dev);
	if (!err)
		err = keep_text(dims, rows, column_file_fs, &record.fs);
	if (!err)
		err = keep_text(dims, rows, column_file_kind, &record.kind);
	if (err || record.file == CELL_NULL)
		return err;
	return buf_append(records, &record, sizeof(record));
}

static int compare_files(const void *a, const void *b)
{
	const struct stored_file *left = a, *right = b;

	return left->file < right->file ? -1 : left->file > right->file;
}

/* Numbers each (dev, inode, generation, path). Without an inode two files cannot be told to be one. */
static int number_same(struct stored_file *records, size_t count)
{
	struct strings keys = { 0 };
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		struct stored_file *record = &records[i];
		struct {
			int64_t inode, generation;
			uint32_t dev, path;
		} key = { record->inode, record->generation, record->dev, record->path };

		if (record->inode == CELL_NULL) {
			key.generation = record->file;
			key.dev = NO_TEXT - 1;
		}
		err = strings_add(&keys, &key, sizeof(key), &record->same);
	}
	strings_free(&keys);
	return err;
}

/* Records are by id, so the first of those that are the same has the least. */
static int index_files(struct dims *dims, const struct stored_file *records, size_t count)
{
	uint32_t *places = calloc(count + 1, sizeof(*places)); /* of `same`, plus 1 */
	int err = places ? map_reserve(&dims->by_file, count) : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++) {
		const struct stored_file *record = &records[i];
		struct file_row row = { .file = record->file,
					.inode = record->inode,
					.generation = record->generation,
					.path = give_text(dims, record->path),
					.host_path = give_text(dims, record->host_path),
					.dev = give_text(dims, record->dev),
					.fs = give_text(dims, record->fs),
					.kind = give_text(dims, record->kind) };
		uint64_t *place = map_add(&dims->by_file, (uint64_t)record->file, NULL);

		if (!place)
			err = -ENOMEM;
		if (!err && !places[record->same]) {
			err = buf_append(&dims->files, &row, sizeof(row));
			places[record->same] = (uint32_t)(dims->files.size / sizeof(row));
		}
		if (!err)
			*place = places[record->same] - 1;
	}
	free(places);
	return err;
}

static int build_files(struct dims *dims, const struct buf *buf, struct error *e)
{
	struct stored_file *records = (struct stored_file *)buf->data;
	size_t count = buf->size / sizeof(*records);
	int err;

	if (count)
		qsort(records, count, sizeof(*records), compare_files);
	err = number_same(records, count);
	if (!err)
		err = index_files(dims, records, count);
	return err ? error_set(e, err, "no memory for table 'file'") : 0;
}

static char *copy_text(const struct rows *rows, unsigned column)
{
	size_t size;
	const char *text = rows_text(rows, column, &size);

	return strndup(text ? text : "", text ? size : 0);
}

static int take_fact(struct dims *dims, const struct rows *rows, struct buf *facts)
{
	struct fact fact = { copy_text(rows, column_run_key), copy_text(rows, column_run_value) };

	(void)dims;
	if (!fact.key || !fact.value || buf_append(facts, &fact, sizeof(fact))) {
		free(fact.key);
		free(fact.value);
		return -ENOMEM;
	}
	return 0;
}

static int take_reading(struct dims *dims, const struct rows *rows, struct buf *readings)
{
	int64_t ts = rows_cell(rows, column_clock_ts);
	int64_t realtime = rows_cell(rows, column_clock_realtime);
	struct clock_reading reading = { (uint64_t)ts, (uint64_t)realtime };

	(void)dims;
	if (ts == CELL_NULL || realtime == CELL_NULL)
		return 0;
	return buf_append(readings, &reading, sizeof(reading));
}

int dims_open(struct dims **dims, struct reader *reader, struct error *e)
{
	struct dims *d = calloc(1, sizeof(*d));
	struct buf files = { .limit = SIZE_MAX };
	int err;

	if (!d)
		return error_set(e, -ENOMEM, "no memory for the dimensions");
	err = read_table(reader, TABLE_run, d, &d->facts, take_fact, e);
	if (!err)
		err = threads_open(&d->threads, reader, dims_run(d, "recorder_tids"), e);
	if (!err)
		err = read_table(reader, TABLE_file, d, &files, take_file, e);
	if (!err)
		err = read_table(reader, TABLE_clock, d, &d->clocks.readings, take_reading, e);
	if (!err)
		err = build_files(d, &files, e);
	buf_free(&files);
	if (err) {
		dims_close(d);
		return err;
	}
	*dims = d;
	return 0;
}

void dims_close(struct dims *dims)
{
	struct fact *facts;

	if (!dims)
		return;
	facts = (struct fact *)dims->facts.data;
	for (size_t i = 0; i < dims->facts.size / sizeof(*facts); i++) {
		free(facts[i].key);
		free(facts[i].value);
	}
	strings_free(&dims->texts);
	threads_close(dims->threads);
	buf_free(&dims->files);
	buf_free(&dims->facts);
	buf_free(&dims->clocks.readings);
	map_free(&dims->by_file);
	free(dims);
}

const struct threads *dims_threads(const struct dims *dims)
{
	return dims->threads;
}

size_t dims_file_count(const struct dims *dims)
{
	return dims->files.size / sizeof(struct file_row);
}

const struct file_row *dims_file_row(const struct dims *dims, size_t i)
{
	return (const struct file_row *)dims->files.data + i;
}

const struct file_row *dims_find_file(const struct dims *dims, int64_t file)
{
	const uint64_t *place = map_find(&dims->by_file, (uint64_t)file);

	return place ? dims_file_row(dims, *place) : NULL;
}

int64_t dims_file(const struct dims *dims, int64_t file)
{
	const struct file_row *row = dims_find_file(dims, file);

	return row ? row->file : file;
}

const char *dims_path(const struct dims *dims, int64_t file, size_t *size)
{
	const struct file_row *row = dims_find_file(dims, file);

	*size = row ? row->path.size : 0;
	return row ? row->path.bytes : NULL;
}

const char *dims_comm(const struct dims *dims, int64_t tid, uint64_t ts, size_t *size)
{
	const struct thread_row *row = threads_find(dims->threads, tid, ts);

	*size = row ? row->comm_size : 0;
	return row ? row->comm : NULL;
}

const char *dims_run(const struct dims *dims, const char *key)
{
	const struct fact *facts = (const struct fact *)dims->facts.data;

	for (size_t i = dims->facts.size / sizeof(*facts); i > 0; i--)
		if (!strcmp(facts[i - 1].key, key))
			return facts[i - 1].value;
	return NULL;
}

size_t dims_fact_count(const struct dims *dims)
{
	return dims->facts.size / sizeof(struct fact);
}

const char *dims_fact(const struct dims *dims, size_t i, const char **value)
{
	const struct fact *facts = (const struct fact *)dims->facts.data;

	*value = facts[i].value;
	return facts[i].key;
}

const struct clocks *dims_clocks(const struct dims *dims)
{
	return &dims->clocks;
}

int dims_utc(const struct dims *dims, uint64_t ts, uint64_t *realtime)
{
	return clocks_utc(&dims->clocks, ts, realtime);
}
