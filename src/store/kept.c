#include "store/kept.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/strings.h"
#include "store/sink.h"

#define JUST_ENDED \
	(5 * 1000000ull) /* the last stay of a thread on a CPU is told so much after its end */
#define NO_TEXT UINT32_MAX

struct kept_file {
	int64_t inode, generation, kind;
	uint32_t path, dev, fs; /* numbers in texts */
	bool pending;		/* its row is made, and not in the file yet */
};

struct kept_thread {
	int64_t pid, tid, ppid, uid;
	uint32_t comm, cgroup; /* numbers in texts */
	uint64_t ts;	       /* of what was learnt last */
	bool ended;
};

struct kept {
	pthread_mutex_t lock;
	struct strings texts;
	struct map files;   /* id -> place in file_rows */
	struct map threads; /* tid -> place in thread_rows */
	struct buf file_rows, thread_rows;
	struct buf told; /* a bit for each file id: this segment has its row */
	struct buf
		unknown; /* int64_t each: ids in this segment's rows whose names have not come yet */
	struct buf before;			   /* the same of the segment before */
	uint64_t boundary;			   /* where that one ended; 0: it is settled */
	struct builder *files_told, *threads_late; /* rows on their way into a chunk */
	uint64_t forgotten;
};

int kept_open(struct kept **out, struct error *e)
{
	struct kept *kept = *out = calloc(1, sizeof(*kept));
	int err;

	if (!kept)
		return error_set(e, -ENOMEM, "out of memory");
	pthread_mutex_init(&kept->lock, NULL);
	kept->texts.bytes.limit = UINT32_MAX; /* ends of strings are 32 bits wide */
	err = builder_open(&kept->files_told, &schema_tables[TABLE_file], e);
	return err ? err : builder_open(&kept->threads_late, &schema_tables[TABLE_process], e);
}

void kept_close(struct kept *kept)
{
	if (!kept)
		return;
	pthread_mutex_destroy(&kept->lock);
	strings_free(&kept->texts);
	map_free(&kept->files);
	map_free(&kept->threads);
	buf_free(&kept->file_rows);
	buf_free(&kept->thread_rows);
	buf_free(&kept->told);
	buf_free(&kept->unknown);
	buf_free(&kept->before);
	builder_close(kept->files_told);
	builder_close(kept->threads_late);
	free(kept);
}

uint64_t kept_forgotten(const struct kept *kept)
{
	return kept->forgotten;
}

/* ---- learning ---- */

/* A cell of the row that is not ended yet. */
static int64_t row_cell(const struct builder *row, unsigned column)
{
	const struct builder_column *c = &row->columns[column];

	return c->filled > row->rows ? c->cells[row->rows] : CELL_NULL;
}

static int keep_text(struct kept *kept, const struct builder *row, unsigned column,
		     uint32_t *number)
{
	int64_t cell = row_cell(row, column);
	const char *bytes;
	size_t size;

	*number = NO_TEXT;
	if (cell == CELL_NULL)
		return 0;
	bytes = strings_get(&row->texts[column], (uint32_t)cell, &size);
	return strings_add(&kept->texts, bytes, size, number);
}

/* The element of that key, a new one if there was none; NULL: no memory. */
static void *keep_element(struct map *map, struct buf *rows, uint64_t key, size_t size)
{
	uint64_t *place = map_find(map, key);
	uint64_t next = rows->size / size;

	if (place)
		return rows->data + *place * size;
	if (!buf_element(rows, next, size))
		return NULL;
	place = map_add(map, key, NULL);
	if (!place)
		return NULL;
	*place = next;
	return rows->data + next * size;
}

static int learn_file(struct kept *kept, const struct builder *row)
{
	int64_t id = row_cell(row, column_file_file);
	struct kept_file file = {
		.inode = row_cell(row, column_file_inode),
		.generation = row_cell(row, column_file_generation),
		.kind = row_cell(row, column_file_kind),
		.pending = true,
	};
	struct kept_file *place;

	if (keep_text(kept, row, column_file_path, &file.path) ||
	    keep_text(kept, row, column_file_dev, &file.dev) ||
	    keep_text(kept, row, column_file_fs, &file.fs))
		return -ENOMEM;
	place = keep_element(&kept->files, &kept->file_rows, (uint64_t)id, sizeof(file));
	if (!place)
		return -ENOMEM;
	*place = file;
	return 0;
}

