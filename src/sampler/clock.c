#include "sampler/clock.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"

#define TRIES	5
#define FAR_OFF 8000000000 /* seconds since 1970: the year 2223 */

void clock_open(struct clock_sampler *clock)
{
	struct itimerspec never = { .it_value.tv_sec = FAR_OFF };

	*clock = (struct clock_sampler){
		.fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC),
	};
	if (clock->fd >= 0 &&
	    timerfd_settime(clock->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL))
		clock_close(clock);
}

void clock_close(struct clock_sampler *clock)
{
	if (clock->fd >= 0)
		close(clock->fd);
	clock->fd = -1;
}

/* Whether the wall clock was set since this was asked last. */
static bool clock_was_set(const struct clock_sampler *clock)
{
	uint64_t ignored;

	return clock->fd >= 0 && read(clock->fd, &ignored, sizeof(ignored)) < 0 &&
	       errno == ECANCELED;
}

/* The clocks cannot be read at one instant: read boot time on both sides of the others and take its
 * middle. */
static struct clock_triple clock_read(void)
{
	struct clock_triple reading;
	uint64_t before = clock_boot(), after;

	reading.realtime = clock_now(CLOCK_REALTIME);
	reading.monotonic = clock_monotonic();
	after = clock_boot();
	reading.boot = before + (after - before) / 2;
	reading.width = after - before;
	return reading;
}

static struct clock_triple clock_read_well(void)
{
	struct clock_triple best = clock_read();

	for (int i = 1; i < TRIES; i++) {
		struct clock_triple next = clock_read();

		if (next.width < best.width)
			best = next;
	}
	return best;
}

static void clock_add(struct sink *sink, const struct clock_triple *reading)
{
	struct builder *row = sink_table(sink, TABLE_clock);

	if (!row)
		return;
	builder_set(row, column_clock_ts, (int64_t)reading->boot);
	builder_set(row, column_clock_realtime, (int64_t)reading->realtime);
	builder_set(row, column_clock_monotonic, (int64_t)reading->monotonic);
	sink_end_row(sink, TABLE_clock);
}

void clock_sample(struct clock_sampler *clock, struct sink *sink)
{
	bool set = clock_was_set(clock);
	struct clock_triple now = clock_read_well(), unset = now;

	for (int i = 0; i < TRIES && clock_was_set(clock); i++) { /* maybe among those reads */
		set = true;
		now = clock_read_well();
	}
	if (set && clock->last.boot) {
		unset.boot = now.boot - 1;
		unset.monotonic = now.monotonic - 1;
		unset.realtime = unset.boot + clock_offset(clock);
		clock_add(sink, &unset);
	}
	clock_add(sink, &now);
	clock->last = now;
}

uint64_t clock_offset(const struct clock_sampler *clock)
{
	return clock->last.realtime - clock->last.boot;
}
