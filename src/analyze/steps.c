#include "analyze/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_HEADER 4
#define MOST_EVENTS  4000000 /* that are kept: 32 MB */
#define PAUSE	     10	     /* times the usual one ends a burst */

const char *const step_source_names[] = { "none", "nvtx", "marks", "handoffs", "bursts" };

struct step_pipe {
	bool pipe, regular, from_worker;
	int64_t framed_tid; /* its last read returned a frame's length; 0: none did */
	struct buf times;   /* uint64_t: when messages were received */
};

int steps_open(struct steps *steps, struct context *context)
{
	*steps = (struct steps){ .context = context };
	steps->pipes.limit = SIZE_MAX;
	return 0;
}

/* Programs, libraries and what the kernel tells: read at start-up, in bursts that are no steps. */
static bool is_code(const struct dims_text *path)
{
	static const char *const begins[] = { "/proc/", "/sys/" }, *const ends[] = { ".py", ".pyc",
										     ".so" };

	if (!path->bytes)
		return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (path->size >= strlen(begins[i]) &&
		    !memcmp(path->bytes, begins[i], strlen(begins[i])))
			return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (path->size >= strlen(ends[i]) &&
		    !memcmp(path->bytes + path->size - strlen(ends[i]), ends[i], strlen(ends[i])))
			return true;
	return memmem(path->bytes, path->size, ".so.", 4) != NULL;
}

static void learn_kind(const struct dims *dims, int64_t file, struct step_pipe *pipe)
{
	const struct file_row *row = dims_find_file(dims, file);

	if (!row)
		return;
	pipe->pipe = file_row_is(row, FILE_KIND_PIPE) || file_row_is(row, FILE_KIND_SOCKET);
	pipe->regular = file_row_is(row, FILE_KIND_FILE) && !is_code(&row->path);
}

static struct step_pipe *pipe_of(struct steps *steps, int64_t file)
{
	struct step_pipe *pipe;
	uint32_t number;
	int new;

	file = dims_file(steps->context->dims, file);
	new = numbering_add(&steps->by_file, (uint64_t)file, &number);
	if (new < 0 || (new &&buf_append_zeros(&steps->pipes, sizeof(*pipe))))
		return NULL;
	pipe = (struct step_pipe *)steps->pipes.data + number;
	if (new)
		learn_kind(steps->context->dims, file, pipe);
	return pipe;
}

static int keep_time(struct buf *times, uint64_t ts)
{
	if (times->size / sizeof(ts) >= MOST_EVENTS)
		return 0;
	return buf_append(times, &ts, sizeof(ts));
}

/* A read by the main process. */
static int take_received(struct steps *steps, struct step_pipe *pipe, uint64_t ts, int64_t tid,
			 int64_t main_tid, int64_t returned)
{
	if (pipe->regular)
		return tid == main_tid ? keep_time(&steps->bursts, ts) : 0;
	if (!pipe->pipe)
		return 0;
	if (pipe->framed_tid == tid && returned > 0) {
		pipe->framed_tid = 0;
		return keep_time(&pipe->times, ts);
	}
	pipe->framed_tid = returned == FRAME_HEADER ? tid : 0;
	return 0;
}

static int steps_take(void *state, const struct rows *rows)
{
	struct steps *steps = state;
	struct context *context = steps->context;
	uint64_t ts = (uint64_t)rows_cell(rows, column_io_ts);
	int64_t file = rows_cell(rows, column_io_file), tid = rows_cell(rows, column_io_tid);
	int64_t returned = rows_cell(rows, column_io_returned);
	int direction = rows_name(rows, column_io_dir);
	struct step_pipe *pipe;
	uint32_t proc;

	if (file == CELL_NULL || context->roles.main == PROC_NONE || !context_inside(context, ts))
		return 0;
	proc = procs_find(context->procs, rows_cell(rows, column_io_pid), ts);
	if (proc == PROC_NONE)
		return 0;
	if (direction == DIRECTION_W && context->roles.of[proc] == PROC_ROLE_WORKER) {
		pipe = pipe_of(steps, file);
		if (!pipe)
			return -ENOMEM;
		pipe->from_worker = true;
		return 0;
	}
	if (direction != DIRECTION_R || proc != context->roles.main)
		return 0;
	pipe = pipe_of(steps, file);
	return pipe ? take_received(steps, pipe, ts, tid, procs_get(context->procs, proc)->pid,
				    returned)
		    : -ENOMEM;
}

struct scan_sink steps_sink(struct steps *steps)
{
	return (struct scan_sink){
		.table = TABLE_io,
		.columns = SCAN_COLUMN(io, ts) | SCAN_COLUMN(io, pid) | SCAN_COLUMN(io, tid) |
			   SCAN_COLUMN(io, dir) | SCAN_COLUMN(io, file) | SCAN_COLUMN(io, returned),
		.take = steps_take,
		.state = steps,
	};
}

/* ---- from times to steps ---- */

