/* What the threads of the job have used: CPU time, faults, switches, bytes.
 *
 * The kernel keeps these numbers for each thread and only ever adds to them. job_totals holds their sums: a
 * thread's numbers are carried over from time to time, and its storage remembers how far. That is done at
 * each interval for those that live, and when a thread that has exited leaves its CPU for the last time:
 * only then are its numbers final. One that lived shorter than an interval counts in full.
 */
#include "bpf/task.bpf.h"

#include "bpf/compat.bpf.h"

#define TASK_DEAD 0x80 /* the state of a thread that will not run again */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct job_thread);
} job_threads SEC(".maps");

__u64 job_totals[JOB_COUNTERS] = {};
__u32 job_missing = 0;	/* bits of the counters that this kernel does not keep */
__u32 job_counting = 0; /* set when what the threads had used before is known */
__u32 job_leaving = 0;	/* threads that have exited and still run */

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
				__sync_fetch_and_add(&job_totals[i], now[i] - before);
				break;
			}
			before = found;
		}
	}
}

static __always_inline struct job_thread *job_thread_make(struct task_struct *task)
{
	struct job_thread *thread =
		bpf_task_storage_get(&job_threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!thread)
		loss_count(LAYER_cpu, LOSS_STATE);
	return thread;
}

/* Before a launched command's execve it was strata's child, and what it used strata's. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(job_exec, struct task_struct *task)
{
	struct job_thread *thread = bpf_task_storage_get(&job_threads, task, NULL, 0);

	if (thread && thread->pending) {
		thread->pending = 0;
		job_read(task, thread->counted);
	}
	return 0;
}

/* Marks a thread for job_switch, where there is no time to look whose it is. */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(job_exit, struct task_struct *task)
{
	struct task_state *state = task_find(task);
	struct job_thread *thread;

	/* Gone already where process_exit has run before this. */
	if (!state || (state->mode != TASK_JOB && state->mode != TASK_GONE))
		return 0;
	thread = job_thread_make(task);
	if (!thread)
		return 0;
	__sync_fetch_and_add(&job_leaving, 1);
	thread->leaving = 1;
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(job_switch, bool preempted, struct task_struct *prev)
{
	struct job_thread *thread;

	if (prev->__state != TASK_DEAD)
		return 0;
	thread = bpf_task_storage_get(&job_threads, prev, NULL, 0);
	if (!thread || !thread->leaving)
		return 0;
	if (job_counting)
		job_count(thread, prev);
	__sync_fetch_and_sub(&job_leaving, 1);
	return 0;
}

/* Notes what the threads of the job have used before the recording, for it not to count. */
SEC("?iter/task")
int job_begin(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;
	struct job_thread *thread;

	job_missing = task_missing_counters();
	state = task ? task_find(task) : NULL;
	if (!state || (state->mode != TASK_JOB && state->mode != TASK_PENDING))
		return 0;
	thread = job_thread_make(task);
	if (!thread)
		return 0;
	thread->pending = state->mode == TASK_PENDING;
	job_read(task, thread->counted);
	return 0;
}

/* Brings the totals up to date, and writes the pid of each thread of the job. */
SEC("?iter/task")
int job_update(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;
	struct job_thread *thread;

	if (!task || !job_bit(task))
		return 0;
	state = task_find(task);
	if (!state || state->mode != TASK_JOB)
		return 0;
	thread = job_thread_make(task);
	if (thread)
		job_count(thread, task);
	bpf_seq_write(context->meta->seq, &state->pid, sizeof(state->pid));
	return 0;
}
