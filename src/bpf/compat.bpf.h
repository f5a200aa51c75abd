/* Every difference between kernels, each behind one accessor. */
#ifndef STRATA_BPF_COMPAT_BPF_H
#define STRATA_BPF_COMPAT_BPF_H

#include "bpf/maps.bpf.h"

#define CGROUP_DEPTH 32

/* kernfs_node.parent became __parent, under RCU, in 6.15. */
static __always_inline struct kernfs_node *kernfs_parent(struct kernfs_node *node)
{
	struct kernfs_node___6_15 *newer = (void *)node;

	if (bpf_core_field_exists(newer->__parent))
		return BPF_CORE_READ(newer, __parent);
	return BPF_CORE_READ(node, parent);
}

#endif
