#include "analyze/waits.h"

#include <errno.h>
#include <stdlib.h>

#define NO_SYSCALL UINT32_MAX
#define WAKE_DELAY \
	5000 /* ns by which a request may end after the wake that it brings, as rows tell it */

/* A sleep. */
struct sleep {
	uint64_t from, to;
	uint32_t syscall; /* number of its text, or NO_SYSCALL */
	enum wait_reason waker;
	bool storage; /* it is proved, or nothing could */
};

const char *const wait_reason_names[WAIT_REASON_COUNT] = {
#define WAIT_NAME(id, field, name) name,
	WAIT_REASONS(WAIT_NAME)
#undef WAIT_NAME
};

static const size_t reason_figures[WAIT_REASON_COUNT] = {
#define WAIT_FIGURE(id, field, name) FIGURE_PLACE(main_##field##_ns),
	WAIT_REASONS(WAIT_FIGURE)
#undef WAIT_FIGURE
};

int waits_open(struct waits *waits, struct context *context)
{
	*waits = (struct waits){ .context = context };
	return 0;
}

static enum wait_reason waker_of(const struct waits *waits, uint32_t waker, bool interrupt)
{
	const struct roles *roles = &waits->context->roles;

	if (interrupt)
		return WAIT_EVENTS;
	if (waker == roles->main)
		return WAIT_OWN;
	if (waker != PROC_NONE && roles->of[waker] == PROC_ROLE_WORKER)
		return WAIT_WORKERS;
	return WAIT_OTHERS;
}

static int note_sleep(struct waits *waits, const struct sleep *sleep, enum wait_reason reason)
{
	struct context *context = waits->context;
	uint64_t from = context_clip(context, sleep->from), to = context_clip(context, sleep->to);
	struct wait_call *call;
	uint32_t number;
	int new;

	if (to <= from)
		return 0;
	segments_add_time(&context->segments, reason_figures[reason], from, to);
	new = numbering_add(&waits->by_call,
			    (uint64_t)sleep->syscall << 16 | (uint64_t)reason << 8 | sleep->waker,
			    &number);
	if (new < 0 || (new &&buf_append_zeros(&waits->list, sizeof(*call))))
		return -ENOMEM;
	call = (struct wait_call *)waits->list.data + number;
	call->reason = reason;
	call->waker = sleep->waker;
	call->syscall_size = sleep->syscall; /* until waits_finish: the number of its text */
	call->ns += to - from;
	call->count++;
	return 0;
}

/* A sleep whose reason the stays alone tell is noted at once. What the recording does not say of storage, as one of
 * version 0.1 says nothing, storage is taken to be. */
static int take_sleep(struct waits *waits, uint64_t to, enum wait_reason waker)
{
	struct sleep sleep = {
		.from = waits->left_ts,
		.to = to,
		.syscall = waits->left_syscall,
		.waker = waker,
	};

	if (waits->left_iowait == 1)
		return note_sleep(waits, &sleep, WAIT_STORAGE);
	if (waits->left_state != END_STATE_D)
		return note_sleep(waits, &sleep, waker);
	sleep.storage = waits->left_iowait == CELL_NULL;
	return buf_append(&waits->doubts, &sleep, sizeof(sleep));
}

static int note_leaving(struct waits *waits, const struct rows *rows, uint64_t end)
{
	const char *text;
	size_t size;

	waits->left_ts = end;
	waits->left_state = rows_name(rows, column_sched_end_state);
	waits->left_iowait = rows_cell(rows, column_sched_iowait);
	waits->left_syscall = NO_SYSCALL;
	text = rows_text(rows, column_sched_syscall, &size);
	return text ? strings_add(&waits->syscalls, text, size, &waits->left_syscall) : 0;
}

static int take_main(struct waits *waits, const struct rows *rows, uint64_t ts, uint32_t waker,
		     bool interrupt)
{
	struct context *context = waits->context;
	struct segments *segments = &context->segments;
	int64_t dur = rows_cell(rows, column_sched_dur), wait = rows_cell(rows, column_sched_wait);
	uint64_t end = dur == CELL_NULL ? context->window.end : ts + (uint64_t)dur, ready = ts;
	uint64_t born = procs_get(context->procs, context->roles.main)->start;

	if (end <= born) /* what strata's child did before its execve */
		return 0;
	waits->known = true;
	if (wait != CELL_NULL && (uint64_t)wait <= ts)
		ready -= (uint64_t)wait;
	ts = ts < born ? born : ts;
	ready = ready < born ? born : ready;
	segments_add_time(segments, FIGURE_PLACE(main_cpu_ns), ts, end);
	/* Before a wait that follows a preemption it was on the CPU; one before that is no sleep. */
	if (waits->left_ts && ready < waits->left_ts)
		ready = waits->left_ts;
	segments_add_time(segments, FIGURE_PLACE(main_queue_ns), ready, ts);
	if (waits->left_ts && ready > waits->left_ts &&
	    take_sleep(waits, ready, waker_of(waits, waker, interrupt)))
		return -ENOMEM;
	return note_leaving(waits, rows, end);
}

