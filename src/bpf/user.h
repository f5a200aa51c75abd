/* What programs pass to the kernel, in memory and as flags: its interface to user space, which does not change, so that
 * nothing here is relocated.
 */
#ifndef STRATA_BPF_USER_H
#define STRATA_BPF_USER_H

#include <linux/types.h>

struct user_iovec {
	__u64 base;
	__u64 length;
};

struct user_msghdr {
	__u64 name;
	__u32 name_length;
	__u32 pad;
	__u64 vector;
	__u64 vector_length;
	__u64 control;
	__u64 control_length;
	__u32 flags;
	__u32 pad2;
};

struct user_mmsghdr {
	struct user_msghdr header;
	__u32 length; /* of the message, when it is sent or received */
	__u32 pad;
};

struct user_open_how {
	__u64 flags;
	__u64 mode;
	__u64 resolve;
};

struct user_iocb {
	__u64 data;
	__u32 key;
	__u32 flags;
	__u16 operation;
	__s16 priority;
	__s32 fd;
	__u64 buffer;
	__u64 size;
	__s64 offset;
};

struct user_io_event {
	__u64 data;
	__u64 operation; /* address of its user_iocb */
	__s64 result;
	__s64 result2;
};

struct user_timespec { /* and timeval, whose parts are microseconds */
	__s64 seconds;
	__s64 parts;
};

struct user_pollfd {
	__s32 fd;
	__s16 events;
	__s16 revents;
};

struct user_getevents_arg {
	__u64 signals;
	__u32 signals_size;
	__u32 least_wait;
	__u64 time;
};

#define EINTR	      4
#define AT_FDCWD      (-100)
#define AT_EMPTY_PATH 0x1000
#define AT_REMOVEDIR  0x200
#define O_ACCMODE     3
#define O_CREAT	      0100
#define O_APPEND      02000
#define O_DIRECT      040000
#define O_LARGEFILE   0100000
#define O_TMPFILE_BIT 020000000
#define RWF_APPEND    0x10
#define RWF_NOAPPEND  0x20
#define SA_RESTART    0x10000000
#define MAP_ANONYMOUS 0x20
#define TIMER_ABSTIME 1

#define NR_POLL	      7
#define NR_FACCESSAT  269
#define NR_FACCESSAT2 439
#define NR_PPOLL      271

#define CLOCK_REALTIME	0
#define CLOCK_MONOTONIC 1

#define FUTEX_PRIVATE_FLAG    128
#define FUTEX_CLOCK_REALTIME  256
#define FUTEX_WAIT	      0
#define FUTEX_LOCK_PI	      6
#define FUTEX_WAIT_BITSET     9
#define FUTEX_WAIT_REQUEUE_PI 11
#define FUTEX_LOCK_PI2	      13

#define IORING_ENTER_EXT_ARG	 0x08
#define IORING_ENTER_ABS_TIMER	 0x20
#define IORING_ENTER_EXT_ARG_REG 0x40

#define WAIT_SECONDS_MOST 9223372036ll /* more are not in 64 bits of nanoseconds */

#endif
