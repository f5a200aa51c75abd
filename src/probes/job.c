/* The table job: what all processes of the job used in an interval. bpf/job.bpf.c keeps the totals, and the layer cpu
 * comes with them where there is a job. */
#include "bpf/job.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf/job.skel.h"
#include "probes/iterate.h"
#include "probes/probe.h"
#include "probes/quota.h"

struct job_state {
	struct buf pids; /* uint32_t each */
	uint64_t since;
	uint64_t before[JOB_COUNTERS];
	uint64_t usr, sys; /* in the rows so far */
	struct quota quota;
};

PROBE_OPEN(job)

static bool job_wanted(const struct probe_setup *setup)
{
	return setup->layers & LAYER_BIT(LAYER_cpu) && setup->config->has_job;
}

static void job_configure(struct probe_run *run)
{
	struct job_bpf *bpf = run->bpf;

	bpf_program__set_autoattach(bpf->progs.job_switch, false);
}

static int job_attach(struct probe_run *run, struct error *e)
{
	struct job_bpf *bpf = run->bpf;
	int err;

	run->state = calloc(1, sizeof(struct job_state));
	if (!run->state)
		return error_set(e, -ENOMEM, "out of memory");
	if (run->setup->loaded & 1u << PROBE_sched) /* does its work */
		return 0;
	err = probe_keep_link(run, bpf_program__attach(bpf->progs.job_switch));
	return err ? error_set(e, err, "cannot attach to sched_switch: %s", strerror(-err)) : 0;
}

/* Notes what the job's threads have used so far, which is not to count. */
static int job_start(struct probe_run *run, struct error *e)
{
	struct job_state *job = run->state;
	struct job_bpf *bpf = run->bpf;
	int err = iterate(bpf->progs.job_begin, NULL, NULL, e);

	quota_open(&job->quota);
	/* A command that is still to be launched begins in strata's own groups. */
	quota_add_process(&job->quota, 0);
	for (size_t i = 0; i < run->setup->target_count; i++)
		quota_add_process(&job->quota, (uint32_t)run->setup->targets[i]);
	__atomic_store_n(&run->setup->shared->job_counting, 1, __ATOMIC_SEQ_CST);
	job->since = clock_boot();
	return err;
}

static void job_close(struct probe_run *run)
{
	struct job_state *job = run->state;

	if (job) {
		buf_free(&job->pids);
		quota_close(&job->quota);
	}
	free(job);
}

/* What the job's threads have used, into totals[JOB_COUNTERS], and the pids of those that live. */
static int job_read(struct probe_run *run, uint64_t *totals)
{
	struct shared *shared = run->setup->shared;
	struct job_state *job = run->state;
	struct job_bpf *bpf = run->bpf;
	struct error ignored;
	int err;

	job->pids.size = 0;
	err = iterate(bpf->progs.job_update, NULL, &job->pids, &ignored);
	/* Of a job that has ended, what its last threads use on their way out. */
	for (int i = 0; i < 1000 && !__atomic_load_n(&shared->live, __ATOMIC_SEQ_CST); i++) {
		if (!__atomic_load_n(&shared->job_leaving, __ATOMIC_SEQ_CST))
			break;
		usleep(100);
	}
	for (unsigned i = 0; i < JOB_COUNTERS; i++)
		totals[i] = __atomic_load_n(&shared->job_totals[i], __ATOMIC_RELAXED);
	return err;
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

static void job_set_spent(struct job_state *job, struct builder *row, const uint64_t *totals,
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

static void job_set_processes(struct job_state *job, struct builder *row)
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
		quota_add_process(&job->quota, pids[i]);
	}
	SET(processes, processes);
	SET(threads, threads);
	SET(rss, rss);
}

/* How long the job's groups were out of CPU time. */
static void job_set_throttled(struct job_state *job, struct builder *row)
{
	struct quota_spent spent;

	if (!quota_is_known(&job->quota))
		return;
	quota_take(&job->quota, &spent);
	SET(throttled, spent.throttled);
	SET(throttled_periods, spent.periods);
}

/* Adds the row of the interval since the last one. */
static void job_sample(struct probe_run *run, struct sink *sink)
{
	struct job_state *job = run->state;
	uint64_t totals[JOB_COUNTERS], now;
	struct builder *row;

	if (job_read(run, totals)) /* the interval stays open */
		return;
	now = clock_boot();
	row = sink_table(sink, TABLE_job);
	if (!row)
		return sink_drop(sink, TABLE_job);
	SET(ts, job->since);
	SET(dur, now - job->since);
	job_set_spent(job, row, totals, run->setup->shared->job_missing);
	job_set_throttled(job, row);
	job_set_processes(job, row);
	sink_end_row(sink, TABLE_job);
	job->since = now;
	memcpy(job->before, totals, sizeof(totals));
}

const struct probe job_probe = {
	.name = "job",
	.serves = LAYER_BIT(LAYER_cpu),
	.part = "cpu.job",
	.wanted = job_wanted,
	.open = job_open,
	.configure = job_configure,
	.attach = job_attach,
	.start = job_start,
	.sample = job_sample,
	.close = job_close,
};
