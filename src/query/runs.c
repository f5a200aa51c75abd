#include "query/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "query/text.h"
#include "schema/schema.h"
#include "store/rows.h"
#include "store/times.h"

/* Ids are dense from 1 in every trace that strata wrote; in others a search serves. */
#define MAX_PATHS(files) ((files)*8 + 4096)

/* A text that is not shown as it is stored. */
struct kept {
	struct kept *next;
	char bytes[];
};

struct texts {
	duckdb_string_t *files; /* paths by place in table file */
	duckdb_string_t *comms; /* by place in table thread */
	struct kept *kept;
};

static int keep_text(struct texts *texts, const char *bytes, size_t size, duckdb_string_t *out)
{
	struct buf shown = { 0 };
	struct kept *kept = NULL;

	if (escape_is_plain(ESCAPE_SHOWN, bytes, size)) {
		*out = text_string(bytes, size);
		return 0;
	}
	if (!escape_append(&shown, ESCAPE_SHOWN, bytes, size))
		kept = malloc(sizeof(*kept) + shown.size);
	if (kept) {
		memcpy(kept->bytes, shown.data, shown.size);
		kept->next = texts->kept;
		texts->kept = kept;
		*out = text_string(kept->bytes, shown.size);
	}
	buf_free(&shown);
	return kept ? 0 : -ENOMEM;
}

static int texts_add_paths(struct texts *texts, const struct dims *dims)
{
	size_t count = dims_file_count(dims);

	texts->files = calloc(count + 1, sizeof(*texts->files));
	if (!texts->files)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct dims_text *path = &dims_file_row(dims, i)->path;

		if (!path->bytes)
			texts->files[i].pointer.length = RUN_NO_TEXT;
		else if (keep_text(texts, path->bytes, path->size, &texts->files[i]))
			return -ENOMEM;
	}
	return 0;
}

static int texts_add_comms(struct texts *texts, const struct threads *threads)
{
	size_t count = threads_count(threads);

	texts->comms = calloc(count + 1, sizeof(*texts->comms));
	if (!texts->comms)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct thread_row *row = threads_row(threads, i);

		if (!row->comm)
			texts->comms[i].pointer.length = RUN_NO_TEXT;
		else if (keep_text(texts, row->comm, row->comm_size, &texts->comms[i]))
			return -ENOMEM;
	}
	return 0;
}

/* The text of a file's path; its length is RUN_NO_TEXT where the path is not known. NULL: the file is not known. */
static const duckdb_string_t *find_text(const struct run *run, int64_t file)
{
	const struct file_row *row = dims_find_file(run->dims, file);

	return row ? &run->texts->files[row - dims_file_row(run->dims, 0)] : NULL;
}

static int add_paths_by_id(struct run *run)
{
	size_t count = dims_file_count(run->dims);
	int64_t last = count ? dims_file_row(run->dims, count - 1)->file : 0;

	if (last > 0)
		run->path_count =
			(size_t)last < MAX_PATHS(count) ? (size_t)last + 1 : MAX_PATHS(count);
	run->paths = malloc((run->path_count + 1) * sizeof(*run->paths));
	if (!run->paths)
		return -ENOMEM;
	for (size_t i = 0; i < run->path_count; i++) {
		const duckdb_string_t *text = find_text(run, (int64_t)i);

		if (text)
			run->paths[i] = *text;
		else
			run->paths[i].pointer.length = RUN_NO_TEXT;
	}
	return 0;
}

static int texts_open(struct texts **out, const struct dims *dims)
{
	struct texts *texts = calloc(1, sizeof(*texts));
	int err;

	*out = texts;
	if (!texts)
		return -ENOMEM;
	err = texts_add_paths(texts, dims);
	if (!err)
		err = texts_add_comms(texts, dims_threads(dims));
	return err;
}

static void texts_close(struct texts *texts)
{
	struct kept *kept, *next;

	if (!texts)
		return;
	for (kept = texts->kept; kept; kept = next) {
		next = kept->next;
		free(kept);
	}
	free(texts->files);
	free(texts->comms);
	free(texts);
}

/* Between two readings UTC runs on a line, so that the readings themselves bound it. */
static int find_offsets(struct run *run, struct error *e)
{
	struct rows *rows = NULL;
	int err = rows_open(&rows, run->reader, TABLE_clock, ~0ull, 0, UINT64_MAX, e);

	while (!err && (err = rows_next(rows, e)) > 0) {
		int64_t ts = rows_cell(rows, column_clock_ts);
		int64_t realtime = rows_cell(rows, column_clock_realtime), offset;

		err = 0;
		if (ts == CELL_NULL || realtime == CELL_NULL)
			continue;
		offset = (int64_t)((uint64_t)realtime - (uint64_t)ts);
		if (!run->has_utc || offset < run->least_offset)
			run->least_offset = offset;
		if (!run->has_utc || offset > run->greatest_offset)
			run->greatest_offset = offset;
		run->has_utc = true;
	}
	rows_close(rows);
	return err;
}

