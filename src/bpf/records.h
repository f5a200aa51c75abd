/* The records that cross from the kernel to strata, through the rings: what all have in common. Fixed-width, shared by
 * both sides; a record lives only as long as one recording, so its layout may change freely. What a layer adds to
 * it is in the header beside its programs: block.h to block.bpf.c.
 *
 * A record is written once, at the end of what it describes. All begin with struct record.
 */
#ifndef STRATA_BPF_RECORDS_H
#define STRATA_BPF_RECORDS_H

#include <linux/types.h>

#include "schema/layers.h"

#define RECORD_NULL (-0x7fffffffffffffffll - 1 + 0x6e756c6c) /* equals CELL_NULL */
#define PATH_BYTES  4096				     /* longest path the kernel accepts */
#define COMM_BYTES  16

enum record_flag {
	RECORD_UNFINISHED = 1,	 /* the call had not returned: dur and returned mean nothing */
	RECORD_INTERRUPTED = 2,	 /* a signal cut it short */
	RECORD_RESTARTED = 4,	 /* ... and the kernel began it anew */
	RECORD_NO_REQUESTED = 8, /* the vector could not be read: requested means nothing */
	RECORD_DIRECT = 16,	 /* the file is open with O_DIRECT */
	RECORD_NO_START = 32,	 /* only its end was seen: dur means nothing */
	RECORD_READS = 64,	 /* of a call that may read or write: it reads */
};

/* Set in an id that is not visible in strata's PID namespace, above all that the kernel gives. */
#define RECORD_HOST_ID 0x40000000

struct record {
	__u8 probe; /* enum probe_id: who turns it into rows */
	__u8 kind;  /* which of that probe's records it is */
	__u8 op;    /* enum syscall, enum event or whatever else the kind has */
	__u8 flags; /* enum record_flag */
	__u32 cpu;
	__u32 pid; /* in strata's PID namespace, or with RECORD_HOST_ID in the machine's first; 0: none */
	__u32 tid;
	__u64 ts;
	__u64 dur;
};

_Static_assert(sizeof(struct record) == 32, "struct record");

#endif
