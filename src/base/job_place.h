/* Which job on many nodes a process is part of, and as which of its processes: what Slurm, torchrun and Open MPI tell those
 * that they start, by the environment.
 */
#ifndef STRATA_BASE_JOB_PLACE_H
#define STRATA_BASE_JOB_PLACE_H

#include <stdint.h>

struct job_place {
	const char *job; /* NULL: none is told; belongs to the environment */
	int64_t rank;	 /* -1: likewise */
};

struct job_place job_place_find(void);

#endif
