/* What is kept about each thread, in task storage: whether it is recorded, its ids, and the call it is
 * in. One look-up answers everything that a program asks about the current thread.
 */
#ifndef STRATA_BPF_TASK_BPF_H
#define STRATA_BPF_TASK_BPF_H

#include "bpf/ring.bpf.h"

/* The id that a task has at one level of its PID namespaces. */
static __always_inline long task_upid(struct task_struct *task, __u32 level, struct upid *number)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);

	if (!pid || BPF_CORE_READ(pid, level) < level)
		return -1;
	return bpf_probe_read_kernel(number, sizeof(*number),
				     (void *)pid + bpf_core_field_offset(struct pid, numbers) +
					     level * sizeof(*number));
}

/* Its id in the namespace that strata's /proc shows; when it is not visible there the machine's, marked. 0 is idle. */
static __always_inline __u32 task_number_below(struct task_struct *task)
{
	struct upid number;
	__u32 host;

	if (!task_upid(task, shared.pid_level, &number) &&
	    BPF_CORE_READ(number.ns, ns.inum) == shared.pid_namespace)
		return number.nr;
	host = BPF_CORE_READ(task, pid);
	return host ? host | RECORD_HOST_ID : 0;
}

/* The id of a thread, and that of its process, as strata's /proc shows them, else the machine's, marked. */
static __always_inline __u32 task_number(struct task_struct *task)
{
	return shared.pid_level ? task_number_below(task) : (__u32)task->pid;
}

static __always_inline __u32 task_process(struct task_struct *task)
{
	return shared.pid_level ? task_number_below(BPF_CORE_READ(task, group_leader))
				: (__u32)task->tgid;
}

/* The same of a task that was reached through memory, of which the kernel does not know the type. */
static __always_inline __u32 task_number_far(struct task_struct *task)
{
	return shared.pid_level ? task_number_below(task) : (__u32)BPF_CORE_READ(task, pid);
}

static __always_inline __u32 task_process_far(struct task_struct *task)
{
	return shared.pid_level ? task_number_below(BPF_CORE_READ(task, group_leader))
				: (__u32)BPF_CORE_READ(task, tgid);
}

static __always_inline void task_read_ids(struct task_state *state, struct task_struct *task)
{
	state->tid = task_number(task);
	state->pid = task_process(task);
}

static __always_inline struct task_state *task_find(struct task_struct *task)
{
	return bpf_task_storage_get(&tasks, task, NULL, 0);
}

/* Finds or makes the state of a task; a state that cannot be made is counted as a loss of `layer`. */
static __always_inline struct task_state *task_make(struct task_struct *task, enum layer layer)
{
	struct task_state *state;

	state = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state) /* another CPU may have made it just now: then the kernel does not make a second */
		state = task_find(task);
	if (!state)
		loss_count(layer, LOSS_STATE);
	else if (!state->tid)
		task_read_ids(state, task);
	return state;
}

/* The word of job_bits that a thread's bit is in; NULL cannot be, but the verifier wants it looked at. */
static __always_inline __u64 *job_word(__u32 tid)
{
	__u32 zero = 0;
	struct job_bits *bits = bpf_map_lookup_elem(&job_bits, &zero);

	return bits ? &bits->words[tid >> 6 & (JOB_WORDS - 1)] : NULL;
}

static __always_inline void job_bit_set(__u32 tid)
{
	__u64 *word = job_word(tid);

	if (word)
		__sync_fetch_and_or(word, 1ull << (tid & 63));
}

static __always_inline void job_bit_clear(__u32 tid)
{
	__u64 *word = job_word(tid);

	if (word)
		__sync_fetch_and_and(word, ~(1ull << (tid & 63)));
}

static __always_inline bool job_bit_of(__u32 tid)
{
	__u64 *word = job_word(tid);

	return word && *word >> (tid & 63) & 1;
}

static __always_inline bool job_bit(struct task_struct *task)
{
	return job_bit_of(task->pid);
}

/* Takes a task off the live threads of the job, whoever comes first. Returns whether it was the last one. */
static __always_inline bool task_uncount(struct task_state *state)
{
	return __sync_val_compare_and_swap(&state->counted, 1, 0) == 1 &&
	       __sync_fetch_and_sub(&shared.live, 1) == 1;
}

/* Makes a task part of the job. One that another task finds may be past its exit, where it would have been taken off: the kernel
 * sets the flag before. */
static __always_inline void task_join(struct task_struct *task, struct task_state *state)
{
	state->mode = TASK_JOB;
	job_bit_set(task->pid);
	__sync_fetch_and_add(&shared.live, 1);
	__sync_val_compare_and_swap(&state->counted, 0, 1);
	if (task->flags & PF_EXITING)
		task_uncount(state);
}

/* Whether rows are taken: the recording is under way, and not switched off. */
static __always_inline bool rows_are_taken(void)
{
	return shared.recording & RECORDING_ON;
}

/* The filter that comes first: whether a thread's calls may be recorded. Everything rests on this being
 * cheap for threads whose are not. */
static __always_inline bool task_may_be_recorded(struct task_struct *task)
{
	return (config.record_all || job_bit(task)) && rows_are_taken();
}

/* Whether a call that has begun is to be ended: likewise, and also while it is switched off. */
static __always_inline bool task_may_end(struct task_struct *task)
{
	return (config.record_all || job_bit(task)) && shared.recording;
}

/* The state of a thread if its calls are recorded, else NULL. */
static __always_inline struct task_state *task_state_recorded(struct task_struct *task,
							      enum layer layer)
{
	struct task_state *state = task_find(task);

	if (!state && config.record_all)
		state = task_make(task, layer);
	if (!state)
		return NULL;
	if (state->left_out)
		return NULL;
	if (state->mode == TASK_JOB || (config.record_all && state->mode == TASK_UNKNOWN))
		return state;
	return NULL;
}

/* How many faults a thread has ended. */
static __always_inline __u64 task_faults(struct task_struct *task)
{
	return task->min_flt + task->maj_flt;
}

/* The registers with which a thread entered the kernel name no call when a fault brought it there. */
static __always_inline bool task_in_syscall(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return (__s64)regs->orig_ax >= 0;
}

#endif
