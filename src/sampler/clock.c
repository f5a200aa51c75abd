#include "sampler/clock.h"

#include "base/clock.h"

#define TRIES 5

struct reading {
	uint64_t boot, monotonic, realtime, width;
};

/* The clocks cannot be read at one instant: read boot time on both sides of the others and take its
 * middle. */
static struct reading clock_read(void)
{
	struct reading reading;
	uint64_t before = clock_boot(), after;

	reading.realtime = clock_now(CLOCK_REALTIME);
	reading.monotonic = clock_monotonic();
	after = clock_boot();
	reading.boot = before + (after - before) / 2;
	reading.width = after - before;
	return reading;
}

void clock_sample(struct sink *sink)
{
	struct builder *row = sink_table(sink, TABLE_clock);
	struct reading best = clock_read();

	if (!row)
		return;
	for (int i = 1; i < TRIES; i++) {
		struct reading next = clock_read();

		if (next.width < best.width)
			best = next;
	}
	builder_set(row, column_clock_ts, (int64_t)best.boot);
	builder_set(row, column_clock_realtime, (int64_t)best.realtime);
	builder_set(row, column_clock_monotonic, (int64_t)best.monotonic);
	sink_end_row(sink, TABLE_clock);
}
