/* What is known of inodes: the file it was met as last, and who dirtied it last.
 *
 *     inode ──hash──▶ a set: [entry][entry][entry][entry]      each in a cache line of its own
 *
 * A program that opens many files finds the cache cold at each: here a look-up touches one line of memory, in a
 * hash map of the kernel's three, and an entry is made without a lock. A full set forgets one of its entries.
 *
 * An entry changes under its version, which is odd meanwhile. Who finds it so, or finds that it moved while
 * it was read, knows nothing of the inode; who finds it so and wanted to write, does not.
 */
#ifndef STRATA_BPF_INODE_BPF_H
#define STRATA_BPF_INODE_BPF_H

#include "bpf/ring.bpf.h"

/* Inodes that the kernel made one after the other lie side by side, and are often used together: their sets are on
 * the same pages, of which the processor then knows the addresses. */
static __always_inline struct inode_set *inode_set_of(__u64 inode)
{
	__u64 slab = (inode >> 15) * 0x9e3779b97f4a7c15ull;
	__u32 index = slab >> (64 - INODE_SET_BITS) & ~15u;

	index |= inode >> 10 & 15;
	return bpf_map_lookup_elem(&inodes, &index);
}

/* Which entry of its set is an inode's; if none is, with `make` one that is free, or else any; INODE_WAYS: none.
 * Global: to the verifier its answer is any number, and it looks at what follows once. */
__noinline __u32 inode_way(__u64 inode, bool make)
{
	struct inode_set *set = inode_set_of(inode);
	__u32 way = make ? shared.last_file & (INODE_WAYS - 1) : INODE_WAYS;

	if (!set)
		return INODE_WAYS;
	for (__u32 i = 0; i < INODE_WAYS; i++) {
		if (set->ways[i].inode == inode)
			return i;
		if (make && !set->ways[i].inode) /* those behind it are free too */
			return i;
	}
	return way;
}

/* What is known of an inode; NULL: nothing, or of one that was there before it. */
static __always_inline struct inode_entry *inode_find(__u64 inode, __u64 number, __u32 generation)
{
	struct inode_set *set = inode_set_of(inode);
	__u32 way = inode_way(inode, false);
	struct inode_entry *entry;

	if (!set || way >= INODE_WAYS)
		return NULL;
	entry = &set->ways[way];
	return entry->number == number && entry->generation == generation ? entry : NULL;
}

/* The file that an inode was met as last, if that was by this name and its path has not changed; 0: not known. */
static __always_inline __u32 inode_file(struct inode_entry *entry, __u64 dentry, __u64 mount,
					__u32 name, __u32 epoch)
{
	__u32 version = entry->version, file;

	memory_order();
	if (version & 1 || entry->dentry != dentry || entry->mount != mount ||
	    entry->name != name || entry->epoch != epoch)
		return 0;
	file = entry->file;
	memory_order();
	return entry->version == version ? file : 0;
}

/* Copies what is known of an inode; false: nothing is. */
static __always_inline bool inode_read(struct inode_entry *copy, __u64 inode, __u64 number,
				       __u32 generation)
{
	struct inode_entry *entry = inode_find(inode, number, generation);
	__u32 version;

	if (!entry)
		return false;
	version = entry->version;
	memory_order();
	*copy = *entry;
	memory_order();
	return !(version & 1) && entry->version == version && copy->inode == inode &&
	       copy->number == number && copy->generation == generation;
}

/* The entry for an inode, which is made if there is none, to be changed and passed to inode_unlock(); NULL:
 * somebody else is at it. */
static __always_inline struct inode_entry *inode_lock(__u64 inode, __u64 number, __u32 generation)
{
	struct inode_set *set = inode_set_of(inode);
	__u32 way = inode_way(inode, true), version;
	struct inode_entry *entry;

	if (!set || way >= INODE_WAYS)
		return NULL;
	entry = &set->ways[way];
	version = entry->version;
	if (version & 1 ||
	    __sync_val_compare_and_swap(&entry->version, version, version + 1) != version)
		return NULL;
	if (entry->inode != inode || entry->number != number || entry->generation != generation) {
		entry->inode = inode;
		entry->number = number;
		entry->generation = generation;
		entry->file = 0;
		entry->dirtied = 0;
	}
	return entry;
}

static __always_inline void inode_unlock(struct inode_entry *entry)
{
	memory_order();
	entry->version++;
}

/* Who dirtied a file, in one word, which is written and read at once: pid, tid, and whether it was the job's. */
static __always_inline __u64 dirtied_by(__u32 pid, __u32 tid, bool job)
{
	return (__u64)pid << 32 | tid << 1 | job;
}

static __always_inline __u32 dirtied_pid(__u64 dirtied)
{
	return dirtied >> 32;
}

static __always_inline __u32 dirtied_tid(__u64 dirtied)
{
	return (__u32)dirtied >> 1;
}

static __always_inline bool dirtied_job(__u64 dirtied)
{
	return dirtied & 1;
}

#endif
