/* Every difference between kernels, each behind one accessor. */
#ifndef STRATA_BPF_COMPAT_BPF_H
#define STRATA_BPF_COMPAT_BPF_H

#include "bpf/maps.bpf.h"

#define CGROUP_DEPTH 32

/* The kernel counts run-queue time where it is built with CONFIG_SCHED_INFO. */
static __always_inline bool task_has_run_delay(void)
{
	return bpf_core_field_exists(((struct task_struct *)0)->sched_info);
}

static __always_inline __u64 task_run_delay(struct task_struct *task)
{
	return task_has_run_delay() ? task->sched_info.run_delay : 0;
}

/* kernfs_node.parent became __parent, under RCU, in 6.15. */
static __always_inline struct kernfs_node *kernfs_parent(struct kernfs_node *node)
{
	struct kernfs_node___6_15 *newer = (void *)node;

	if (bpf_core_field_exists(newer->__parent))
		return BPF_CORE_READ(newer, __parent);
	return BPF_CORE_READ(node, parent);
}

/* Reads a string of the current thread's. Returns its size with NUL, 0 when it cannot be read. Before 6.14
 * the helper says 0 of an empty string too. */
static __always_inline __u32 user_string_read(char *to, __u32 most, __u64 pointer)
{
	long size = bpf_probe_read_user_str(to, most, (void *)pointer);

	if (size == 0 && !bpf_probe_read_user(to, 1, (void *)pointer) && !*to)
		return 1;
	return size > 0 ? size : 0;
}

#endif
