/* The readings of a trace's clocks, and the way from boot time to UTC and back.
 *
 * Between two readings UTC runs on a line, so that drift is followed. A wall clock that was set does not: a
 * recording has two readings a nanosecond apart there. Where two readings differ by more than a clock can be slewed, as
 * in traces without such a pair, the offset of the first holds until the second.
 */
#ifndef STRATA_STORE_CLOCKS_H
#define STRATA_STORE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct clock_reading {
	uint64_t ts, realtime;
};

/* In order of ts. */
struct clocks {
	struct buf readings; /* struct clock_reading */
};

/* Whether the wall clock was set between two readings: it moved against boot time by more than an eighth of what passed,
 * while the kernel slews it by a tenth at most. */
bool clocks_step(const struct clock_reading *before, const struct clock_reading *after);

/* CLOCK_REALTIME at a boot time; beyond the first and last reading their offset holds. -ENODATA without any reading. */
int clocks_utc(const struct clocks *clocks, uint64_t ts, uint64_t *realtime);

/* The least boot time at which the clock showed `realtime` or more. -ENODATA without any reading. */
int clocks_boot(const struct clocks *clocks, uint64_t realtime, uint64_t *ts);

#endif
