#include "store/times.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/units.h"
#include "schema/schema.h"

static bool times_fact(const struct dims *dims, const char *key, uint64_t *ts)
{
	const char *text = dims_run(dims, key);

	return text && !units_parse_count(text, ts);
}

int times_span(struct reader *reader, const struct dims *dims, struct span *span, struct error *e)
{
	bool has_start = times_fact(dims, "start_ts", &span->start);
	bool has_end = times_fact(dims, "stop_ts", &span->end);
	uint64_t first = UINT64_MAX, last = 0;
	struct chunk *chunks;
	size_t count;
	int err;

	if (has_start && has_end)
		return 0;
	err = reader_select(reader, TABLE_COUNT, 0, UINT64_MAX, &chunks, &count, e);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		/* Of the dimensions only rows of others know when they were met. */
		if (schema_tables[chunks[i].table].kind == KIND_DIMENSION)
			continue;
		if (chunks[i].first_ts < first)
			first = chunks[i].first_ts;
		if (chunks[i].last_end > last)
			last = chunks[i].last_end;
	}
	free(chunks);
	if (!has_start)
		span->start = first == UINT64_MAX ? 0 : first;
	if (!has_end)
		span->end = last > span->start ? last : span->start;
	return 0;
}

int times_parse(const char *text, uint64_t start, const struct dims *dims, uint64_t *ts,
		struct error *e)
{
	uint64_t value;

	if (!units_parse_duration(text, &value)) {
		*ts = value > UINT64_MAX - start ? UINT64_MAX : start + value;
		return 0;
	}
	if (units_parse_utc(text, &value))
		return error_set(e, -EINVAL,
				 "'%s' is not a time: give seconds since the start (1.5, 200ms) or "
				 "UTC (2026-11-15T03:57:25.5Z)",
				 text);
	if (clocks_boot(dims_clocks(dims), value, ts))
		return error_set(e, -ENODATA,
				 "the trace has no reading of the clocks to find '%s' by: give "
				 "seconds since the start instead",
				 text);
	return 0;
}
