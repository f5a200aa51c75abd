/* What bpf/wait.bpf.h, its two users and probes/wait.c share.
 */
#ifndef STRATA_BPF_WAIT_H
#define STRATA_BPF_WAIT_H

#include "bpf/file.h"

/* In struct task_state, where others have the number of a call that has a shape: one that is in no table but wait. */
#define SYSCALL_OTHER 0xff

/* What limits a call's sleep. */
enum wait_timeout {
	WAIT_NO_TIMEOUT,
	WAIT_MILLISECONDS, /* negative: none */
	WAIT_TIMESPEC,	   /* these are pointers, and may be NULL */
	WAIT_UNTIL_REALTIME,
	WAIT_UNTIL, /* on the clock that the next argument names */
	WAIT_SLEEP, /* clock_nanosleep: a length, or until a time on a clock */
	WAIT_FUTEX, /* a length or a time, as the operation has it */
	WAIT_URING, /* in memory that the argument points to, if the flags say so */
	WAIT_TIMESPEC_REWRITTEN, /* the kernel writes there what is left of it, so it is read while the thread sleeps */
	WAIT_TIMEVAL_REWRITTEN,
};

struct wait_trait {
	__u8 timeout; /* enum wait_timeout */
	__u8 place;   /* of the timeout */
	__u8 has_fd;  /* the first argument is a descriptor */
	__u8 pad;
};

#define CLOCK_NONE 0xff /* a length, not a time */

struct wait_record {
	struct record head; /* op: unused */
	__s64 returned;
	__u64 arg0;
	__s64 blocked; /* RECORD_NULL: not known */
	__s64 timeout; /* RECORD_NULL: none, or not known */
	__s32 fd;      /* DESCRIPTOR_NONE: none */
	__u32 file;
	__u16 number;
	__u8 clock; /* that the timeout is a time on; CLOCK_NONE: it is a length */
	__u8 pad[5];
};

_Static_assert(sizeof(struct wait_record) == 80, "struct wait_record");

#endif
