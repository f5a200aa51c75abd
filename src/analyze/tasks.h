/* Who was on the CPUs: time by task name, by process and by CPU, switches, slices, waits for a CPU, lives
 * of processes, and the time that the record does not cover. From table sched; without it only the
 * numbers of processes and their lives are known.
 *
 * A stay that spans an end of the window counts with the part inside. A process is counted under
 * the last name of its first thread; its life runs from its fork (for the command: its exec) to its
 * exit, and only lives whose both ends were seen count.
 */
#ifndef STRATA_ANALYZE_TASKS_H
#define STRATA_ANALYZE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/hist.h"
#include "analyze/scan.h"

struct task_name {
	const char *name; /* not terminated; belongs to the context */
	size_t name_size;
	uint64_t cpu_ns;
	uint64_t stays;	    /* each ends with a switch to another thread */
	uint64_t preempted; /* stays that ended although the thread could go on */
	struct hist waits;  /* ns on the run queue before stays; those with 0 included */
	uint64_t processes, job_processes; /* alive inside the window */
	uint64_t lives, life_ns;	   /* whole ones; their sum */
	double share;			   /* of all CPUs' time */
	double busy_share;		   /* of their time without idle; NAN for idle itself */
	double mean_stay_ns, mean_life_ns; /* NAN: none */
	bool idle;			   /* the idle threads */
	bool telling; /* idle and kworker: in every list, however little it is */
};

struct task_process {
	uint32_t proc; /* place in procs */
	uint64_t cpu_ns, stays, wait_ns;
};

struct task_cpu {
	uint64_t cpu;
	uint64_t busy_ns, idle_ns, stays; /* stays: of threads other than idle */
	uint64_t gap_ns, gaps, longest_gap_ns;
	double busy_share;	/* of what stays cover; NAN: nothing */
	uint64_t covered_until; /* while loading */
};

struct tasks {
	struct context *context;
	bool known;		 /* there was a row of sched */
	struct task_name *names; /* by CPU time, the greatest first, once finished */
	size_t name_count;
	uint32_t *by_processes;		/* places in names, the one with most processes first */
	size_t by_process_count;	/* those with any */
	struct task_process *processes; /* those with a stay, by CPU time */
	size_t process_count;
	struct task_cpu *cpus; /* by number */
	size_t cpu_count;
	uint64_t stays, busy_ns, idle_ns, wait_ns; /* stays: without idle */
	double busy_share;			   /* of all CPUs' time; NAN: not known */
	uint64_t job_cpu_ns, job_wait_ns;
	double job_cpus; /* that the job used at a time; NAN: not known */
	struct hist job_waits;
	uint64_t strata_ns; /* the recorder's own stays */
	uint64_t gap_ns, gaps;

	/* While loading. */
	struct buf by_name, by_proc, by_cpu;
};

int tasks_open(struct tasks *tasks, struct context *context);
struct scan_sink tasks_sink(struct tasks *tasks);
int tasks_finish(struct tasks *tasks);
void tasks_free(struct tasks *tasks);

#endif
