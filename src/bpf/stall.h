/* What bpf/stall.bpf.c, bpf/stall.bpf.h and probes/stall.c share.
 */
#ifndef STRATA_BPF_STALL_H
#define STRATA_BPF_STALL_H

#include "bpf/records.h"

#define STALL_LOCKS \
	3 /* that a thread may wait for, one inside another: an interrupt may come in its way */
#define STALL_DISK_BYTES 32 /* a disk's name */

struct stall_record {
	struct record head; /* op: enum stall_kind */
	__s64 value;	    /* RECORD_NULL: none */
	__u32 file;
	__u32 pad;
	char dev[STALL_DISK_BYTES]; /* empty: none */
};

_Static_assert(sizeof(struct stall_record) == 80, "struct stall_record");

enum stall_dirty {
	DIRTY_NONE,
	DIRTY_PAUSES, /* the thread is about to sleep */
	DIRTY_SLEEPS,
};

/* What a thread waits for, as far as the kernel tells; part of its state. */
struct stall_state {
	__u64 dirty_ts;
	__u64 dirty_device; /* address of the backing_dev_info */
	__u64 dirtied;	    /* bytes */
	__u64 reclaim_ts;
	__u64 compaction_ts;
	struct {
		__u64 address;
		__u64 ts;
		__u32 flags; /* as the tracepoint has them */
		__u32 pad;
	} locks[STALL_LOCKS];
	__u32 lock_count;
	__u8 dirty; /* enum stall_dirty */
	__u8 pad[3];
};

_Static_assert(sizeof(struct stall_state) == 120, "struct stall_state");

#endif
