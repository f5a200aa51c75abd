/* Live histograms, as the programs of live_*.bpf.c and strata share them. They are never emptied: strata keeps the last reading
 * and subtracts, so that no event falls between a reading and a reset.
 *
 *     hists   [CPU 0: subject 0, subject 1, ...][CPU 1: ...]     mapped into strata's memory; a CPU adds to its own
 */
#ifndef STRATA_BPF_LIVE_H
#define STRATA_BPF_LIVE_H

#include <linux/types.h>

/* Slot 0 counts what took less than 2 units, slot k what took from 2^k up to, not including, 2^(k+1): bcc's bpf_log2l() less 1.
 * The last one has all that is longer: with microseconds 9.5 hours. */
#define LIVE_SLOTS 36

/* A __u64 that C takes for a uint64_t. */
typedef __UINT64_TYPE__ live_u64;

/* Five cache lines; most events are short and touch the first alone. */
struct live_hist {
	live_u64 sum;	/* nanoseconds of all events */
	live_u64 most;	/* of the longest since strata last set it to 0 */
	live_u64 bytes; /* moved, where the events move some */
	live_u64 pad;
	live_u64 slots[LIVE_SLOTS];
};

_Static_assert(sizeof(struct live_hist) == 320, "a histogram is what the programs think it is");

/* Subjects of live_sched.bpf.c. */
enum live_sched_subject { LIVE_ON_CPU, LIVE_OFF_CPU, LIVE_QUEUE, LIVE_SCHED_SUBJECTS };

/* Those of live_block.bpf.c: an operation of a device. */
#define LIVE_DEVICES 64 /* whole disks; what further ones do is counted as lost */
#define LIVE_OPS     4	/* R W F D, as block_op_names has them */

/* Those of live_call.bpf.c are numbered by strata, for the calls that it wants; 0: not wanted. */
#define LIVE_CALL_NUMBERS 512
#define LIVE_CALL_SUBJECT 0x3fff
#define LIVE_CALL_MOVES	  0x8000 /* its result is a number of bytes */
#define LIVE_CALL_WRITES  0x4000 /* and they go out */

/* A thread on its way, by its id cut by a mask: of two that share an entry, the later one has it. */
struct live_thread {
	__u32 tid;
	__u32 subject;	/* the call that it is in, and its flags */
	live_u64 ready; /* since when; 0: it is not, or that is not known */
	live_u64 since; /* when it left its CPU; of a call, when it began */
};

/* Histograms of a process, and what a thread and a file did, for those who ask for them. */
struct live_process_key {
	__u32 pid;
	__u32 subject; /* enum live_sched_subject */
};

struct live_process {
	struct live_hist hist;
	char comm[16];
};

struct live_busy {
	live_u64 ns; /* on a CPU */
	__u32 pid;
	__u32 pad;
	char comm[16];
};

struct live_file_key {
	live_u64 inode;
	__u32 dev;
	__u32 pad;
};

#define LIVE_NAME 64

struct live_file {
	live_u64 reads, writes, read_bytes, write_bytes, ns;
	__u32 pid; /* who used it last */
	__u32 pad;
	char name[LIVE_NAME]; /* without its folder; cut */
};

struct live_disk {
	char name[32];
	__u32 index; /* below LIVE_DEVICES */
};

#endif