static int waits_take(void *state, const struct rows *rows)
{
	struct waits *waits = state;
	struct context *context = waits->context;
	int64_t tid = rows_cell(rows, column_sched_tid);
	int64_t waker_tid = rows_cell(rows, column_sched_waker_tid);
	uint64_t ts = (uint64_t)rows_cell(rows, column_sched_ts);
	uint32_t proc, waker = PROC_NONE;

	if (!tid)
		return 0;
	proc = who_proc_of(&context->who, who_thread(&context->who, tid, ts),
			   rows_cell(rows, column_sched_pid), ts);
	if (waker_tid != CELL_NULL && waker_tid)
		waker = who_proc(&context->who, who_thread(&context->who, waker_tid, ts));
	if (proc != PROC_NONE && waker != PROC_NONE && waker != proc && context_inside(context, ts))
		waits->wakes[context->roles.of[waker]][context->roles.of[proc]]++;
	if (proc == PROC_NONE || proc != context->roles.main ||
	    tid != procs_get(context->procs, proc)->pid)
		return 0;
	return take_main(waits, rows, ts, waker, waker_tid == CELL_NULL || !waker_tid);
}

static bool is_main(const struct waits *waits, int64_t tid)
{
	const struct context *context = waits->context;

	return context->roles.main != PROC_NONE &&
	       tid == procs_get(context->procs, context->roles.main)->pid;
}

/* The first doubt that ends at a time or later; there may be none. */
static size_t first_doubt(const struct waits *waits, uint64_t ts)
{
	const struct sleep *doubts = (const struct sleep *)waits->doubts.data;
	size_t low = 0, high = waits->doubts.size / sizeof(*doubts);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (doubts[middle].to < ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Something of the main thread's was with storage until `end`: then so were the sleeps that this ended, and if it
 * lasted from `from` on, those within it. */
static void take_proof(struct waits *waits, uint64_t from, uint64_t end)
{
	struct sleep *doubts = (struct sleep *)waits->doubts.data;
	size_t count = waits->doubts.size / sizeof(*doubts);

	for (size_t i = first_doubt(waits, from); i < count && doubts[i].from < end; i++)
		doubts[i].storage = true;
}

static int take_block(void *state, const struct rows *rows)
{
	int64_t dur = rows_cell(rows, column_block_dur);
	int64_t queued = rows_cell(rows, column_block_queued);
	uint64_t end = (uint64_t)rows_cell(rows, column_block_ts);

	if (dur == CELL_NULL || !is_main(state, rows_cell(rows, column_block_tid)))
		return 0;
	end += (uint64_t)dur + (queued == CELL_NULL ? 0 : (uint64_t)queued);
	take_proof(state, end > WAKE_DELAY ? end - WAKE_DELAY : 0, end);
	return 0;
}

static int take_fault(void *state, const struct rows *rows)
{
	int64_t dur = rows_cell(rows, column_fault_dur);
	uint64_t ts = (uint64_t)rows_cell(rows, column_fault_ts);

	if (dur != CELL_NULL && is_main(state, rows_cell(rows, column_fault_tid)))
		take_proof(state, ts, ts + (uint64_t)dur);
	return 0;
}

size_t waits_sinks(struct waits *waits, struct scan_sink *sinks)
{
	sinks[0] = (struct scan_sink){
		.table = TABLE_sched,
		.columns = SCAN_COLUMN(sched, ts) | SCAN_COLUMN(sched, dur) |
			   SCAN_COLUMN(sched, pid) | SCAN_COLUMN(sched, tid) |
			   SCAN_COLUMN(sched, wait) | SCAN_COLUMN(sched, waker_tid) |
			   SCAN_COLUMN(sched, end_state) | SCAN_COLUMN(sched, syscall) |
			   SCAN_COLUMN(sched, iowait),
		.take = waits_take,
		.state = waits,
	};
	sinks[1] = (struct scan_sink){
		.table = TABLE_block,
		.columns = SCAN_COLUMN(block, ts) | SCAN_COLUMN(block, dur) |
			   SCAN_COLUMN(block, queued) | SCAN_COLUMN(block, tid),
		.take = take_block,
		.state = waits,
	};
	sinks[2] = (struct scan_sink){
		.table = TABLE_fault,
		.columns =
			SCAN_COLUMN(fault, ts) | SCAN_COLUMN(fault, dur) | SCAN_COLUMN(fault, tid),
		.take = take_fault,
		.state = waits,
	};
	return WAITS_SINKS;
}

static int note_doubts(struct waits *waits)
{
	const struct sleep *doubts = (const struct sleep *)waits->doubts.data;
	size_t count = waits->doubts.size / sizeof(*doubts);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = note_sleep(waits, &doubts[i], doubts[i].storage ? WAIT_STORAGE : WAIT_LOCK);
	return err;
}

static int compare_calls(const void *a, const void *b)
{
	const struct wait_call *left = a, *right = b;

	return left->ns > right->ns ? -1 : left->ns < right->ns;
}

int waits_finish(struct waits *waits)
{
	if (note_doubts(waits))
		return -ENOMEM;
	waits->calls = (struct wait_call *)waits->list.data;
	waits->call_count = waits->list.size / sizeof(struct wait_call);
	for (size_t i = 0; i < waits->call_count; i++) {
		struct wait_call *call = &waits->calls[i];
		uint32_t number = (uint32_t)call->syscall_size;

		call->mean_ns = call->ns / call->count;
		call->syscall_size = 0;
		if (number != NO_SYSCALL)
			call->syscall = strings_get(&waits->syscalls, number, &call->syscall_size);
	}
	if (waits->call_count)
		qsort(waits->calls, waits->call_count, sizeof(*waits->calls), compare_calls);
	return 0;
}

void waits_free(struct waits *waits)
{
	strings_free(&waits->syscalls);
	numbering_free(&waits->by_call);
	buf_free(&waits->list);
	buf_free(&waits->doubts);
	*waits = (struct waits){ 0 };
}
