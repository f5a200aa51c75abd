/* Boot time and local time, as a script that compares them needs it: two lines at each full second of the clock, the last
 * nanosecond before it and the second itself. When a second began is then known to a nanosecond, whatever the interval of
 * the readings was. One more second after the recording's end is told, so that there is always one.
 */
#include <errno.h>

#include "base/units.h"
#include "render/classic.h"

/* Seconds are told this far from a reading, in which time any recording has another one: what a trace says of years
 * without any is not believed. */
#define FAR (64 * NS_PER_SECOND)

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

		err = 0;
		if (ts != (uint64_t)CELL_NULL && buf_append(&readings->times, &ts, sizeof(ts)))
			err = error_set(e, -ENOMEM, "out of memory");
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

/* The reading after ts; 0: none. */
static uint64_t reading_after(struct readings *readings, uint64_t ts)
{
	const uint64_t *times = (const uint64_t *)readings->times.data;
	size_t count = readings->times.size / sizeof(*times);

	while (readings->next < count && times[readings->next] <= ts)
		readings->next++;
	return readings->next < count ? times[readings->next] : 0;
}

/* The first moment after ts at which the clock showed another second; 0: it never did, as only that of a broken trace. */
static uint64_t next_second(const struct classic *c, struct readings *readings, uint64_t ts)
{
	uint64_t second = second_at(c, ts), low = ts, high;

	for (unsigned after = 0;; low = high) {
		high = reading_after(readings, low);
		/* After the last one the clock runs as boot time does. */
		if (!high && after++)
			return 0;
		if (!high)
			high = low + NS_PER_SECOND;
		if (second_at(c, high) != second)
			break;
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

/* Where the next second is to be looked for: mostly ts itself. */
static uint64_t skip_far(struct readings *readings, uint64_t ts)
{
	uint64_t after = reading_after(readings, ts);
	const uint64_t *times = (const uint64_t *)readings->times.data;

	if (readings->next && ts - times[readings->next - 1] < FAR)
		return ts;
	if (after && after - ts < FAR)
		return ts;
	return after ? after : INT64_MAX;
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

	while (!err && readings.times.size && ts < INT64_MAX) {
		ts = next_second(c, &readings, ts);
		if (!ts)
			break;
		write_reading(c, ts - 1);
		write_reading(c, ts);
		if (ts >= end || c->out->error)
			break;
		ts = skip_far(&readings, ts);
	}
	buf_free(&readings.times);
	return err;
}
