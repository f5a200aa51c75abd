/* The CPU's time stamp counter as a clock: what it counts in nanoseconds since boot. Both are read together now and then; what lies
 * between two readings is in proportion to them, so that it follows the kernel's clock wherever that is steered.
 */
#ifndef STRATA_INJECT_TICKS_H
#define STRATA_INJECT_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#define TICKS_READINGS 64

struct ticks_reading {
	uint64_t ticks, ns;
};

struct ticks {
	bool same; /* ticks are nanoseconds since boot already */
	uint32_t count;
	struct ticks_reading readings[TICKS_READINGS]; /* the oldest first */
};

/* Whether the counter never stops, nor changes its pace, and is the same on all CPUs, by what the kernel says. */
bool ticks_usable(void);

void ticks_open(struct ticks *ticks, bool usable);

/* Reads both, unless that was done a moment ago. */
void ticks_read(struct ticks *ticks);

/* Nanoseconds in 2^shift ticks, by the two last readings that are far enough from each other. */
uint64_t ticks_pace(const struct ticks *ticks, uint32_t shift);

uint64_t ticks_to_ns(const struct ticks *ticks, uint64_t at);			/* since boot */
uint64_t ticks_length(const struct ticks *ticks, uint64_t at, uint64_t length); /* from `at` on */

#endif
