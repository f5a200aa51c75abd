#include "cluster/job_figures.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"

#define MOST_PROCESSES 16384

/* The fields of /proc/PID/stat that are read, counted from the state, which follows the name. */
enum { STAT_UTIME = 11, STAT_STIME = 12, STAT_THREADS = 17, STAT_START = 19, STAT_RSS = 21 };

struct process_use {
	pid_t pid;
	uint64_t start; /* since boot, in ticks: tells a process from another of the same id */
	uint64_t usr, sys, threads, rss, read_bytes, write_bytes; /* ticks, pages, bytes */
	bool has_bytes;
};

struct job_figures {
	struct process_use *before, *now;
	size_t before_count, now_count;
	pid_t *pids;
	uint64_t since; /* boot time of `before` */
	uint64_t tick, page;
};

int job_figures_open(struct job_figures **out, struct error *e)
{
	struct job_figures *job = calloc(1, sizeof(*job));

	*out = job;
	if (job) {
		job->before = calloc(MOST_PROCESSES, sizeof(*job->before));
		job->now = calloc(MOST_PROCESSES, sizeof(*job->now));
		job->pids = calloc(MOST_PROCESSES, sizeof(*job->pids));
		job->tick = NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
		job->page = (uint64_t)sysconf(_SC_PAGESIZE);
	}
	if (job && job->before && job->now && job->pids)
		return 0;
	job_figures_close(job);
	*out = NULL;
	return error_set(e, -ENOMEM, "out of memory");
}

void job_figures_close(struct job_figures *job)
{
	if (!job)
		return;
	free(job->before);
	free(job->now);
	free(job->pids);
	free(job);
}

/* ---- reading ---- */

static bool read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	text[got] = 0;
	return true;
}

static bool read_stat(pid_t pid, struct process_use *use)
{
	uint64_t fields[STAT_RSS + 1] = { 0 };
	char text[1024], *at;

	if (!read_proc(pid, "stat", text, sizeof(text)))
		return false;
	at = strrchr(text, ')'); /* the name may hold anything */
	if (!at || at[1] != ' ')
		return false;
	at += 3; /* the state is a letter */
	for (unsigned i = 1; i <= STAT_RSS; i++)
		fields[i] = strtoull(at, &at, 10);
	use->pid = pid;
	use->usr = fields[STAT_UTIME];
	use->sys = fields[STAT_STIME];
	use->threads = fields[STAT_THREADS];
	use->start = fields[STAT_START];
	use->rss = fields[STAT_RSS];
	return true;
}

static void read_io(struct process_use *use)
{
	char text[512], *read_bytes, *write_bytes;

	use->has_bytes = false;
	if (!read_proc(use->pid, "io", text, sizeof(text)))
		return;
	read_bytes = strstr(text, "\nread_bytes: ");
	write_bytes = strstr(text, "\nwrite_bytes: ");
	if (!read_bytes || !write_bytes)
		return;
	use->read_bytes = strtoull(read_bytes + 13, NULL, 10);
	use->write_bytes = strtoull(write_bytes + 14, NULL, 10);
	use->has_bytes = true;
}

/* ---- comparing ---- */

/* The last reading of the same process; NULL: it is new. Both lists come in the order of the kernel's map, which is much
 * the same each time. */
static const struct process_use *use_before(const struct job_figures *job,
					    const struct process_use *now, size_t guess)
{
	for (size_t i = 0; i < job->before_count; i++) {
		const struct process_use *use = &job->before[(guess + i) % job->before_count];

		if (use->pid == now->pid && use->start == now->start)
			return use;
	}
	return NULL;
}

struct job_sums {
	uint64_t usr, sys, threads, rss, read_bytes, write_bytes;
	bool has_bytes;
};

static void add_process(struct job_sums *sums, const struct process_use *now,
			const struct process_use *before)
{
	static const struct process_use none;

	before = before ? before : &none;
	sums->usr += now->usr - before->usr;
	sums->sys += now->sys - before->sys;
	sums->threads += now->threads;
	sums->rss += now->rss;
	if (!now->has_bytes) {
		sums->has_bytes = false;
		return;
	}
	sums->read_bytes += now->read_bytes - before->read_bytes;
	sums->write_bytes += now->write_bytes - before->write_bytes;
}

#define SET(column, value) builder_set(row, column_job_##column, (int64_t)(value))

static void add_row(const struct job_figures *job, const struct job_sums *sums, uint64_t now,
		    struct sink *sink)
{
	struct builder *row = sink_table(sink, TABLE_job);

	if (!row)
		return;
	SET(ts, job->since);
	SET(dur, now - job->since);
	SET(processes, job->now_count);
	SET(threads, sums->threads);
	SET(usr, sums->usr * job->tick);
	SET(sys, sums->sys * job->tick);
	SET(rss, sums->rss * job->page);
	if (sums->has_bytes) {
		SET(read_bytes, sums->read_bytes);
		SET(write_bytes, sums->write_bytes);
	}
	sink_end_row(sink, TABLE_job);
}

void job_figures_sample(struct job_figures *job, struct live *live, struct sink *sink)
{
	size_t count = live_pids(live, job->pids, MOST_PROCESSES);
	struct job_sums sums = { .has_bytes = true };
	struct process_use *spent = job->before;
	uint64_t now = clock_boot();

	job->now_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct process_use *use = &job->now[job->now_count];

		if (!read_stat(job->pids[i], use))
			continue; /* it has just ended */
		read_io(use);
		add_process(&sums, use, use_before(job, use, job->now_count));
		job->now_count++;
	}
	if (job->since) /* what processes used before the first reading is not of an interval */
		add_row(job, &sums, now, sink);
	job->before = job->now;
	job->before_count = job->now_count;
	job->now = spent;
	job->since = now;
}
