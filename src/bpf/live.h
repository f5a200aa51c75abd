/* Live histograms, as the programs of live_*.bpf.c and strata share them. They are never emptied: strata keeps the last reading
 * and subtracts, so that no event falls between a reading and a reset.
 */
#ifndef STRATA_BPF_LIVE_H
#define STRATA_BPF_LIVE_H

#include <linux/types.h>

/* Slot 0 counts what took less than 2 units, slot k what took from 2^k up to, not including, 2^(k+1): bcc's bpf_log2l() less 1.
 * The last one has all that is longer: with microseconds 9.5 hours. */
#define LIVE_SLOTS 36

struct live_hist {
	__u64 slots[LIVE_SLOTS];
	__u64 sum;   /* nanoseconds of all events */
	__u64 most;  /* of the longest since strata last set it to 0 */
	__u64 bytes; /* moved, where the events move some */
	__u64 pad;   /* five cache lines */
};

/* One for each CPU, then one for each subject; the programs add without a lock. */
#define LIVE_DEVICES 64 /* whole disks */
#define LIVE_OPS     4	/* R W F D, as block_op_names has them */

/* Histograms of a process, in a map of its own. */
enum live_of_process { LIVE_PROCESS_CPU, LIVE_PROCESS_QUEUE };

struct live_process_key {
	__u32 pid;
	__u32 what; /* enum live_of_process */
};

struct live_process {
	struct live_hist hist;
	char comm[16];
};

struct live_disk {
	char name[32];
	__u32 index; /* below LIVE_DEVICES */
};

#endif
