/* What bpf/process.bpf.c and probes/process.c share.
 */
#ifndef STRATA_BPF_PROCESS_H
#define STRATA_BPF_PROCESS_H

#include "bpf/records.h"

#define ARGS_BYTES 8192 /* longest argument vector kept */

enum process_flag {
	PROCESS_MOVED =
		1, /* in a PID namespace below strata's, and in another cgroup than strata */
	PROCESS_MOVED_V1 = 2, /* the same in the hierarchy of cgroup_v1 */
	PROCESS_OF_JOB = 4,
};

struct process_record {
	struct record head; /* op: enum event; flags: enum process_flag */
	__u64 cgroup;
	__u64 cgroup_v1; /* in the hierarchy of config.container_subsystem; 0: there is none */
	__u32 ns_pid;	 /* the process's id in its own PID namespace; 0: that is strata's */
	__u32 ppid;
	__u32 uid;
	__u32 exe;     /* exec: file id */
	__u32 old_tid; /* exec: the caller's tid before it became the leader's */
	__s32 exit_code;
	__u32 args_size;
	__u32 creator; /* fork: tid of the thread that made it; 0: not visible */
	char comm[COMM_BYTES];
}; /* followed, for an exec, by the arguments as in /proc/PID/cmdline */

_Static_assert(sizeof(struct process_record) == 96, "struct process_record");

#endif
