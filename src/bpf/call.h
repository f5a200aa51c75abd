/* Calls of functions: what call.bpf.c and its probe share. */
#ifndef STRATA_BPF_CALL_H
#define STRATA_BPF_CALL_H

#include "bpf/records.h"
#include "schema/functions.h"

#define CALL_FRAMES  64 /* the kernel has no more return probes of a thread at a time */
#define CALL_BUCKETS 40 /* powers of two of nanoseconds: up to 18 minutes */

/* The cookie of a probe: the function's number, and what its programs need to know at once. */
#define CALL_ENTRY_ONLY (1ull << 32)
#define CALL_TELLS	(1ull << 33) /* its arguments or its result say something: see call_traits */
#define CALL_PATHS	(1ull << 34) /* one of them is a text */

enum call_record_kind { CALL_PLAIN, CALL_WITH_PATH };

struct call_record {
	struct record head;
	__u32 function;
	__u32 depth;
	__s64 args[4];
	__s64 returned;
	__s64 bytes; /* these four are RECORD_NULL where nothing says it */
	__s64 count;
	__s64 rank;
	__s64 op;
	__u32 file;	 /* id; 0: none is known */
	__u32 path_size; /* of CALL_WITH_PATH: with its NUL; 0: not readable */
};

_Static_assert(sizeof(struct call_record) == 120, "struct call_record");

struct call_path_record {
	struct call_record call;
	char path[PATH_BYTES];
};

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
