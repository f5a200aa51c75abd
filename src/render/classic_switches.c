/* comm pid cpu nsecs of the thread that leaves, at each switch. A script takes the time since the CPU's line before for
 * that of the thread, so every CPU must be told of without a gap. Where only the job's stays were recorded there are gaps: a
 * line of the idle thread fills each, for want of anything better, and a note says so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/classic.h"

/* The last name that the thread got until then; NULL: none. */
static const struct thread_row *last_name(const struct threads *threads, int64_t tid, uint64_t ts)
{
	size_t low = 0, high = threads_count(threads);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct thread_row *row = threads_row(threads, middle);

		if (row->tid < tid || (row->tid == tid && (uint64_t)row->first_ts <= ts))
			low = middle + 1;
		else
			high = middle;
	}
	return low && threads_row(threads, low - 1)->tid == tid ? threads_row(threads, low - 1)
								: NULL;
}

/* The name that the thread had when a stay ended: it may have begun another program meanwhile, and after its exit row it
 * still runs for a while, under the name that it had. One that the recording notices late has its first name. */
static const struct thread_row *name_at_end(const struct classic *c, int64_t pid, int64_t tid,
					    uint64_t ts, uint64_t end)
{
	const struct threads *threads = dims_threads(c->run->dims);
	const struct thread_row *row = last_name(threads, tid, end);

	if (row && (pid == CELL_NULL || row->pid == CELL_NULL || row->pid == pid))
		return row;
	return threads_find(threads, tid, ts);
}

/* When the CPU's last stay ended; 0: none yet. NULL: no memory. */
static uint64_t *last_end(struct classic *c, int64_t cpu)
{
	uint64_t *end = map_add(&c->ends, (uint64_t)cpu, NULL);

	if (!end)
		c->error = -ENOMEM;
	return end;
}

static void field_idle(struct classic *c, int64_t cpu)
{
	field_printf(c, "swapper/%lld", (long long)cpu);
}

/* The idle thread leaves the CPU, if it had been on it. */
static void queue_idle(struct classic *c, int64_t cpu, uint64_t ts)
{
	c->line.size = 0;
	field_idle(c, cpu);
	field_uint(c, 0);
	field_cell(c, cpu);
	field_uint(c, ts);
	line_queue(c, ts);
}

static void fill_gap(struct classic *c, int64_t cpu, uint64_t ts, uint64_t end)
{
	uint64_t *last = last_end(c, cpu);

	if (!last)
		return;
	if (*last < ts)
		queue_idle(c, cpu, ts);
	*last = end;
	if (end > c->latest)
		c->latest = end;
}

void fields_switches(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	int64_t tid = rows_cell(rows, column_sched_tid), pid = rows_cell(rows, column_sched_pid);
	int64_t cpu = rows_cell(rows, column_sched_cpu);
	const struct thread_row *row = NULL;

	if (c->fill)
		fill_gap(c, cpu, ts, end);
	c->line.size = 0;
	if (tid != CELL_NULL)
		row = name_at_end(c, pid, tid, ts, end);
	if (tid == 0)
		field_idle(c, cpu);
	else
		field_text(c, row ? row->comm : NULL, row ? row->comm_size : 0);
	field_pid(c, rows, column_sched_pid, column_sched_host_pid);
	field_cell(c, cpu);
	field_uint(c, end);
}

/* Whether only the job's stays were recorded, but some. Older recordings do not say so, but then no CPU was ever idle. */
static int is_job_only(const struct classic *c, bool *only, struct error *e)
{
	const char *scope = dims_run(c->run->dims, "scope");
	const char *target = dims_run(c->run->dims, "target");
	struct rows *rows = NULL;
	bool idle = false;
	int err;

	*only = false;
	if (scope ? strcmp(scope, "job") != 0 : !target || !strcmp(target, "all"))
		return 0;
	err = rows_open(&rows, c->run->reader, TABLE_sched, 1u << column_sched_tid, 0, UINT64_MAX,
			e);
	while (!err && !idle && !(scope && *only) && (err = rows_next(rows, e)) > 0) {
		err = 0;
		*only = true;
		idle = rows_cell(rows, column_sched_tid) == 0;
	}
	*only = *only && (scope || !idle);
	rows_close(rows);
	return err;
}

/* CPUs of the machine, all of which a script expects; more than any has are not believed. */
static int64_t count_cpus(const struct classic *c)
{
	const char *text = dims_run(c->run->dims, "cpus");
	long long count = text ? strtoll(text, NULL, 10) : 0;

	return count < 0 || count > 65536 ? 0 : count;
}

/* As the recording began; what is idle then leaves with the first stay. */
static void begin_cpus(struct classic *c)
{
	uint64_t start = c->run->from > c->run->span.start ? c->run->from : c->run->span.start;

	for (int64_t cpu = 0; cpu < count_cpus(c); cpu++) {
		uint64_t *last = last_end(c, cpu);

		if (last)
			*last = start;
		queue_idle(c, cpu, start);
	}
}

static void end_cpus(struct classic *c)
{
	uint64_t end = c->run->to < c->run->span.end ? c->run->to : c->run->span.end;

	if (end < c->latest)
		end = c->latest;
	for (int64_t cpu = 0; cpu < count_cpus(c); cpu++) {
		uint64_t *last = last_end(c, cpu);

		if (last && *last < end)
			queue_idle(c, cpu, end);
	}
	lines_until(c, UINT64_MAX);
}

int classic_switches(struct classic *c, struct error *e)
{
	int err = is_job_only(c, &c->fill, e);

	if (err)
		return err;
	if (!c->fill)
		return classic_write_calls(c, e);
	if (c->request->warn)
		c->request->warn(
			c->request->data,
			"switches: only the job's own were recorded (--scope job); all other "
			"time of a CPU is written as its idle thread's");
	begin_cpus(c);
	err = classic_write_calls(c, e);
	end_cpus(c);
	return err;
}
