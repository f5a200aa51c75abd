/* Cgroups: a task's in either version, and their names, which are sent once. */
#ifndef STRATA_BPF_CGROUP_BPF_H
#define STRATA_BPF_CGROUP_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/names.h"
#include "bpf/ring.bpf.h"

#define CGROUP_NAME_BYTES 256 /* of the longest name, with its NUL */

/* Cgroups already told to strata, ring by ring: whoever drains a ring then knows every cgroup that its
 * records name. */
struct cgroup_key {
	__u64 id;
	__u64 cpu;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct cgroup_key);
	__type(value, __u8);
} cgroups SEC(".maps");

struct cgroup_scratch {
	struct cgroup_record record;
	char names[PATH_BYTES + CGROUP_NAME_BYTES];
};

/* Adds a name behind those in the scratch. The size lives in memory, where the verifier does not follow
 * it: in a register it would try every length at every depth. */
static __always_inline void cgroup_add_name(struct cgroup_scratch *scratch, const char *name)
{
	__u32 size = scratch->record.names_size;
	long length;

	if (size >= PATH_BYTES)
		return;
	length = bpf_probe_read_kernel_str(&scratch->names[size & (PATH_BYTES - 1)],
					   CGROUP_NAME_BYTES, name);
	if (length > 0)
		scratch->record.names_size = size + length;
}

struct cgroup_walk {
	struct cgroup_scratch *scratch;
	struct kernfs_node *node;
};

/* One step from a cgroup towards the root, which has no name of its own. */
static long cgroup_step(__u32 index, void *context)
{
	struct cgroup_walk *walk = context;
	struct kernfs_node *node = walk->node;
	struct kernfs_node *parent = node ? kernfs_parent(node) : NULL;

	if (!parent)
		return 1;
	cgroup_add_name(walk->scratch, BPF_CORE_READ(node, name));
	walk->node = parent;
	return 0;
}

/* Tells strata the names of a cgroup, from the leaf up. */
__noinline int cgroup_send(struct cgroup_scratch *scratch, __u64 address, __u64 id)
{
	struct cgroup_key key = { id, bpf_get_smp_processor_id() };
	struct cgroup_walk walk = { scratch, (void *)address };
	struct cgroup_record *record;
	__u8 known = 1;
	__u32 size;

	if (!scratch)
		return 0;
	record = &scratch->record;
	record_head(&record->head, PROBE_names, NAMES_CGROUP, 0, 0);
	record->id = id;
	record->names_size = 0;
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop)) {
		bpf_loop(CGROUP_DEPTH, cgroup_step, &walk, 0);
	} else {
		for (int i = 0; i < CGROUP_DEPTH; i++)
			if (cgroup_step(i, &walk))
				break;
	}
	size = record->names_size;
	if (size > PATH_BYTES + CGROUP_NAME_BYTES - 1)
		size = PATH_BYTES + CGROUP_NAME_BYTES - 1;
	if (!ring_output(record, sizeof(*record) + size, LAYER_process, 0))
		bpf_map_update_elem(&cgroups, &key, &known, BPF_ANY);
	return 0;
}

static __always_inline struct kernfs_node *cgroup_node(struct task_struct *task, __s32 subsystem)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *state = NULL;

	if (subsystem < 0)
		return BPF_CORE_READ(set, dfl_cgrp, kn);
	bpf_probe_read_kernel(&state, sizeof(state),
			      (void *)set + bpf_core_field_offset(struct css_set, subsys) +
				      subsystem * sizeof(state));
	return BPF_CORE_READ(state, cgroup, kn);
}

static __always_inline __u64 cgroup_node_id(struct kernfs_node *node, __s32 subsystem)
{
	return BPF_CORE_READ(node, id) | (subsystem < 0 ? 0 : CGROUP_V1);
}

/* The id of a task's cgroup in the unified hierarchy, or in that of a v1 controller. */
static __always_inline __u64 cgroup_id(struct task_struct *task, __s32 subsystem)
{
	return cgroup_node_id(cgroup_node(task, subsystem), subsystem);
}

/* The same, and strata knows its names. */
static __always_inline __u64 cgroup_of(struct cgroup_scratch *scratch, struct task_struct *task,
				       __s32 subsystem)
{
	struct kernfs_node *node = cgroup_node(task, subsystem);
	struct cgroup_key key = { cgroup_node_id(node, subsystem), bpf_get_smp_processor_id() };

	if (!bpf_map_lookup_elem(&cgroups, &key))
		cgroup_send(scratch, (__u64)node, key.id);
	return key.id;
}

#endif
