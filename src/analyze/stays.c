#include "analyze/stays.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/scan.h"
#include "store/rows.h"

#define MOST_SYSCALLS UINT16_MAX

/* ---- loading ---- */

static int thread_number(struct stays *stays, int64_t tid, uint32_t *number)
{
	int new;

	*number = STAY_NONE;
	if (tid == CELL_NULL)
		return 0;
	new = numbering_add(&stays->threads, (uint64_t)tid, number);
	if (new < 0 || (new &&buf_append(&stays->tids, &tid, sizeof(tid))))
		return -ENOMEM;
	return 0;
}

static int syscall_number(struct stays *stays, const struct rows *rows, uint16_t *number)
{
	const char *text;
	uint32_t found;
	size_t size;

	*number = 0;
	text = rows_text(rows, column_sched_syscall, &size);
	if (!text)
		return 0;
	if (strings_add(&stays->syscalls, text, size, &found))
		return -ENOMEM;
	if (found < MOST_SYSCALLS)
		*number = (uint16_t)found;
	return 0;
}

/* Since when the thread was ready. Recordings that do not tell when it was woken say how long it waited. */
static void find_ready(struct stays *stays, const struct rows *rows, struct stay_row *stay)
{
	int64_t wait = rows_cell(rows, column_sched_wait);
	int64_t wake = rows_cell(rows, column_sched_wake_ts);

	stay->ready = stay->ts;
	if (wait != CELL_NULL && (uint64_t)wait <= stay->ts)
		stay->ready = stay->ts - (uint64_t)wait;
	if (wake == CELL_NULL)
		return;
	stays->has_wakes = true;
	if ((uint64_t)wake <= stay->ts)
		stay->ready = (uint64_t)wake;
}

static int take_stay(void *state, struct stays *stays, const struct rows *rows)
{
	struct context *context = state;
	int64_t tid = rows_cell(rows, column_sched_tid), dur = rows_cell(rows, column_sched_dur);
	int64_t waker = rows_cell(rows, column_sched_waker_tid);
	int64_t arg0 = rows_cell(rows, column_sched_arg0);
	struct stay_row stay = { .ts = (uint64_t)rows_cell(rows, column_sched_ts) };
	uint32_t thread;

	if (tid == CELL_NULL)
		return 0;
	stay.end = dur == CELL_NULL ? context->window.end : stay.ts + (uint64_t)dur;
	if (stay.end < stay.ts)
		stay.end = stay.ts;
	stay.arg0 = arg0 == CELL_NULL ? 0 : (uint64_t)arg0;
	stay.cpu = (uint16_t)rows_cell(rows, column_sched_cpu);
	stay.state = (int8_t)rows_name(rows, column_sched_end_state);
	stay.kind = (int8_t)rows_name(rows, column_sched_waker_kind);
	stay.iowait = rows_cell(rows, column_sched_iowait) == 1;
	stay.woken = stay.kind >= 0 || (waker != CELL_NULL && waker);
	find_ready(stays, rows, &stay);
	thread = who_thread(&context->who, tid, stay.ts);
	stay.name = tid ? who_name(&context->who, thread) : context->who.idle;
	stay.proc =
		tid ? who_proc_of(&context->who, thread, rows_cell(rows, column_sched_pid), stay.ts)
		    : PROC_NONE;
	if (thread_number(stays, tid, &stay.thread) ||
	    thread_number(stays, waker ? waker : CELL_NULL, &stay.waker) ||
	    syscall_number(stays, rows, &stay.syscall))
		return -ENOMEM;
	return buf_append(&stays->rows, &stay, sizeof(stay));
}

static int take_birth(void *state, struct stays *stays, const struct rows *rows)
{
	struct stay_birth birth = { .ts = (uint64_t)rows_cell(rows, column_process_ts) };

	(void)state;
	if (rows_name(rows, column_process_event) != EVENT_FORK ||
	    rows_cell(rows, column_process_tid) == CELL_NULL)
		return 0;
	if (thread_number(stays, rows_cell(rows, column_process_tid), &birth.thread) ||
	    thread_number(stays, rows_cell(rows, column_process_creator_tid), &birth.creator))
		return -ENOMEM;
	return buf_append(&stays->births, &birth, sizeof(birth));
}

static int load_table(struct stays *stays, struct reader *reader, struct context *context,
		      unsigned table, uint64_t columns,
		      int (*take)(void *, struct stays *, const struct rows *), struct error *e)
{
	struct rows *rows = NULL;
	int err, more = 0;

	err = rows_open(&rows, reader, table, columns, 0, UINT64_MAX, e);
	while (!err && (more = rows_next(rows, e)) > 0)
		if (take(context, stays, rows))
			err = error_set(e, -ENOMEM, "no memory for the stays on CPUs");
	rows_close(rows);
	return err ? err : more;
}

