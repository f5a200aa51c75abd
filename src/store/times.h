/* When a recording began and ended, and the times that people give on the command line. */
#ifndef STRATA_STORE_TIMES_H
#define STRATA_STORE_TIMES_H

#include <stdint.h>

#include "base/error.h"
#include "store/dims.h"
#include "store/reader.h"

/* The time that the recording spans, in nanoseconds since boot: as the recorder stated it, or,
 * after a crash, as far as its rows reach. */
struct span {
	uint64_t start, end;
};

static inline uint64_t span_length(const struct span *span)
{
	return span->end - span->start;
}

int times_span(struct reader *reader, const struct dims *dims, struct span *span, struct error *e);

/* A time as given: since `start` ("1.5", "1.5s", "200ms") or UTC ("2026-11-15T03:57:25.5Z").
 * -EINVAL when it is neither, -ENODATA for UTC when the trace has no reading of the clocks. */
int times_parse(const char *text, uint64_t start, const struct dims *dims, uint64_t *ts,
		struct error *e);

#endif
