/* Calls of functions: what call.bpf.c and its probe share. */
#ifndef STRATA_BPF_CALL_H
#define STRATA_BPF_CALL_H

#include "bpf/records.h"

#define CALL_FRAMES  64 /* the kernel has no more return probes of a thread at a time */
#define CALL_BUCKETS 40 /* powers of two of nanoseconds: up to 18 minutes */

/* The cookie of a probe: the function's number, and what its programs need to know of it. */
#define CALL_FACTORS_AT \
	32 /* two of enum call_factor, 4 bits each: their product is a number of bytes */
#define CALL_ENTRY_ONLY (1ull << 40)

enum call_factor {
	CALL_FACTOR_NONE,
	CALL_FACTOR_RETURNED,
	CALL_FACTOR_ARG0, /* and so on to ARG3 */
};

struct call_record {
	struct record head;
	__u32 function;
	__u32 depth;
	__s64 args[4];
	__s64 returned;
};

_Static_assert(sizeof(struct call_record) == 80, "struct call_record");

struct call_counter_key {
	__u32 function;
	__u32 tid;
};

/* From the beginning of the recording on; strata takes differences. */
struct call_counter {
	__u32 pid;
	__u32 pad;
	__u64 count;
	__u64 time;
	__u64 bytes;
	__u64 buckets[CALL_BUCKETS];
};

#endif
