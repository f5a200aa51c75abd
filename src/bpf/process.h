/* What bpf/process.bpf.c and probes/process.c share.
 */
#ifndef STRATA_BPF_PROCESS_H
#define STRATA_BPF_PROCESS_H

#include "bpf/records.h"

#define ARGS_BYTES 8192 /* longest argument vector kept */

struct process_record {
	struct record head; /* call: enum event */
	__u64 cgroup;
	__u32 ppid;
	__u32 uid;
	__u32 exe;     /* exec: file id */
	__u32 old_tid; /* exec: the caller's tid before it became the leader's */
	__s32 exit_code;
	__u32 args_size;
	__u32 creator; /* fork: tid of the thread that made it; 0: not visible */
	__u32 pad;
	char comm[COMM_BYTES];
}; /* followed, for an exec, by the arguments as in /proc/PID/cmdline */

_Static_assert(sizeof(struct process_record) == 88, "struct process_record");

#endif
