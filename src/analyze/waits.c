#include "analyze/waits.h"

#include <errno.h>
#include <stdlib.h>

#define NO_SYSCALL UINT32_MAX

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

static enum wait_reason reason_of(const struct waits *waits, uint32_t waker, bool interrupt)
{
	const struct roles *roles = &waits->context->roles;

	if (waits->left_state == END_STATE_D)
		return WAIT_DISK;
	if (interrupt)
		return WAIT_EVENTS;
	if (waker == roles->main)
		return WAIT_OWN;
	if (waker != PROC_NONE && roles->of[waker] == PROC_ROLE_WORKER)
		return WAIT_WORKERS;
	return WAIT_OTHERS;
}

static int note_sleep(struct waits *waits, uint64_t from, uint64_t to, enum wait_reason reason)
{
	struct context *context = waits->context;
	struct wait_call *call;
	uint32_t number;
	int new;

	from = context_clip(context, from);
	to = context_clip(context, to);
	if (to <= from)
		return 0;
	segments_add_time(&context->segments, reason_figures[reason], from, to);
	new = numbering_add(&waits->by_call, (uint64_t)waits->left_syscall << 8 | reason, &number);
	if (new < 0 || (new &&buf_append_zeros(&waits->list, sizeof(*call))))
		return -ENOMEM;
	call = (struct wait_call *)waits->list.data + number;
	call->reason = reason;
	call->syscall_size = waits->left_syscall; /* until waits_finish: the number of its text */
	call->ns += to - from;
	call->count++;
	return 0;
}

static int note_leaving(struct waits *waits, const struct rows *rows, uint64_t end)
{
	const char *text;
	size_t size;

	waits->left_ts = end;
	waits->left_state = rows_name(rows, column_sched_end_state);
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
	    note_sleep(waits, waits->left_ts, ready, reason_of(waits, waker, interrupt)))
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

struct scan_sink waits_sink(struct waits *waits)
{
	return (struct scan_sink){
		.table = TABLE_sched,
		.columns = SCAN_COLUMN(sched, ts) | SCAN_COLUMN(sched, dur) |
			   SCAN_COLUMN(sched, pid) | SCAN_COLUMN(sched, tid) |
			   SCAN_COLUMN(sched, wait) | SCAN_COLUMN(sched, waker_tid) |
			   SCAN_COLUMN(sched, end_state) | SCAN_COLUMN(sched, syscall),
		.take = waits_take,
		.state = waits,
	};
}

static int compare_calls(const void *a, const void *b)
{
	const struct wait_call *left = a, *right = b;

	return left->ns > right->ns ? -1 : left->ns < right->ns;
}

void waits_finish(struct waits *waits)
{
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
}

void waits_free(struct waits *waits)
{
	strings_free(&waits->syscalls);
	numbering_free(&waits->by_call);
	buf_free(&waits->list);
	*waits = (struct waits){ 0 };
}