static int run_open(struct run *run, const char *path, struct error *e)
{
	struct span span = { 0 };
	int err;

	run->path = strdup(path);
	if (!run->path)
		return error_set(e, -ENOMEM, "out of memory");
	err = reader_open(&run->reader, path, e);
	if (!err)
		err = dims_open(&run->dims, run->reader, e);
	if (!err)
		err = times_span(run->reader, run->dims, &span, e);
	if (!err)
		err = find_offsets(run, e);
	if (!err)
		run->start = span.start;
	if (!err && (texts_open(&run->texts, run->dims) || add_paths_by_id(run)))
		err = error_set(e, -ENOMEM, "out of memory");
	return err ? error_add(e, err, "cannot open trace '%s'", path) : 0;
}

/* What a run is called: the file's name without its ending, or, where two would be the same, its path. */
static void name_of_path(const char *path, const char **start, size_t *size)
{
	static const char ending[] = ".strata";
	const char *slash = strrchr(path, '/');
	size_t length;

	*start = slash ? slash + 1 : path;
	length = strlen(*start);
	if (length > strlen(ending) && !strcmp(*start + length - strlen(ending), ending))
		length -= strlen(ending);
	*size = length;
}

static bool name_is_shared(const struct runs *runs, size_t i)
{
	const char *name, *other;
	size_t size, other_size;

	name_of_path(runs->items[i].path, &name, &size);
	for (size_t j = 0; j < runs->count; j++) {
		name_of_path(runs->items[j].path, &other, &other_size);
		if (j != i && size == other_size && !memcmp(name, other, size))
			return true;
	}
	return false;
}

static int name_runs(struct runs *runs)
{
	int err = 0;

	for (size_t i = 0; i < runs->count && !err; i++) {
		struct run *run = &runs->items[i];
		const char *node = dims_run(run->dims, "node");
		const char *name = run->path;
		size_t size = strlen(name);

		if (!node)
			node = dims_run(run->dims, "host");
		if (!node)
			node = "";
		if (!name_is_shared(runs, i))
			name_of_path(run->path, &name, &size);
		err = keep_text(run->texts, name, size, &run->name);
		if (!err)
			err = keep_text(run->texts, node, strlen(node), &run->node);
	}
	return err;
}

int runs_open(struct runs *runs, char *const *paths, size_t count, struct error *e)
{
	int err = 0;

	*runs = (struct runs){ .items = calloc(count + 1, sizeof(*runs->items)) };
	if (!runs->items)
		return error_set(e, -ENOMEM, "out of memory");
	for (; runs->count < count && !err; runs->count++)
		err = run_open(&runs->items[runs->count], paths[runs->count], e);
	if (!err && name_runs(runs))
		err = error_set(e, -ENOMEM, "out of memory");
	return err;
}

void runs_close(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		struct run *run = &runs->items[i];

		texts_close(run->texts);
		free(run->paths);
		dims_close(run->dims);
		reader_close(run->reader);
		free(run->path);
	}
	free(runs->items);
	*runs = (struct runs){ 0 };
}

const struct run *runs_find(const struct runs *runs, duckdb_string_t name)
{
	for (size_t i = 0; i < runs->count; i++)
		if (text_equals(&runs->items[i].name, &name))
			return &runs->items[i];
	return NULL;
}

const duckdb_string_t *run_find_path(const struct run *run, int64_t file)
{
	const duckdb_string_t *text = find_text(run, file);

	return text && text->pointer.length != RUN_NO_TEXT ? text : NULL;
}

void comm_cache_clear(struct comm_cache *cache)
{
	for (size_t i = 0; i < COMM_SLOTS; i++)
		cache->slots[i].from = UINT64_MAX, cache->slots[i].to = 0;
}

const duckdb_string_t *run_comm(const struct run *run, struct comm_cache *cache, int64_t tid,
				uint64_t ts)
{
	const struct threads *threads = dims_threads(run->dims);
	size_t at = (uint64_t)tid % COMM_SLOTS;
	const struct thread_row *row, *next;

	if (cache->slots[at].tid == tid && cache->slots[at].from <= ts && ts <= cache->slots[at].to)
		return cache->slots[at].comm;
	row = threads_find(threads, tid, ts);
	cache->slots[at].tid = tid;
	cache->slots[at].from = ts;
	cache->slots[at].to = ts;
	cache->slots[at].comm = NULL;
	if (!row)
		return NULL;
	/* The answer holds until this row ends or the next of the same thread begins. */
	next = row + 1 < threads_row(threads, threads_count(threads)) && row[1].tid == tid ? row + 1
											   : NULL;
	cache->slots[at].to = row->last_ts == CELL_NULL ? UINT64_MAX : (uint64_t)row->last_ts;
	if (next && (uint64_t)next->first_ts <= cache->slots[at].to)
		cache->slots[at].to = (uint64_t)next->first_ts - 1;
	if (cache->slots[at].to < ts)
		cache->slots[at].to = ts;
	if (run->texts->comms[row - threads_row(threads, 0)].pointer.length != RUN_NO_TEXT)
		cache->slots[at].comm = &run->texts->comms[row - threads_row(threads, 0)];
	return cache->slots[at].comm;
}
