/* What bpf/sched.bpf.c and probes/sched.c share.
 */
#ifndef STRATA_BPF_SCHED_H
#define STRATA_BPF_SCHED_H

#include "bpf/records.h"

/* One stay of a thread on a CPU. */
struct sched_record {
	struct record head; /* op: enum waker_kind; flags: enum stay_flag */
	__s64 wait;	    /* RECORD_NULL: not known */
	__u64 arg0;	    /* of the system call, if STAY_ARGUMENT */
	__u32 waker;	    /* tid, 0: none or an interrupt */
	__u32 early;	    /* how long before it was off its CPU it was woken already */
	__s16 prio;
	__s16 syscall; /* that it left in: number, negative: none */
	__s16 waker_syscall;
	__u16 state; /* bits as the kernel has them, 0: it could have gone on */
};

_Static_assert(sizeof(struct sched_record) == 64, "struct sched_record");

/* Of the states: what a sleeping thread has set. */
#define TASK_INTERRUPTIBLE   0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_IDLE	     0x402 /* uninterruptible, but no load */

#define SCHED_STATE_UNKNOWN 0xffff

/* Not named after the scheduler: <sched.h> has a STAY_IDLE of its own. */
enum stay_flag {
	STAY_IDLE = 1,
	STAY_IOWAIT = 2,
	STAY_ARGUMENT = 4,
};

/* The stay that a CPU is in. */
struct stay {
	__u64 task;    /* address of the thread's task_struct */
	__u64 run_sum; /* what it had run before */
	__u64 ts;      /* 0: none seen yet */
	__s64 wait;    /* for the CPU; RECORD_NULL: not known */
	__u32 waker;
	__u32 early; /* as in struct sched_record */
	__u32 tid;
	__u32 pid;
	__s16 prio;
	__s16 waker_syscall;
	__u8 waker_kind;
	__u8 idle;
	__u8 pad[2];
};

_Static_assert(sizeof(struct stay) == 56, "struct stay");

#define SOFTIRQS 16 /* a power of two, above the kernel's last one */

/* What ran when a thread was woken: from WAKER_SOFTIRQ on the kernel's number of a softirq is added. An index into
 * waker_kind_names, plus 1. */
enum waker_kind {
	WAKER_NONE, /* it was not woken, or what did it is not known */
	WAKER_THREAD,
	WAKER_HARDIRQ,
	WAKER_TIMER, /* by interrupt or softirq */
	WAKER_SOFTIRQ,
};

/* Since when a thread is ready, and when it last left its CPU. */
struct wake {
	__u64 ts;   /* 0: it is not */
	__u64 left; /* 0: not seen */
	__u32 tid;  /* whose this is, as the machine counts */
	__u32 waker;
	__s16 syscall; /* that the waker was in, negative: none */
	__u8 kind;     /* enum waker_kind */
	__u8 certain;  /* it was asleep then, or left ready */
	__u8 pad[4];
};

_Static_assert(sizeof(struct wake) == 32, "struct wake");

#define RAISED_BY_INTERRUPT 0xffffffff

/* What a CPU does beside its thread. */
struct interrupts {
	__u8 softirq; /* that it serves, plus 1 */
	__u8 timers;  /* expired timers that it runs */
	__u8 pad[2];
	__u32 on_behalf_of; /* id of the thread that raised what is served; 0 or RAISED_BY_INTERRUPT: none */
	__u64 context;		   /* see by_current() */
	__u32 raised_by[SOFTIRQS]; /* the same of those to be served */
};

#endif
