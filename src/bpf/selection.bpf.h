/* --comm, --cgroup and --container: which threads of the job are recorded, or, without a command and processes to follow, which
 * threads are the job. Asked when a thread begins, takes a new name or is moved between cgroups; the answer is
 * its bit in job_bits, so that no event pays for it.
 */
#ifndef STRATA_BPF_SELECTION_BPF_H
#define STRATA_BPF_SELECTION_BPF_H

#include "bpf/cgroup.bpf.h"
#include "bpf/task.bpf.h"

#define PID_LEVELS 33 /* the kernel nests PID namespaces no deeper */

static __always_inline bool selection_has_comm(const char *comm)
{
	__u64 name[2] = {};

	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	return name[0] == config.select_comm[0] && name[1] == config.select_comm[1];
}

/* Whether a thread is in the cgroup or one below it. */
static __always_inline bool selection_has_cgroup(struct task_struct *task)
{
	struct kernfs_node *node = cgroup_node(task, config.select_subsystem);

	for (int i = 0; i < CGROUP_DEPTH && node; i++) {
		if (BPF_CORE_READ(node, id) == config.select_cgroup)
			return true;
		node = kernfs_parent(node);
	}
	return false;
}

/* Whether a thread is in the PID namespace or one below it. */
static __always_inline bool selection_has_namespace(struct task_struct *task)
{
	struct upid number;

	for (__u32 level = 0; level < PID_LEVELS && !task_upid(task, level, &number); level++)
		if (BPF_CORE_READ(number.ns, ns.inum) == config.select_namespace)
			return true;
	return false;
}

/* Takes a thread into the recording or leaves it out, as it is named and placed now. Gives its state, which it
 * makes for one that becomes the job's by this. */
static __always_inline struct task_state *selection_apply(struct task_struct *task,
							  struct task_state *state,
							  const char *comm)
{
	bool job = state && state->mode == TASK_JOB;
	bool matches;

	if (!config.selects ||
	    (!job && (!config.selects_job || (state && state->mode != TASK_UNKNOWN))))
		return state;
	matches = (!config.select_comm[0] || selection_has_comm(comm)) &&
		  (!config.select_cgroup || selection_has_cgroup(task)) &&
		  (!config.select_namespace || selection_has_namespace(task));
	if (matches && !job) {
		state = task_make(task, LAYER_process);
		if (state)
			task_join(task, state);
	}
	if (!state)
		return NULL;
	if (matches) {
		job_bit_set(task->pid);
		state->left_out = 0;
		__sync_fetch_and_add(&shared.selection_matched, 1);
	} else {
		job_bit_clear(task->pid);
		state->left_out = 1;
		state->syscall = 0;
		state->fault = TASK_NO_FAULT;
	}
	return state;
}

#endif