static int compare_times(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static int compare_steps(const void *a, const void *b)
{
	const struct marked_step *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

static int add_between(struct steps *steps, const uint64_t *times, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct marked_step step = { times[i - 1], times[i] };

		if (buf_append(&steps->found, &step, sizeof(step)))
			return -ENOMEM;
	}
	return 0;
}

static int find_handoffs(struct steps *steps)
{
	struct step_pipe *pipes = (struct step_pipe *)steps->pipes.data;

	for (size_t i = 0; i < steps->pipes.size / sizeof(*pipes); i++) {
		size_t count = pipes[i].times.size / sizeof(uint64_t);

		if (!pipes[i].pipe || !pipes[i].from_worker || count < 2)
			continue;
		steps->loops++;
		if (add_between(steps, (uint64_t *)pipes[i].times.data, count))
			return -ENOMEM;
	}
	return 0;
}

/* Keeps of the times those at which a burst begins; returns how many. */
static size_t keep_bursts(uint64_t *times, size_t count, uint64_t pause)
{
	size_t kept = count ? 1 : 0;
	uint64_t last = count ? times[0] : 0;

	for (size_t i = 1; i < count; i++) {
		uint64_t gap = times[i] - last;

		last = times[i];
		if (gap > pause)
			times[kept++] = times[i];
	}
	return kept;
}

static int find_bursts(struct steps *steps)
{
	uint64_t *times = (uint64_t *)steps->bursts.data, *gaps, pause;
	size_t count = steps->bursts.size / sizeof(*times);

	if (count < 2 * MOST_DOUBTFUL)
		return 0;
	gaps = calloc(count, sizeof(*gaps));
	if (!gaps)
		return -ENOMEM;
	for (size_t i = 1; i < count; i++)
		gaps[i - 1] = times[i] - times[i - 1];
	qsort(gaps, count - 1, sizeof(*gaps), compare_times);
	pause = gaps[(count - 1) / 2] * PAUSE;
	free(gaps);
	return add_between(steps, times, keep_bursts(times, count, pause));
}

static int measure(struct steps *steps)
{
	uint64_t median, near = 0;

	hist_free(&steps->durations);
	steps->list = (struct marked_step *)steps->found.data;
	steps->count = steps->found.size / sizeof(*steps->list);
	if (steps->count)
		qsort(steps->list, steps->count, sizeof(*steps->list), compare_steps);
	for (size_t i = 0; i < steps->count; i++)
		if (hist_add(&steps->durations, steps->list[i].end - steps->list[i].start))
			return -ENOMEM;
	median = hist_quantile(&steps->durations, 0.5);
	for (size_t i = 0; i < steps->count; i++) {
		uint64_t length = steps->list[i].end - steps->list[i].start;

		near += length >= median / 2 && length / 2 <= median;
	}
	steps->confidence = steps->count ? (double)near / (double)steps->count : 0;
	return 0;
}

static void forget(struct steps *steps)
{
	steps->found.size = 0;
	steps->list = NULL;
	steps->count = steps->loops = 0;
	steps->confidence = 0;
	hist_free(&steps->durations);
	steps->source = STEPS_NONE;
}

static int take_marked(struct steps *steps, const struct phases *phases)
{
	for (size_t i = 0; i < phases->step_count; i++)
		if (context_inside(steps->context, phases->steps[i].start) &&
		    buf_append(&steps->found, &phases->steps[i], sizeof(*phases->steps)))
			return -ENOMEM;
	return 0;
}

int steps_finish(struct steps *steps, const struct phases *phases)
{
	if (take_marked(steps, phases) || measure(steps))
		return -ENOMEM;
	if (steps->count) {
		steps->source = phases->steps_nvtx ? STEPS_NVTX : STEPS_MARKS;
		steps->confidence = 1;
		return 0;
	}
	steps->source = STEPS_HANDOFFS;
	if (find_handoffs(steps) || measure(steps))
		return -ENOMEM;
	if (steps->count >= MOST_DOUBTFUL)
		return 0;
	/* What workers hand over is what the loop consumes: what the main thread reads itself then is something else. */
	if (steps->count) {
		forget(steps);
		return 0;
	}
	forget(steps);
	steps->source = STEPS_BURSTS;
	if (find_bursts(steps) || measure(steps))
		return -ENOMEM;
	if (steps->count < MOST_DOUBTFUL || steps->confidence < 0.5)
		forget(steps);
	return 0;
}

void steps_free(struct steps *steps)
{
	struct step_pipe *pipes = (struct step_pipe *)steps->pipes.data;

	for (size_t i = 0; i < steps->pipes.size / sizeof(*pipes); i++)
		buf_free(&pipes[i].times);
	numbering_free(&steps->by_file);
	buf_free(&steps->pipes);
	buf_free(&steps->bursts);
	buf_free(&steps->found);
	hist_free(&steps->durations);
	*steps = (struct steps){ 0 };
}