static void add_text(const struct kept *kept, struct builder *row, unsigned column, uint32_t number)
{
	const char *bytes;
	size_t size;

	if (number == NO_TEXT)
		return;
	bytes = strings_get(&kept->texts, number, &size);
	builder_set_text(row, column, bytes, size);
}

static void add_cell(struct builder *row, unsigned column, int64_t cell)
{
	if (cell != CELL_NULL)
		builder_set(row, column, cell);
}

/* A row that says that the thread was there at that time. */
static void add_thread(const struct kept *kept, struct builder *row,
		       const struct kept_thread *thread, uint64_t ts)
{
	builder_set(row, column_process_ts, (int64_t)ts);
	builder_set(row, column_process_event, EVENT_EXISTS);
	builder_set(row, column_process_tid, thread->tid);
	add_cell(row, column_process_pid, thread->pid);
	add_cell(row, column_process_ppid, thread->ppid);
	add_cell(row, column_process_uid, thread->uid);
	add_text(kept, row, column_process_comm, thread->comm);
	add_text(kept, row, column_process_cgroup, thread->cgroup);
}

static int learn_thread(struct kept *kept, const struct builder *row)
{
	uint64_t ts = (uint64_t)row_cell(row, column_process_ts);
	int64_t tid = row_cell(row, column_process_tid);
	struct kept_thread *place, thread = {
		.pid = row_cell(row, column_process_pid),
		.tid = tid,
		.ppid = row_cell(row, column_process_ppid),
		.uid = row_cell(row, column_process_uid),
		.ts = ts,
		.ended = row_cell(row, column_process_event) == EVENT_EXIT,
	};

	if (tid == CELL_NULL)
		return 0;
	if (keep_text(kept, row, column_process_comm, &thread.comm) ||
	    keep_text(kept, row, column_process_cgroup, &thread.cgroup))
		return -ENOMEM;
	place = keep_element(&kept->threads, &kept->thread_rows, (uint64_t)tid, sizeof(thread));
	if (!place)
		return -ENOMEM;
	if (ts >= place->ts) /* records of several CPUs come in no order */
		*place = thread;
	/* It comes late: the segment before has rows of a thread that it was not told of. */
	if (ts < kept->boundary && !builder_full(kept->threads_late)) {
		add_thread(kept, kept->threads_late, &thread, ts);
		builder_end_row(kept->threads_late);
	}
	return 0;
}

void kept_learn(struct kept *kept, const struct builder *row)
{
	int err;

	pthread_mutex_lock(&kept->lock);
	err = row->table == &schema_tables[TABLE_file] ? learn_file(kept, row)
						       : learn_thread(kept, row);
	kept->forgotten += !!err;
	pthread_mutex_unlock(&kept->lock);
}

/* ---- telling ---- */

/* Notes that the segment has the row of a file; false: it had it before. */
static bool tell_once(struct kept *kept, int64_t id)
{
	uint8_t *byte = buf_element(&kept->told, (uint64_t)id / 8, 1);
	uint8_t bit = (uint8_t)(1u << id % 8);

	if (!byte || *byte & bit)
		return !byte; /* without memory for that it is told too often, not too seldom */
	*byte |= bit;
	return true;
}

static bool was_told(const struct kept *kept, int64_t id)
{
	size_t place = (uint64_t)id / 8;

	return place < kept->told.size && kept->told.data[place] & 1u << id % 8;
}

static struct kept_file *find_file(const struct kept *kept, int64_t id)
{
	const uint64_t *place = map_find(&kept->files, (uint64_t)id);

	return place ? (struct kept_file *)kept->file_rows.data + *place : NULL;
}

static void add_file(struct kept *kept, int64_t id, const struct kept_file *file)
{
	struct builder *row = kept->files_told;

	builder_set(row, column_file_file, id);
	add_text(kept, row, column_file_path, file->path);
	add_text(kept, row, column_file_dev, file->dev);
	add_text(kept, row, column_file_fs, file->fs);
	add_cell(row, column_file_inode, file->inode);
	add_cell(row, column_file_generation, file->generation);
	add_cell(row, column_file_kind, file->kind);
	builder_end_row(row);
}

static int encode_rows(struct builder *rows, struct buf *out, struct error *e)
{
	return rows->rows ? builder_encode(rows, out, e) : 0;
}

