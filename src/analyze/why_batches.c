#include "analyze/why_batches.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define FRAME_HEADER  4
#define MOST_MESSAGES 4000000 /* that are kept: 200 MB */

/* One read or write of a pipe, then one message: the frame's header is gone, and what came in parts is one. */
struct message {
	uint64_t ts, end;
	uint64_t last; /* its last part began */
	int64_t pipe;  /* file */
	int64_t tid;
	uint32_t proc;
	bool write;
	bool whole; /* all that was asked for; a part else */
	bool header;
};

void batches_open(struct batches *batches, struct context *context)
{
	*batches = (struct batches){ .context = context };
	batches->messages.limit = batches->list.limit = SIZE_MAX;
}

static bool is_pipe(const struct context *context, int64_t file)
{
	const struct file_row *row = dims_find_file(context->dims, file);

	return row && file_row_is(row, FILE_KIND_PIPE);
}

static int batches_take(void *state, const struct rows *rows)
{
	struct batches *batches = state;
	struct context *context = batches->context;
	uint64_t ts = (uint64_t)rows_cell(rows, column_io_ts);
	int64_t file = rows_cell(rows, column_io_file), dur = rows_cell(rows, column_io_dur);
	int64_t returned = rows_cell(rows, column_io_returned);
	int direction = rows_name(rows, column_io_dir);
	struct message message = { .ts = ts,
				   .last = ts,
				   .pipe = file,
				   .tid = rows_cell(rows, column_io_tid),
				   .write = direction == DIRECTION_W };

	if (file == CELL_NULL || dur == CELL_NULL || returned <= 0 || !is_pipe(context, file) ||
	    (direction != DIRECTION_W && direction != DIRECTION_R) ||
	    batches->messages.size / sizeof(message) >= MOST_MESSAGES)
		return 0;
	message.proc = procs_find(context->procs, rows_cell(rows, column_io_pid), ts);
	if (message.proc == PROC_NONE || !context_in_job(context, message.proc))
		return 0;
	message.pipe = dims_file(context->dims, file);
	message.end = ts + (uint64_t)dur;
	message.whole = returned == rows_cell(rows, column_io_requested);
	message.header = message.whole && returned == FRAME_HEADER;
	return buf_append(&batches->messages, &message, sizeof(message));
}

struct scan_sink batches_sink(struct batches *batches)
{
	return (struct scan_sink){
		.table = TABLE_io,
		.columns = SCAN_COLUMN(io, ts) | SCAN_COLUMN(io, dur) | SCAN_COLUMN(io, pid) |
			   SCAN_COLUMN(io, tid) | SCAN_COLUMN(io, dir) | SCAN_COLUMN(io, file) |
			   SCAN_COLUMN(io, requested) | SCAN_COLUMN(io, returned),
		.take = batches_take,
		.state = batches,
	};
}

/* ---- from calls to messages ---- */

/* One pipe's after another's, its writes before its reads, each in order of time; reads by process, for an inherited end may have
 * several readers. */
