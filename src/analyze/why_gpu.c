#include "analyze/why_gpu.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scan.h"
#include "analyze/walk.h"
#include "analyze/why.h"
#include "store/rows.h"

struct gpu_operation {
	int64_t gpu;
	uint64_t ts, end;
	uint32_t thread; /* that launched it, or STAY_NONE */
};

/* ---- loading ---- */

static bool is_wait(const struct rows *rows)
{
	size_t size;
	const char *kind = rows_text(rows, column_gpu_op_kind, &size);

	return kind && size == 4 && (!memcmp(kind, "wait", 4) || !memcmp(kind, "sync", 4));
}

static int take_wait(struct gpus *gpus, struct strings *names, const struct rows *rows,
		     const struct gpu_operation *operation)
{
	struct gpu_wait wait = { .ts = operation->ts,
				 .end = operation->end,
				 .thread = operation->thread };
	size_t size = 0;
	const char *name = rows_text(rows, column_gpu_op_name, &size);

	if (wait.thread == STAY_NONE || strings_add(names, name ? name : "", size, &wait.name))
		return wait.thread == STAY_NONE ? 0 : -ENOMEM;
	return buf_append(&gpus->waits, &wait, sizeof(wait));
}

static int take_row(struct gpus *gpus, const struct stays *stays, struct strings *names,
		    const struct rows *rows)
{
	int64_t dur = rows_cell(rows, column_gpu_op_dur), tid = rows_cell(rows, column_gpu_op_tid);
	struct gpu_operation operation = { .gpu = rows_cell(rows, column_gpu_op_gpu),
					   .ts = (uint64_t)rows_cell(rows, column_gpu_op_ts) };

	if (dur == CELL_NULL || operation.ts + (uint64_t)dur < operation.ts)
		return 0;
	operation.end = operation.ts + (uint64_t)dur;
	operation.thread = tid == CELL_NULL ? STAY_NONE : stays_thread(stays, tid);
	if (is_wait(rows))
		return take_wait(gpus, names, rows, &operation);
	if (operation.gpu == CELL_NULL)
		return 0;
	return buf_append(&gpus->operations, &operation, sizeof(operation));
}

static int compare_operations(const void *a, const void *b)
{
	const struct gpu_operation *left = a, *right = b;

	if (left->gpu != right->gpu)
		return left->gpu < right->gpu ? -1 : 1;
	return left->ts < right->ts ? -1 : left->ts > right->ts;
}

static int compare_waits(const void *a, const void *b)
{
	const struct gpu_wait *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return left->ts < right->ts ? -1 : left->ts > right->ts;
}

int gpus_load(struct gpus *gpus, struct reader *reader, const struct stays *stays,
	      struct strings *names, struct error *e)
{
	static const uint64_t wanted = SCAN_COLUMN(gpu_op, ts) | SCAN_COLUMN(gpu_op, dur) |
				       SCAN_COLUMN(gpu_op, tid) | SCAN_COLUMN(gpu_op, gpu) |
				       SCAN_COLUMN(gpu_op, kind) | SCAN_COLUMN(gpu_op, name);
	struct rows *rows = NULL;
	int err, more = 0;

	*gpus = (struct gpus){ .operations.limit = SIZE_MAX, .waits.limit = SIZE_MAX };
	err = rows_open(&rows, reader, TABLE_gpu_op, wanted, 0, UINT64_MAX, e);
	while (!err && (more = rows_next(rows, e)) > 0)
		if (take_row(gpus, stays, names, rows))
			err = error_set(e, -ENOMEM, "no memory for the work of GPUs");
	rows_close(rows);
	if (gpus->operations.size)
		qsort(gpus->operations.data, gpus->operations.size / sizeof(struct gpu_operation),
		      sizeof(struct gpu_operation), compare_operations);
	if (gpus->waits.size)
		qsort(gpus->waits.data, gpus->waits.size / sizeof(struct gpu_wait),
		      sizeof(struct gpu_wait), compare_waits);
	return err ? err : more;
}

void gpus_free(struct gpus *gpus)
{
	buf_free(&gpus->operations);
	buf_free(&gpus->waits);
	buf_free(&gpus->list);
	*gpus = (struct gpus){ 0 };
}

