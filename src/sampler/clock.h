/* Readings of all clocks together, which tie boot time to UTC: table clock.
 *
 * Where the wall clock was set there are two rows, a nanosecond apart: what it would show had it not been set, by the
 * reading before, and what it shows. Nothing between two rows is bent by a step then. The kernel wakes who polls
 * `fd` when the clock is set, so that the rows come as soon after it as strata gets a CPU.
 */
#ifndef STRATA_SAMPLER_CLOCK_H
#define STRATA_SAMPLER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "store/sink.h"

struct clock_triple {
	uint64_t boot, monotonic, realtime, width;
};

struct clock_sampler {
	int fd; /* readable when the wall clock was set; -1: the kernel does not tell */
	struct clock_triple last; /* boot 0: none yet */
};

void clock_open(struct clock_sampler *clock);
void clock_close(struct clock_sampler *clock);

/* Adds one row to table clock, or two if the clock was set since the last. */
void clock_sample(struct clock_sampler *clock, struct sink *sink);

/* CLOCK_REALTIME less boot time, as last read. */
uint64_t clock_offset(const struct clock_sampler *clock);

#endif