static int compare_calls(const void *a, const void *b)
{
	const struct message *left = a, *right = b;

	if (left->pipe != right->pipe)
		return left->pipe < right->pipe ? -1 : 1;
	if (left->write != right->write)
		return left->write ? -1 : 1;
	if (left->ts != right->ts)
		return left->ts < right->ts ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static bool same_stream(const struct message *a, const struct message *b)
{
	return a->pipe == b->pipe && a->write == b->write && a->tid == b->tid;
}

/* Joins what belongs to one message, in place; returns how many there are. */
static size_t join_calls(struct message *calls, size_t count)
{
	size_t kept = 0;
	bool open = false; /* the last one that was kept goes on */

	for (size_t i = 0; i < count; i++) {
		if (open && same_stream(&calls[kept - 1], &calls[i])) {
			calls[kept - 1].end = calls[i].end;
			calls[kept - 1].last = calls[i].last;
			open = !calls[i].whole;
			continue;
		}
		calls[kept++] = calls[i];
		open = calls[i].header || (!calls[i].whole && !calls[i].write);
	}
	return kept;
}

/* ---- pipes ---- */

/* The messages of one pipe: [0, writes) were written, [writes, count) read. */
struct pipe {
	const struct message *messages;
	size_t writes, count;
};

static struct pipe pipe_at(const struct message *messages, size_t count)
{
	struct pipe pipe = { .messages = messages };

	while (pipe.count < count && messages[pipe.count].pipe == messages->pipe)
		pipe.writes += messages[pipe.count++].write;
	return pipe;
}

static bool is_worker(const struct batches *batches, uint32_t proc, uint32_t focus_proc)
{
	return batches->context->roles.of[proc] == PROC_ROLE_WORKER &&
	       procs_get(batches->context->procs, proc)->parent == focus_proc;
}

static size_t reads_of(const struct pipe *pipe)
{
	return pipe->count - pipe->writes;
}

/* Whether the focus process writes it, and one worker reads it: indices; which worker. */
static bool has_indices(const struct batches *batches, const struct pipe *pipe, uint32_t focus_proc,
			uint32_t *worker)
{
	if (!pipe->writes || !reads_of(pipe) || pipe->messages->proc != focus_proc)
		return false;
	*worker = pipe->messages[pipe->writes].proc;
	return is_worker(batches, *worker, focus_proc);
}

static bool has_results(const struct batches *batches, const struct pipe *pipe, uint32_t focus_proc)
{
	return pipe->writes && reads_of(pipe) && pipe->messages[pipe->writes].proc == focus_proc &&
	       is_worker(batches, pipe->messages->proc, focus_proc);
}

/* ---- pairing ---- */

/* What a worker was told, and how far its results have been paired. */
struct told {
	struct pipe indices;
	size_t paired;
	uint64_t written; /* its last result */
};

static int add_batch(struct batches *batches, struct told *told, const struct message *result,
		     const struct message *received)
{
	const struct message *read, *write = NULL;
	struct why_batch batch = { .written = result->ts,
				   .received = received->last,
				   .worker = result->proc,
				   .writer = result->tid };

	if (told->paired >= reads_of(&told->indices))
		return 0;
	read = &told->indices.messages[told->indices.writes + told->paired];
	if (told->paired < told->indices.writes)
		write = &told->indices.messages[told->paired];
	told->paired++;
	batch.taken = read->end;
	batch.asked = write ? write->ts : read->ts;
	batch.from = batch.taken > told->written ? batch.taken : told->written;
	told->written = result->end;
	if (batch.from > batch.written)
		batch.from = batch.written;
	return buf_append(&batches->list, &batch, sizeof(batch));
}

static int pair_results(struct batches *batches, const struct pipe *results, struct told *told)
{
	for (size_t i = 0; i < results->writes && i < reads_of(results); i++) {
		const struct message *result = &results->messages[i];

		if (add_batch(batches, &told[result->proc], result,
			      &results->messages[results->writes + i]))
			return -ENOMEM;
	}
	return 0;
}

/* Of the pipes that a worker reads the one with most messages has its indices; the others, how it was started. */
static void find_indices(const struct batches *batches, const struct message *messages,
			 size_t count, uint32_t focus_proc, struct told *told)
{
	uint32_t worker;

	for (size_t at = 0; at < count;) {
		struct pipe pipe = pipe_at(messages + at, count - at);

		if (has_indices(batches, &pipe, focus_proc, &worker) &&
		    reads_of(&pipe) > reads_of(&told[worker].indices))
			told[worker].indices = pipe;
		at += pipe.count;
	}
}

static int compare_asked(const void *a, const void *b)
{
	const struct why_batch *left = a, *right = b;

	if (left->asked != right->asked)
		return left->asked < right->asked ? -1 : 1;
	return left->received < right->received ? -1 : left->received > right->received;
}

static void put_in_order(struct batches *batches)
{
	uint64_t latest = 0;

	if (batches->list.size)
		qsort(batches->list.data, batches_count(batches), sizeof(struct why_batch),
		      compare_asked);
	for (size_t i = 0; i < batches_count(batches); i++) {
		struct why_batch *batch = batches_get(batches, i);

		latest = batch->received > latest ? batch->received : latest;
		batch->latest = latest;
	}
}

int batches_finish(struct batches *batches, uint32_t focus_proc)
{
	struct message *messages = (struct message *)batches->messages.data;
	size_t count = batches->messages.size / sizeof(*messages);
	struct told *told = calloc((size_t)procs_count(batches->context->procs) + 1, sizeof(*told));
	int err = told ? 0 : -ENOMEM;

	if (count)
		qsort(messages, count, sizeof(*messages), compare_calls);
	count = join_calls(messages, count);
	if (!err)
		find_indices(batches, messages, count, focus_proc, told);
	for (size_t at = 0; at < count && !err;) {
		struct pipe pipe = pipe_at(messages + at, count - at);

		if (has_results(batches, &pipe, focus_proc))
			err = pair_results(batches, &pipe, told);
		at += pipe.count;
	}
	put_in_order(batches);
	buf_free(&batches->messages);
	free(told);
	return err;
}

void batches_free(struct batches *batches)
{
	buf_free(&batches->messages);
	buf_free(&batches->list);
	*batches = (struct batches){ 0 };
}

size_t batches_due(const struct batches *batches, uint64_t ts)
{
	size_t low = 0, high = batches_count(batches);

	while (low < high) { /* all below low had come by ts */
		size_t middle = low + (high - low) / 2;

		if (batches_get(batches, middle)->latest <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
