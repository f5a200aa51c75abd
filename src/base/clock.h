/* The kernel's clocks, in nanoseconds. */
#ifndef STRATA_BASE_CLOCK_H
#define STRATA_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_boot(void)
{
	return clock_now(CLOCK_BOOTTIME);
}

static inline uint64_t clock_monotonic(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

/* CPU time of all threads of this process. */
static inline uint64_t clock_own_cpu(void)
{
	return clock_now(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
