/* The table job: what all processes of the job used in an interval. It is no struct sampler, since it reads
 * from the recording's own programs in the kernel. The session's thread calls it.
 */
#ifndef STRATA_SAMPLER_JOB_H
#define STRATA_SAMPLER_JOB_H

#include "bpf/records.h"
#include "capture/kernel.h"
#include "capture/sink.h"

/* Zeroed, it samples nothing. */
struct job_sampling {
	struct kernel
		*kernel; /* not owned; NULL: there is no job, or its totals are not recorded */
	struct buf pids; /* uint32_t each */
	uint64_t since;
	uint64_t before[JOB_COUNTERS];
	uint64_t usr, sys; /* in the rows so far */
};

/* Begins the first interval. To be called before a launched command is let go. */
void job_start(struct job_sampling *job, struct kernel *kernel);

/* Adds the row of the interval since the last one. */
void job_sample(struct job_sampling *job, struct sink *sink);

void job_close(struct job_sampling *job);

#endif
