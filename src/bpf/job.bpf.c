/* What the threads of the job have used: CPU time, faults, switches, bytes.
 *
 * The kernel keeps these numbers for each thread and only ever adds to them. job_totals holds their sums: a
 * thread's numbers are carried over from time to time, and its storage remembers how far. That is done at
 * each interval for those that live, and when a thread that has exited leaves its CPU for the last time:
 * only then are its numbers final. One that lived shorter than an interval counts in full.
 */
#include "bpf/job.bpf.h"

/* Before a launched command's execve it was strata's child, and what it used strata's. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(job_exec, struct task_struct *task)
{
	struct task_state *state = task_find(task);

	if (state && state->used.pending) {
		state->used.pending = 0;
		job_read(task, state->used.counted);
	}
	return 0;
}

/* Marks a thread for job_settle(), which is to be quick. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(job_exit, struct task_struct *task)
{
	struct task_state *state = task_find(task);

	/* Gone already where process_exit has run before this. */
	if (!state || (state->mode != TASK_JOB && state->mode != TASK_GONE))
		return 0;
	__sync_fetch_and_add(&shared.job_leaving, 1);
	state->used.leaving = 1;
	return 0;
}

/* Attached where sched.bpf.c does not do this: a program more would cost each switch. */
SEC("tp_btf/sched_switch")
int BPF_PROG(job_switch, bool preempted, struct task_struct *prev)
{
	job_settle(prev);
	return 0;
}

/* Notes what the threads of the job have used before the recording, for it not to count. */
SEC("iter/task")
int job_begin(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;

	shared.job_missing = task_missing_counters();
	state = task ? task_find(task) : NULL;
	if (!state || (state->mode != TASK_JOB && state->mode != TASK_PENDING))
		return 0;
	state->used.pending = state->mode == TASK_PENDING;
	job_read(task, state->used.counted);
	return 0;
}

/* Brings the totals up to date, and writes the pid of each thread of the job. */
SEC("iter/task")
int job_update(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;

	state = task ? task_find(task) : NULL;
	if (!state || state->mode != TASK_JOB)
		return 0;
	job_count(&state->used, task);
	bpf_seq_write(context->meta->seq, &state->pid, sizeof(state->pid));
	return 0;
}
