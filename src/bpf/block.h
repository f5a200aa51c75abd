/* What bpf/block.bpf.c and probes/block.c share.
 */
#ifndef STRATA_BPF_BLOCK_H
#define STRATA_BPF_BLOCK_H

#include "bpf/records.h"

enum block_flag {
	BLOCK_SYNC = 1,
	BLOCK_META = 2,
	BLOCK_AHEAD = 4,
	BLOCK_ISSUED = 8, /* the driver got it; else cpu means nothing */
};

/* One request to a block device, at its end. */
struct block_record {
	struct record
		head; /* call: index into block_op_names; cpu: of the issue; pid, tid 0: not known */
	__s64 queued; /* RECORD_NULL: not known */
	__u64 sector;
	__u64 bytes;
	__u32 file;	/* file id, 0: not known */
	__u32 done_pid; /* as pid is; 0: idle */
	__s32 error;	/* a negative error number, or the kernel's blk_status_t */
	__u32 flags;	/* enum block_flag */
	char disk[32];
};

_Static_assert(sizeof(struct block_record) == 104, "struct block_record");

#endif
