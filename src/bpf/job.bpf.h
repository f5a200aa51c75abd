/* The totals of the job, and how a thread's numbers get into them; see job.bpf.c. */
#ifndef STRATA_BPF_JOB_BPF_H
#define STRATA_BPF_JOB_BPF_H

#include "bpf/task.bpf.h"

#include "bpf/compat.bpf.h"

#define TASK_DEAD 0x80 /* the state of a thread that will not run again */

static __always_inline void job_read(struct task_struct *task, __u64 *now)
{
	now[JOB_RUNTIME] = task->se.sum_exec_runtime;
	now[JOB_UTIME] = task->utime;
	now[JOB_STIME] = task->stime;
	now[JOB_MINOR_FAULTS] = task->min_flt;
	now[JOB_MAJOR_FAULTS] = task->maj_flt;
	now[JOB_VOLUNTARY] = task->nvcsw;
	now[JOB_INVOLUNTARY] = task->nivcsw;
	now[JOB_READ_BYTES] = task_read_bytes(task);
	now[JOB_WRITE_BYTES] = task_write_bytes(task);
	now[JOB_RCHAR] = task_rchar(task);
	now[JOB_WCHAR] = task_wchar(task);
}

/* Carries over what a thread has used since the last time. The iterator and the thread's own exit may meet
 * here: who comes with the older number adds nothing, and the other one looks again. */
static __always_inline void job_count(struct job_thread *thread, struct task_struct *task)
{
	__u64 now[JOB_COUNTERS];

	job_read(task, now);
#pragma unroll
	for (int i = 0; i < JOB_COUNTERS; i++) {
		__u64 before = thread->counted[i];

		for (int try = 0; try < 2 && now[i] > before; try++) {
			__u64 found =
				__sync_val_compare_and_swap(&thread->counted[i], before, now[i]);

			if (found == before) {
				__sync_fetch_and_add(&shared.job_totals[i], now[i] - before);
				break;
			}
			before = found;
		}
	}
}

/* Of the current thread, which is dead: what it has used, if it was the job's. Global, as the verifier looks at it once then. */
__noinline int job_settle_dead(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_find(task);

	if (!state || !state->used.leaving)
		return 0;
	if (shared.job_counting)
		job_count(&state->used, task);
	__sync_fetch_and_sub(&shared.job_leaving, 1);
	return 0;
}

/* At each switch, of the current thread, which leaves its CPU: for the last time? */
static __always_inline void job_settle(struct task_struct *prev)
{
	if (prev->__state == TASK_DEAD)
		job_settle_dead();
}

#endif
