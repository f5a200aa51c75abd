/* The job's processes as `ps` lists them, when the job began and when it ended. The job is the processes that were
 * launched or attached to and all that they started; of a recording of the whole machine it is everything.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/units.h"
#include "render/classic.h"

struct process {
	int64_t pid;
	uint64_t first, last; /* of its life; last UINT64_MAX: outlived the recording */
	uint64_t cpu_ns;
};

struct job {
	struct buf processes; /* struct process, in order of first */
	struct map by_pid;    /* pid -> place plus 1, of the newest */
	bool all, has_sched;
	uint64_t first, last; /* when the first began and the last ended */
};

static struct process *process_of(const struct job *job, int64_t pid)
{
	uint64_t *place = map_find(&job->by_pid, (uint64_t)pid);

	return place && *place ? (struct process *)job->processes.data + *place - 1 : NULL;
}

static int process_add(struct job *job, int64_t pid, uint64_t ts)
{
	struct process process = { .pid = pid, .first = ts, .last = UINT64_MAX };
	uint64_t *place = map_add(&job->by_pid, (uint64_t)pid, NULL);

	if (!place || buf_append(&job->processes, &process, sizeof(process)))
		return -ENOMEM;
	*place = job->processes.size / sizeof(process);
	return 0;
}

/* The processes that the recording was told to follow: -p lists them; a command's first row is its exec. */
static bool is_target(const struct classic *c, const struct job *job, int64_t pid, bool exec)
{
	const char *pids = dims_run(c->run->dims, "pids");
	const char *target = dims_run(c->run->dims, "target");
	char *end;

	if (target && !strcmp(target, "launch"))
		return exec && !job->processes.size;
	for (; pids && *pids; pids = *end ? end + 1 : end) {
		if (strtoll(pids, &end, 10) == pid && end != pids)
			return true;
		if (end == pids)
			break;
	}
	return false;
}

static int take_event(const struct classic *c, struct job *job, const struct rows *rows)
{
	int64_t pid = rows_cell(rows, column_process_pid),
		tid = rows_cell(rows, column_process_tid);
	int64_t ppid = rows_cell(rows, column_process_ppid);
	uint64_t ts = (uint64_t)rows_cell(rows, column_process_ts);
	int event = rows_name(rows, column_process_event);
	struct process *process;

	if (event < 0 || pid == CELL_NULL || tid != pid)
		return 0;
	process = process_of(job, pid);
	if (event == EVENT_EXIT) {
		if (process && process->last == UINT64_MAX)
			process->last = job->last = ts;
		return 0;
	}
	if (process && process->last == UINT64_MAX)
		return 0;
	if (job->all || is_target(c, job, pid, event == EVENT_EXEC) ||
	    (ppid != CELL_NULL && process_of(job, ppid)))
		return process_add(job, pid, ts);
	return 0;
}

static int load_processes(struct classic *c, struct job *job, struct error *e)
{
	struct rows *rows = NULL;
	int err = rows_open(&rows, c->run->reader, TABLE_process, ~0ull, 0, UINT64_MAX, e);

	while (!err && (err = rows_next(rows, e)) > 0) {
		err = 0;
		if (take_event(c, job, rows))
			err = error_set(e, -ENOMEM, "out of memory");
	}
	rows_close(rows);
	return err;
}

/* Time on CPUs, which ps shows, is that of the stays. */
static int load_times(struct classic *c, struct job *job, struct error *e)
{
	uint64_t wanted = 1u << column_sched_ts | 1u << column_sched_dur | 1u << column_sched_pid;
	struct rows *rows = NULL;
	int err = rows_open(&rows, c->run->reader, TABLE_sched, wanted, 0, UINT64_MAX, e);

	while (!err && (err = rows_next(rows, e)) > 0) {
		int64_t pid = rows_cell(rows, column_sched_pid);
		int64_t dur = rows_cell(rows, column_sched_dur);
		struct process *process = pid == CELL_NULL ? NULL : process_of(job, pid);

		err = 0;
		job->has_sched = true;
		if (process && dur != CELL_NULL)
			process->cpu_ns += (uint64_t)dur;
	}
	rows_close(rows);
	return err;
}

static void write_process(struct classic *c, const struct job *job, const struct process *process,
			  uint64_t ts, bool end)
{
	uint64_t seconds = end ? process->cpu_ns / NS_PER_SECOND : 0;
	char time[32] = "-";
	const char *comm;
	size_t size;

	if (job->has_sched)
		snprintf(time, sizeof(time), "%02" PRIu64 ":%02u:%02u", seconds / 3600,
			 (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
	field_printf(c, "%7" PRId64 " %-8s %8s", process->pid, "-", time);
	comm = dims_comm(c->run->dims, process->pid, ts, &size);
	field_text(c, comm, size);
	line_write(c);
	c->rows++;
}

static void write_list(struct classic *c, const struct job *job, uint64_t ts, bool end)
{
	const struct process *processes = (const struct process *)job->processes.data;

	field_printf(c, "%7s %-8s %8s CMD", "PID", "TTY", "TIME");
	line_write(c);
	for (size_t i = 0; i < job->processes.size / sizeof(*processes); i++)
		if (processes[i].first <= ts && ts <= processes[i].last)
			write_process(c, job, &processes[i], ts, end);
}

int classic_pids(struct classic *c, struct error *e)
{
	const char *target = dims_run(c->run->dims, "target");
	struct job job = { .last = UINT64_MAX };
	const struct process *processes;
	int err;

	job.all = target && strcmp(target, "launch") && !dims_run(c->run->dims, "pids");
	err = load_processes(c, &job, e);
	if (!err)
		err = load_times(c, &job, e);
	processes = (const struct process *)job.processes.data;
	if (!err && processes) {
		uint64_t end = c->run->span.end;

		for (size_t i = 0; i < job.processes.size / sizeof(*processes); i++)
			if (processes[i].last == UINT64_MAX)
				job.last = UINT64_MAX;
		if (!job.all && job.last < end)
			end = job.last;
		write_list(c, &job, processes[0].first, false);
		output_append(c->out, "\n", 1);
		write_list(c, &job, end, true);
	}
	map_free(&job.by_pid);
	buf_free(&job.processes);
	return err;
}