static int tell_file(struct kept *kept, int64_t id, struct buf *out, struct error *e)
{
	const struct kept_file *file;

	if (id == CELL_NULL || id <= 0 || was_told(kept, id))
		return 0;
	file = find_file(kept, id);
	if (!file)
		return buf_append(&kept->unknown, &id, sizeof(id))
			       ? error_set(e, -ENOMEM, "no memory for names")
			       : 0;
	if (file->pending || !tell_once(kept, id))
		return 0;
	add_file(kept, id, file);
	return builder_full(kept->files_told) ? encode_rows(kept->files_told, out, e) : 0;
}

/* Rows of files tell by themselves. */
static void note_files(struct kept *kept, const struct builder_column *ids, uint32_t rows)
{
	for (uint32_t i = 0; i < rows && i < ids->filled; i++) {
		struct kept_file *file = find_file(kept, ids->cells[i]);

		if (file)
			file->pending = false;
		tell_once(kept, ids->cells[i]);
	}
}

static int tell_column(struct kept *kept, const struct builder_column *ids, uint32_t rows,
		       struct buf *out, struct error *e)
{
	int64_t last = CELL_NULL; /* most rows are about the file of the row before */
	int err = 0;

	for (uint32_t i = 0; i < rows && i < ids->filled && !err; i++) {
		if (ids->cells[i] != last)
			err = tell_file(kept, ids->cells[i], out, e);
		last = ids->cells[i];
	}
	return err;
}

int kept_tell(struct kept *kept, const struct builder *rows, struct buf *out, struct error *e)
{
	const struct schema_table *table = rows->table;
	int err = 0;

	pthread_mutex_lock(&kept->lock);
	if (table == &schema_tables[TABLE_file])
		note_files(kept, &rows->columns[column_file_file], rows->rows);
	for (unsigned i = 0; i < table->column_count && !err; i++)
		if (table->columns[i].type == TYPE_FILE || table->columns[i].type == TYPE_PATH)
			err = tell_column(kept, &rows->columns[i], rows->rows, out, e);
	if (!err)
		err = encode_rows(kept->files_told, out, e);
	pthread_mutex_unlock(&kept->lock);
	return err;
}

/* ---- segments ---- */

/* Leaves out threads that have ended, whose ids are all that must be known of them. */
static void forget_ended(struct kept *kept, uint64_t ts)
{
	struct kept_thread *rows = (struct kept_thread *)kept->thread_rows.data;
	size_t count = kept->thread_rows.size / sizeof(*rows), left = 0;
	struct map threads = { 0 };

	if (map_reserve(&threads, count))
		return; /* they stay */
	for (size_t i = 0; i < count; i++) {
		if (rows[i].ended && rows[i].ts + JUST_ENDED < ts)
			continue;
		rows[left] = rows[i];
		*map_add(&threads, (uint64_t)rows[left].tid, NULL) = left;
		left++;
	}
	kept->thread_rows.size = left * sizeof(*rows);
	map_free(&kept->threads);
	kept->threads = threads;
}

void kept_begin(struct kept *kept, uint64_t ts, struct sink *sink)
{
	const struct kept_thread *rows;
	struct builder *row;
	struct buf swap;

	pthread_mutex_lock(&kept->lock);
	swap = kept->before;
	kept->before = kept->unknown;
	kept->unknown = swap;
	kept->unknown.size = 0;
	if (kept->told.size)
		memset(kept->told.data, 0, kept->told.size);
	kept->boundary = ts;
	forget_ended(kept, ts);
	pthread_mutex_unlock(&kept->lock);
	/* Nobody learns now, and a full builder asks kept_tell(). */
	rows = (const struct kept_thread *)kept->thread_rows.data;
	for (size_t i = 0; i < kept->thread_rows.size / sizeof(*rows); i++) {
		row = sink_table(sink, TABLE_process);
		if (!row)
			break;
		add_thread(kept, row, &rows[i], ts);
		sink_end_known_row(sink, TABLE_process);
	}
}

int kept_settle(struct kept *kept, struct buf *out, struct error *e)
{
	const int64_t *ids = (const int64_t *)kept->before.data;
	int err;

	pthread_mutex_lock(&kept->lock);
	err = encode_rows(kept->threads_late, out, e);
	for (size_t i = 0; i < kept->before.size / sizeof(*ids) && !err; i++) {
		const struct kept_file *file = find_file(kept, ids[i]);

		if (!file)
			continue;
		add_file(kept, ids[i], file);
		if (builder_full(kept->files_told))
			err = encode_rows(kept->files_told, out, e);
	}
	if (!err)
		err = encode_rows(kept->files_told, out, e);
	kept->before.size = 0;
	kept->boundary = 0;
	pthread_mutex_unlock(&kept->lock);
	return err;
}
