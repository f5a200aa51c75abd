#include "sampler/job.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

void job_start(struct job_sampling *job, struct kernel *kernel)
{
	struct error ignored;

	if (kernel_begin_job(kernel, &ignored))
		return;
	job->kernel = kernel;
	job->since = clock_boot();
}

void job_close(struct job_sampling *job)
{
	buf_free(&job->pids);
}

static int compare_pids(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return (one > other) - (one < other);
}

/* Resident bytes of a process; 0 when it is gone. */
static uint64_t process_rss(uint32_t pid)
{
	char path[32], text[128];
	unsigned long long resident = 0;
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/statm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size > 0 ? size : 0] = 0;
	if (sscanf(text, "%*u %llu", &resident) != 1)
		return 0;
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Divides the CPU time of the whole recording as the kernel does it for a process: by the ticks that found
 * it in user mode and in the kernel, with neither side ever going back. */
static void job_divide_time(const uint64_t *totals, uint64_t before_usr, uint64_t before_sys,
			    uint64_t *usr, uint64_t *sys)
{
	uint64_t ticks = totals[JOB_UTIME] + totals[JOB_STIME], all = totals[JOB_RUNTIME];

	*sys = ticks ? (uint64_t)((double)all * (double)totals[JOB_STIME] / (double)ticks) : 0;
	if (*sys > all)
		*sys = all;
	if (*sys < before_sys)
		*sys = before_sys;
	*usr = all - *sys;
	if (*usr < before_usr) {
		*usr = before_usr;
		*sys = all - *usr;
	}
}

#define SET(column, value) builder_set(row, column_job_##column, (int64_t)(value))
#define SET_SPENT(column, counter)        \
	if (!(missing & 1u << (counter))) \
	SET(column, totals[counter] - job->before[counter])

static void job_set_spent(struct job_sampling *job, struct builder *row, const uint64_t *totals,
			  uint32_t missing)
{
	uint64_t usr, sys;

	job_divide_time(totals, job->usr, job->sys, &usr, &sys);
	SET(usr, usr - job->usr);
	SET(sys, sys - job->sys);
	job->usr = usr;
	job->sys = sys;
	SET_SPENT(read_bytes, JOB_READ_BYTES);
	SET_SPENT(write_bytes, JOB_WRITE_BYTES);
	SET_SPENT(rchar, JOB_RCHAR);
	SET_SPENT(wchar, JOB_WCHAR);
	SET_SPENT(minor_faults, JOB_MINOR_FAULTS);
	SET_SPENT(major_faults, JOB_MAJOR_FAULTS);
	SET_SPENT(voluntary, JOB_VOLUNTARY);
	SET_SPENT(involuntary, JOB_INVOLUNTARY);
}

static void job_set_processes(struct job_sampling *job, struct builder *row)
{
	uint32_t *pids = (uint32_t *)job->pids.data;
	size_t threads = job->pids.size / sizeof(*pids), processes = 0;
	uint64_t rss = 0;

	if (threads)
		qsort(pids, threads, sizeof(*pids), compare_pids);
	for (size_t i = 0; i < threads; i++) {
		if (i && pids[i] == pids[i - 1])
			continue;
		processes++;
		rss += process_rss(pids[i]);
	}
	SET(processes, processes);
	SET(threads, threads);
	SET(rss, rss);
}

void job_sample(struct job_sampling *job, struct sink *sink)
{
	uint64_t totals[JOB_COUNTERS], now;
	struct error ignored;
	struct builder *row;
	uint32_t missing;

	if (!job->kernel)
		return;
	job->pids.size = 0;
	/* A reading that fails leaves the interval open. */
	if (kernel_read_job(job->kernel, totals, &missing, &job->pids, &ignored))
		return;
	now = clock_boot();
	row = sink_table(sink, TABLE_job);
	if (!row)
		return sink_drop(sink, TABLE_job);
	SET(ts, job->since);
	SET(dur, now - job->since);
	job_set_spent(job, row, totals, missing);
	job_set_processes(job, row);
	sink_end_row(sink, TABLE_job);
	job->since = now;
	memcpy(job->before, totals, sizeof(totals));
}
