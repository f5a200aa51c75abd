/* Boot time and local time, as a script that compares them needs it: two lines at each full second of the clock, the last
 * nanosecond before it and the second itself. When a second began is then known to a nanosecond, whatever the interval of
 * the readings was. One more second after the recording's end is told, so that there is always one.
 */
#include <errno.h>

#include "base/units.h"
#include "render/classic.h"

/* Of a recording. A trace that says it is longer is not believed. */
#define MOST_SECONDS (366u * 86400)

/* Between two readings the clock runs evenly, if perhaps backwards: only at one can it step. */
struct readings {
	struct buf times; /* uint64_t each, boot time */
	size_t next;	  /* the first that the search has not passed */
};

static int load_readings(struct classic *c, struct readings *readings, struct error *e)
{
	struct rows *rows = NULL;
	int err = rows_open(&rows, c->run->reader, TABLE_clock, 1u << column_clock_ts, 0,
			    UINT64_MAX, e);

	while (!err && (err = rows_next(rows, e)) > 0) {
		uint64_t ts = (uint64_t)rows_cell(rows, column_clock_ts);

		err = buf_append(&readings->times, &ts, sizeof(ts))
			      ? error_set(e, -ENOMEM, "out of memory")
			      : 0;
	}
	rows_close(rows);
	return err;
}

static uint64_t second_at(const struct classic *c, uint64_t ts)
{
	uint64_t realtime = 0;

	dims_utc(c->run->dims, ts, &realtime);
	return realtime / NS_PER_SECOND;
}

/* Up to where the clock runs evenly, but no further than a second. */
static uint64_t even_until(struct readings *readings, uint64_t ts)
{
	const uint64_t *times = (const uint64_t *)readings->times.data;
	size_t count = readings->times.size / sizeof(*times);

	while (readings->next < count && times[readings->next] <= ts)
		readings->next++;
	if (readings->next < count && times[readings->next] < ts + NS_PER_SECOND)
		return times[readings->next];
	return ts + NS_PER_SECOND;
}

/* The first moment after ts at which the clock showed another second. */
static uint64_t next_second(const struct classic *c, struct readings *readings, uint64_t ts)
{
	uint64_t second = second_at(c, ts), low = ts, high = even_until(readings, ts);

	while (second_at(c, high) == second) {
		low = high;
		high = even_until(readings, low);
	}
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (second_at(c, middle) == second)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static void write_reading(struct classic *c, uint64_t ts)
{
	char clock[16];

	classic_clock(c, ts, clock);
	field_uint(c, ts);
	field_printf(c, "%s", clock);
	line_write(c);
	c->rows++;
}

int classic_time_align(struct classic *c, struct error *e)
{
	const struct export_run *run = c->run;
	uint64_t end = run->to < run->span.end ? run->to : run->span.end;
	uint64_t ts = run->from > run->span.start ? run->from : run->span.start;
	struct readings readings = { 0 };
	int err = load_readings(c, &readings, e);

	for (unsigned i = 0; i < MOST_SECONDS && readings.times.size && !err; i++) {
		ts = next_second(c, &readings, ts);
		write_reading(c, ts - 1);
		write_reading(c, ts);
		if (ts >= end || c->out->error)
			break;
	}
	buf_free(&readings.times);
	return err;
}
