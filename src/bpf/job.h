/* What bpf/job.bpf.c and probes/job.c share.
 */
#ifndef STRATA_BPF_JOB_H
#define STRATA_BPF_JOB_H

#include "bpf/records.h"

/* What the kernel counts for each thread; see job.bpf.c. */
enum job_counter {
	JOB_RUNTIME, /* exact; utime and stime are samples taken at ticks */
	JOB_UTIME,
	JOB_STIME,
	JOB_MINOR_FAULTS,
	JOB_MAJOR_FAULTS,
	JOB_VOLUNTARY,
	JOB_INVOLUNTARY,
	JOB_READ_BYTES,
	JOB_WRITE_BYTES,
	JOB_RCHAR,
	JOB_WCHAR,
	JOB_COUNTERS
};

struct job_thread {
	__u64 counted[JOB_COUNTERS]; /* in the job's totals already, or not belonging there */
	__u8 pending;		     /* strata's child before its execve */
	__u8 leaving;
	__u8 pad[6];
};

_Static_assert(sizeof(struct job_thread) == 96, "struct job_thread");

#endif