const struct gpu_wait *gpus_wait(const struct gpus *gpus, uint32_t thread, uint64_t ts)
{
	const struct gpu_wait *waits = (const struct gpu_wait *)gpus->waits.data;
	size_t count = gpus->waits.size / sizeof(*waits), low = 0, high = count;

	while (low < high) { /* all below low are of threads before, or over at ts */
		size_t middle = low + (high - low) / 2;

		if (waits[middle].thread < thread ||
		    (waits[middle].thread == thread && waits[middle].end <= ts))
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && waits[low].thread == thread ? &waits[low] : NULL;
}

/* ---- charging ---- */

static uint64_t overlap(uint64_t from, uint64_t to, uint64_t start, uint64_t end)
{
	from = from < start ? start : from;
	to = to > end ? end : to;
	return to > from ? to - from : 0;
}

/* Idle time of a device, and the thread that ended it. */
struct idle {
	struct why_gpu *gpu;
	uint32_t thread;
	uint64_t from, to;
	struct walk walk;
};

static void add_busy(struct why *why, struct why_gpu *gpu, uint64_t from, uint64_t to)
{
	gpu->busy_ns += overlap(from, to, why->ledger.start, why->ledger.end);
	gpu->loop_busy_ns += overlap(from, to, why->verdict.start, why->verdict.end);
}

static void add_idle(struct why_gpu *gpu, enum why_act act, uint64_t ns)
{
	gpu->idle_ns += ns;
	gpu->acts[act] += ns;
	gpu->causes[why_acts[act].cause] += ns;
}

/* A stretch of idle time, while the thread did that; where it was in a call that waits for a device, that is what it waited for. */
static void charge_stretch(struct why *why, struct idle *idle, enum why_act act, uint64_t from,
			   uint64_t to)
{
	from = from < idle->from ? idle->from : from;
	to = to > idle->to ? idle->to : to;
	while (from < to) {
		const struct gpu_wait *wait = gpus_wait(&why->gpus, idle->thread, from);
		bool inside = wait && wait->ts <= from;
		uint64_t until = to;

		if (inside)
			until = wait->end < to ? wait->end : to;
		else if (wait && wait->ts < to)
			until = wait->ts;
		add_idle(idle->gpu, inside ? WHY_GPU : act, until - from);
		from = until;
	}
}

/* A sleep of the thread, which ends before the stay `at`. */
static int charge_sleep(struct why *why, struct idle *idle, uint32_t at, uint64_t from, uint64_t to)
{
	const struct stay_index *index = &why->stays.by_thread;
	const struct walk_piece *pieces;

	from = from < idle->from ? idle->from : from;
	if (from >= to)
		return 0;
	if (walk_back(&idle->walk, &why->stays, idle->thread, at, from))
		return -ENOMEM;
	pieces = (const struct walk_piece *)idle->walk.pieces.data;
	for (size_t i = 0; i < idle->walk.pieces.size / sizeof(*pieces); i++) {
		struct verdict verdict;

		if (judge_piece(&why->judge, &idle->walk, &pieces[i],
				stay_at(&why->stays, index, idle->thread, at - 1),
				stay_at(&why->stays, index, idle->thread, at), &verdict))
			return -ENOMEM;
		charge_stretch(why, idle, verdict.act, pieces[i].start, pieces[i].end);
	}
	return 0;
}

/* Backward over the stays of the thread that launched what ended the idle time. */
static int charge_idle(struct why *why, struct idle *idle)
{
	const struct stay_index *index = &why->stays.by_thread;
	uint64_t reached = idle->to;
	uint32_t at = idle->thread == STAY_NONE
			      ? STAY_NONE
			      : stays_before(&why->stays, index, idle->thread, idle->to);

	for (; at != STAY_NONE && reached > idle->from; at = at ? at - 1 : STAY_NONE) {
		const struct stay_row *stay = stay_at(&why->stays, index, idle->thread, at);
		uint64_t end = stay->end < reached ? stay->end : reached;
		uint64_t ready = walk_ready(&why->stays, idle->thread, at);
		bool born;
		uint64_t left = walk_left(&why->stays, idle->thread, at, &born);

		charge_stretch(why, idle, WHY_LATE, end, reached);
		charge_stretch(why, idle, WHY_USER, stay->ts, end);
		charge_stretch(why, idle, WHY_WAKER_READY, ready, stay->ts);
		reached = ready;
		if (!at || born)
			break;
		if (charge_sleep(why, idle, at, left, ready))
			return -ENOMEM;
		reached = left;
	}
	charge_stretch(why, idle, WHY_UNSEEN, idle->from, reached);
	return 0;
}

/* The device had nothing to do in [from, to), until something was launched by the thread. */
static int charge_gap(struct why *why, struct idle *idle, uint32_t thread, uint64_t from,
		      uint64_t to)
{
	idle->thread = thread;
	idle->from = from < why->ledger.start ? why->ledger.start : from;
	idle->to = to > why->ledger.end ? why->ledger.end : to;
	return idle->from < idle->to ? charge_idle(why, idle) : 0;
}

/* All operations of one device, which begin at `at`; *at is then those of the next. */
static int charge_device(struct why *why, struct idle *idle, size_t *at)
{
	const struct gpu_operation *list = (const struct gpu_operation *)why->gpus.operations.data;
	size_t count = why->gpus.operations.size / sizeof(*list);
	struct why_gpu gpu = { .gpu = list[*at].gpu };
	uint64_t reached = why->ledger.start;

	idle->gpu = &gpu;
	for (; *at < count && list[*at].gpu == gpu.gpu; ++*at) {
		const struct gpu_operation *operation = &list[*at];
		uint64_t from = operation->ts > reached ? operation->ts : reached;

		gpu.operations++;
		if (operation->ts > reached &&
		    charge_gap(why, idle, operation->thread, reached, operation->ts))
			return -ENOMEM;
		if (operation->end > from) {
			add_busy(why, &gpu, from, operation->end);
			reached = operation->end;
		}
	}
	if (charge_gap(why, idle, why->focus, reached, why->ledger.end))
		return -ENOMEM;
	return buf_append(&why->gpus.list, &gpu, sizeof(gpu));
}

int gpus_charge(struct why *why)
{
	size_t count = why->gpus.operations.size / sizeof(struct gpu_operation);
	struct idle idle = { 0 };
	int err = 0;

	for (size_t at = 0; at < count && !err;)
		err = charge_device(why, &idle, &at);
	walk_free(&idle.walk);
	return err;
}
