/* What the floor's programs and their loader share. */
#ifndef STRATA_BENCH_FLOOR_H
#define STRATA_BENCH_FLOOR_H

#include <linux/types.h>

/* Kept for each thread that is recorded. */
struct floor_state {
	__u64 ts;
	__u64 number;
};

struct floor_record {
	__u64 ts;
	__u64 dur;
	__u32 pid;
	__u32 tid;
	__u64 number;
	__s64 returned;
};

#endif
