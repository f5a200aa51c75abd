#include "store/clocks.h"

#include <errno.h>

#define LEAST_STEP 10000 /* ns: two readings are not that exact */

static const struct clock_reading *reading_at(const struct clocks *clocks, size_t i)
{
	return (const struct clock_reading *)clocks->readings.data + i;
}

static size_t reading_count(const struct clocks *clocks)
{
	return clocks->readings.size / sizeof(struct clock_reading);
}

bool clocks_step(const struct clock_reading *before, const struct clock_reading *after)
{
	uint64_t passed = after->ts - before->ts;
	int64_t moved = (int64_t)(after->realtime - before->realtime - passed);
	uint64_t size = (uint64_t)(moved < 0 ? -moved : moved);

	return size > LEAST_STEP && size > passed / 8;
}

/* The first reading later than ts. */
static size_t find_reading(const struct clocks *clocks, uint64_t ts)
{
	size_t low = 0, high = reading_count(clocks);

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (reading_at(clocks, middle)->ts <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int clocks_utc(const struct clocks *clocks, uint64_t ts, uint64_t *realtime)
{
	size_t count = reading_count(clocks), next;
	const struct clock_reading *a, *b;
	__int128 part;

	if (!count)
		return -ENODATA;
	next = find_reading(clocks, ts);
	a = reading_at(clocks, next ? next - 1 : 0);
	b = next && next < count ? reading_at(clocks, next) : NULL;
	if (!b || clocks_step(a, b)) {
		*realtime = a->realtime + (ts - a->ts);
		return 0;
	}
	part = (__int128)(int64_t)(b->realtime - a->realtime) * (__int128)(ts - a->ts);
	*realtime = a->realtime + (uint64_t)(part / (__int128)(b->ts - a->ts));
	return 0;
}

/* The first reading by which the clock had shown `realtime`: at it, or just before it, if it was set back there. */
static size_t first_to_show(const struct clocks *clocks, uint64_t realtime)
{
	size_t i = 0;
	uint64_t just_before;

	for (; i < reading_count(clocks); i++) {
		const struct clock_reading *reading = reading_at(clocks, i);

		if (reading->realtime >= realtime)
			break;
		if (i && reading->ts && !clocks_utc(clocks, reading->ts - 1, &just_before) &&
		    just_before >= realtime)
			break;
	}
	return i;
}

/* A machine boots after 1970, so that its boot time is the lesser of the two. */
int clocks_boot(const struct clocks *clocks, uint64_t realtime, uint64_t *ts)
{
	size_t count = reading_count(clocks), shown;
	uint64_t low, high, there;

	if (!count)
		return -ENODATA;
	/* Between two readings the clock only runs forward. */
	shown = first_to_show(clocks, realtime);
	low = shown ? reading_at(clocks, shown - 1)->ts : 0;
	high = shown < count ? reading_at(clocks, shown)->ts : realtime;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		clocks_utc(clocks, middle, &there);
		if (there >= realtime)
			high = middle;
		else
			low = middle + 1;
	}
	*ts = low;
	return 0;
}
