/* What a user may see who records by the capabilities of strata's file: processes that are theirs alone, as ptrace asks: all
 * ids theirs, no rights of their own, and not marked as holding secrets. A program that is set-user-ID or has file
 * capabilities leaves the job with its execve, and what it starts is not of the job.
 */
#ifndef STRATA_BPF_OWN_BPF_H
#define STRATA_BPF_OWN_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/task.bpf.h"

static __always_inline bool cred_is_own(const struct cred *cred)
{
	__u64 permitted = 0;

	if (BPF_CORE_READ(cred, uid.val) != config.own_uid ||
	    BPF_CORE_READ(cred, euid.val) != config.own_uid ||
	    BPF_CORE_READ(cred, suid.val) != config.own_uid ||
	    BPF_CORE_READ(cred, gid.val) != config.own_gid ||
	    BPF_CORE_READ(cred, egid.val) != config.own_gid ||
	    BPF_CORE_READ(cred, sgid.val) != config.own_gid)
		return false;
	/* In a user namespace of their own everybody has every right, over what is theirs. */
	if ((__u64)BPF_CORE_READ(cred, user_ns) != shared.self_user_namespace)
		return true;
	bpf_core_read(&permitted, sizeof(permitted), &cred->cap_permitted);
	return !permitted;
}

/* Whether whoever records may see this task. */
static __always_inline bool task_may_be_seen(struct task_struct *task)
{
	struct mm_struct *mm;

	if (!config.own_only)
		return true;
	mm = BPF_CORE_READ(task, mm);
	return mm && cred_is_own(BPF_CORE_READ(task, cred)) && mm_dumpable(mm);
}

/* Of a thread that may be seen no more nothing is recorded from now on, nor of those that it starts. */
static __always_inline void task_hide(struct task_struct *task, struct task_state *state)
{
	if (state->mode == TASK_JOB) {
		job_bit_clear(task->pid);
		task_uncount(state);
	}
	state->mode = TASK_IGNORED;
	state->syscall = 0;
	state->fault = TASK_NO_FAULT;
}

#endif