static int compare_births(const void *a, const void *b)
{
	const struct stay_birth *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return left->ts < right->ts ? -1 : left->ts > right->ts;
}

/* Sorts places by list, each list in the order of rows: by counting. */
static int index_make(struct stay_index *index, const struct stays *stays, uint32_t lists,
		      uint32_t (*list_of)(const struct stay_row *))
{
	uint32_t rows = stays_count(stays);

	index->count = lists;
	index->places = calloc((size_t)rows + 1, sizeof(*index->places));
	index->first = calloc((size_t)lists + 2, sizeof(*index->first));
	if (!index->places || !index->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows; i++)
		index->first[list_of(stays_row(stays, i)) + 2]++;
	for (uint32_t i = 2; i < lists + 2; i++)
		index->first[i] += index->first[i - 1];
	for (uint32_t i = 0; i < rows; i++)
		index->places[index->first[list_of(stays_row(stays, i)) + 1]++] = i;
	return 0;
}

static uint32_t list_of_thread(const struct stay_row *row)
{
	return row->thread;
}

static uint32_t list_of_cpu(const struct stay_row *row)
{
	return row->cpu;
}

int stays_load(struct stays *stays, struct reader *reader, struct context *context, struct error *e)
{
	static const uint64_t wanted =
		SCAN_COLUMN(sched, ts) | SCAN_COLUMN(sched, dur) | SCAN_COLUMN(sched, cpu) |
		SCAN_COLUMN(sched, pid) | SCAN_COLUMN(sched, tid) | SCAN_COLUMN(sched, wait) |
		SCAN_COLUMN(sched, waker_tid) | SCAN_COLUMN(sched, end_state) |
		SCAN_COLUMN(sched, syscall) | SCAN_COLUMN(sched, wake_ts) |
		SCAN_COLUMN(sched, waker_kind) | SCAN_COLUMN(sched, iowait) |
		SCAN_COLUMN(sched, arg0);
	static const uint64_t births = SCAN_COLUMN(process, ts) | SCAN_COLUMN(process, event) |
				       SCAN_COLUMN(process, tid) |
				       SCAN_COLUMN(process, creator_tid);
	uint32_t empty;
	int err;

	*stays = (struct stays){ .rows.limit = SIZE_MAX, .births.limit = SIZE_MAX };
	if (strings_add(&stays->syscalls, "", 0, &empty))
		return error_set(e, -ENOMEM, "out of memory");
	err = load_table(stays, reader, context, TABLE_sched, wanted, take_stay, e);
	if (!err)
		err = load_table(stays, reader, context, TABLE_process, births, take_birth, e);
	if (err)
		return err;
	if (stays->births.size)
		qsort(stays->births.data, stays->births.size / sizeof(struct stay_birth),
		      sizeof(struct stay_birth), compare_births);
	if (index_make(&stays->by_thread, stays, stays->threads.count, list_of_thread) ||
	    index_make(&stays->by_cpu, stays, UINT16_MAX + 1u, list_of_cpu))
		return error_set(e, -ENOMEM, "no memory for the stays on CPUs");
	return 0;
}

static void index_free(struct stay_index *index)
{
	free(index->places);
	free(index->first);
}

void stays_free(struct stays *stays)
{
	index_free(&stays->by_thread);
	index_free(&stays->by_cpu);
	buf_free(&stays->rows);
	buf_free(&stays->births);
	buf_free(&stays->tids);
	numbering_free(&stays->threads);
	strings_free(&stays->syscalls);
	*stays = (struct stays){ 0 };
}

/* ---- asking ---- */

uint32_t stays_thread(const struct stays *stays, int64_t tid)
{
	uint32_t number;

	return numbering_find(&stays->threads, (uint64_t)tid, &number) ? number : STAY_NONE;
}

uint32_t stays_before(const struct stays *stays, const struct stay_index *index, uint32_t list,
		      uint64_t ts)
{
	uint32_t low = 0, high = stay_list_count(index, list);

	while (low < high) { /* all below low began before ts */
		uint32_t middle = low + (high - low) / 2;

		if (stay_at(stays, index, list, middle)->ts < ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : STAY_NONE;
}

const struct stay_birth *stays_birth(const struct stays *stays, uint32_t thread, uint64_t ts)
{
	const struct stay_birth *births = (const struct stay_birth *)stays->births.data;
	size_t low = 0, high = stays->births.size / sizeof(*births);

	while (low < high) { /* all below low come before (thread, ts], those from high on after */
		size_t middle = low + (high - low) / 2;
		const struct stay_birth *birth = &births[middle];

		if (birth->thread < thread || (birth->thread == thread && birth->ts <= ts))
			low = middle + 1;
		else
			high = middle;
	}
	return low && births[low - 1].thread == thread ? &births[low - 1] : NULL;
}

const char *stays_syscall(const struct stays *stays, uint16_t number, size_t *size)
{
	return strings_get(&stays->syscalls, number, size);
}
