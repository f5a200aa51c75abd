/* What bpf/sched.bpf.c and probes/sched.c share.
 */
#ifndef STRATA_BPF_SCHED_H
#define STRATA_BPF_SCHED_H

#include "bpf/records.h"

/* One stay of a thread on a CPU. */
struct sched_record {
	struct record head;
	__s64 wait;  /* RECORD_NULL: not known */
	__u32 waker; /* tid, 0: none or an interrupt */
	__s32 prio;
	__s32 syscall; /* number, negative: none */
	__s8 state;    /* index into task_state_names, negative: none of them */
	__u8 idle;
	__u8 pad[2];
};

_Static_assert(sizeof(struct sched_record) == 56, "struct sched_record");

/* The stay that a CPU is in. */
struct stay {
	__u64 task;	 /* address of the thread's task_struct */
	__u64 run_sum;	 /* what it had run before */
	__u64 ts;	 /* 0: none seen yet */
	__u64 run_delay; /* of the thread, before it got the CPU */
	__u32 waker;
	__u32 tid;
	__u32 pid;
	__s32 prio;
	__u8 idle;
	__u8 unknown; /* run_delay is not known */
	__u8 pad[6];
	__u64 context; /* see by_current() */
};

_Static_assert(sizeof(struct stay) == 64, "struct stay");

#endif
