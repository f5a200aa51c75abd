/* What bpf/fault.bpf.c and probes/fault.c share.
 */
#ifndef STRATA_BPF_FAULT_H
#define STRATA_BPF_FAULT_H

#include "bpf/records.h"

enum fault_kind { FAULT_ONE, FAULT_SEVERAL };

enum fault_flag {
	FAULT_MAJOR = 1,
	FAULT_MINOR = 2, /* neither: the recording ended before it was known */
	FAULT_NO_ADDRESS = 4,
};

/* One fault on a mapping. */
struct fault_record {
	struct record head;
	__u64 addr;
	__s64 pos;    /* RECORD_NULL: not known */
	__s64 missed; /* RECORD_NULL: not known */
	__u32 file;   /* file id, 0: not known, or no file */
	__u32 flags;  /* enum fault_flag */
};

_Static_assert(sizeof(struct fault_record) == 64, "struct fault_record");

/* A minor fault of which only this is known, as of most: the page was in the cache, and the address is not looked
 * for. */
struct brief_fault {
	__u64 ts;
	__s64 pos;
	__u32 file;
	__u32 cpu;
};

_Static_assert(sizeof(struct brief_fault) == 24, "struct brief_fault");

#define BRIEF_FAULTS 8

/* Some of them, of one thread. */
struct faults_record {
	struct record head; /* cpu, ts and dur mean nothing */
	__u32 count;
	__u32 missed_known; /* then it is 0 */
	struct brief_fault faults[BRIEF_FAULTS];
};

_Static_assert(sizeof(struct faults_record) == 232, "struct faults_record");

#endif
