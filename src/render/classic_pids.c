/* The processes and threads of the job as `ps aux -T` lists them, each that ever lived once. The job is the processes that
 * were launched or attached to and all that they started; of a recording of the whole machine it is everything.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/procs.h"
#include "base/escape.h"
#include "base/map.h"
#include "base/units.h"
#include "render/classic.h"

struct task {
	const struct proc *proc;
	int64_t tid;
	uint64_t first, last; /* of its life; last UINT64_MAX: it outlived the recording */
	uint64_t cpu_ns;
	struct dims_text comm; /* the last one */
};

struct job {
	struct procs *procs;
	struct buf tasks;  /* struct task */
	struct map places; /* of those, plus 1, by process and thread */
	bool has_sched;
};

/* The task that had the number at that time; NULL: none of the job's. */
static uint64_t *place_of(struct job *job, int64_t pid, int64_t tid, uint64_t ts, bool add)
{
	uint32_t proc = pid == CELL_NULL ? PROC_NONE : procs_find(job->procs, pid, ts);
	uint64_t key = (uint64_t)proc << 32 | (uint32_t)tid;

	if (proc == PROC_NONE || !procs_get(job->procs, proc)->in_job)
		return NULL;
	return add ? map_add(&job->places, key, NULL) : map_find(&job->places, key);
}

static int take_thread(struct job *job, const struct thread_row *row)
{
	struct task fresh = { .tid = row->tid, .first = (uint64_t)row->first_ts }, *task;
	uint64_t *place = place_of(job, row->pid, row->tid, (uint64_t)row->first_ts, true);

	if (!place)
		return 0;
	if (!*place) {
		fresh.proc = procs_get(job->procs, procs_find(job->procs, row->pid, fresh.first));
		if (buf_append(&job->tasks, &fresh, sizeof(fresh)))
			return -ENOMEM;
		*place = job->tasks.size / sizeof(fresh);
	}
	task = (struct task *)job->tasks.data + *place - 1;
	task->last = row->last_ts == CELL_NULL ? UINT64_MAX : (uint64_t)row->last_ts;
	task->comm = (struct dims_text){ row->comm, row->comm_size };
	return 0;
}

static int load_tasks(struct classic *c, struct job *job, struct error *e)
{
	const struct threads *threads = dims_threads(c->run->dims);
	int err = procs_open(&job->procs, c->run->reader, c->run->dims, e);

	for (size_t i = 0; i < threads_count(threads) && !err; i++)
		if (take_thread(job, threads_row(threads, i)))
			err = error_set(e, -ENOMEM, "out of memory");
	return err;
}

/* Time on CPUs, which ps shows, is that of the stays. */
static int load_times(struct classic *c, struct job *job, struct error *e)
{
	uint64_t wanted = 1u << column_sched_ts | 1u << column_sched_dur | 1u << column_sched_pid |
			  1u << column_sched_tid;
	struct rows *rows = NULL;
	int err = rows_open(&rows, c->run->reader, TABLE_sched, wanted, 0, UINT64_MAX, e);

	while (!err && (err = rows_next(rows, e)) > 0) {
		int64_t dur = rows_cell(rows, column_sched_dur);
		uint64_t *place = place_of(job, rows_cell(rows, column_sched_pid),
					   rows_cell(rows, column_sched_tid),
					   (uint64_t)rows_cell(rows, column_sched_ts), false);

		err = 0;
		job->has_sched = true;
		if (place && dur != CELL_NULL)
			((struct task *)job->tasks.data)[*place - 1].cpu_ns += (uint64_t)dur;
	}
	rows_close(rows);
	return err;
}

/* Processes by their start, the threads of each by theirs. */
static int compare_tasks(const void *a, const void *b)
{
	const struct task *left = a, *right = b;

	if (left->proc->start != right->proc->start)
		return left->proc->start < right->proc->start ? -1 : 1;
	if (left->proc->pid != right->proc->pid)
		return left->proc->pid < right->proc->pid ? -1 : 1;
	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static void put_times(const struct classic *c, const struct job *job, const struct task *task,
		      char share[16], char time[32])
{
	uint64_t end = task->last < c->run->span.end ? task->last : c->run->span.end;
	uint64_t life = end > task->first ? end - task->first : 0;

	strcpy(share, "-");
	strcpy(time, "-");
	if (!job->has_sched)
		return;
	if (life)
		snprintf(share, 16, "%.1f", 100.0 * (double)task->cpu_ns / (double)life);
	snprintf(time, 32, "%" PRIu64 ":%02u", (uint64_t)(task->cpu_ns / (60 * NS_PER_SECOND)),
		 (unsigned)(task->cpu_ns / NS_PER_SECOND % 60));
}

/* Memory, state and terminal are not known. COMMAND may hold spaces, as that of ps does: it is the last column. */
static void write_task(struct classic *c, const struct job *job, const struct task *task)
{
	const struct proc *proc = task->proc;
	const struct dims_text *text = proc->command.bytes ? &proc->command : &task->comm;
	char user[32] = "-", share[16], time[32], start[16] = "-";
	bool brackets = proc->kernel && !proc->command.bytes;

	if (proc->uid != CELL_NULL)
		snprintf(user, sizeof(user), "%" PRId64, proc->uid);
	/* Of what was there before, nobody saw the start. */
	if (task->first > c->run->span.start || proc->born) {
		classic_clock(c, task->first, start);
		start[5] = 0; /* HH:MM */
	}
	put_times(c, job, task, share, time);
	field_printf(c, "%-8s %7" PRId64 " %7" PRId64 " %4s %4s %6s %5s %-8s %-4s %-5s %6s", user,
		     proc->pid, task->tid, share, "-", "-", "-", "?", "-", start, time);
	if (brackets)
		field_printf(c, "[%.*s]", (int)text->size, text->bytes);
	else if (escape_append(&c->line, ESCAPE_TERMINAL, text->bytes, text->size) ||
		 buf_append(&c->line, " ", 1))
		c->error = -ENOMEM;
	line_write(c);
	c->rows++;
}

int classic_pids(struct classic *c, struct error *e)
{
	struct job job = { .tasks.limit = SIZE_MAX };
	struct task *tasks;
	size_t count;
	int err = load_tasks(c, &job, e);

	if (!err)
		err = load_times(c, &job, e);
	tasks = (struct task *)job.tasks.data;
	count = job.tasks.size / sizeof(*tasks);
	if (!err && count) {
		qsort(tasks, count, sizeof(*tasks), compare_tasks);
		field_printf(c, "%-8s %7s %7s %4s %4s %6s %5s %-8s %-4s %-5s %6s %s", "USER", "PID",
			     "SPID", "%CPU", "%MEM", "VSZ", "RSS", "TTY", "STAT", "START", "TIME",
			     "COMMAND");
		line_write(c);
		for (size_t i = 0; i < count; i++)
			write_task(c, &job, &tasks[i]);
	}
	procs_close(job.procs);
	map_free(&job.places);
	buf_free(&job.tasks);
	return err;
}
