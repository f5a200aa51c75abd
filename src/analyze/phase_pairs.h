/* Which stop belongs to which start, and which mark follows which: what becomes a phase, found in the order of time with a
 * queue for each name, so that a million marks take a second.
 *
 * The stop of a start is the first after it of its name and source that no other start has taken, with its number where
 * both have one. A mark without a length lasts until the next such mark of its name.
 */
#ifndef STRATA_ANALYZE_PHASE_PAIRS_H
#define STRATA_ANALYZE_PHASE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mllog.h"

/* Something that a log or a mark said, on its way to a phase. */
struct said {
	uint64_t ts, end; /* end: of a span */
	enum mllog_kind kind;
	bool span;
	char stem[64];
	char number[32];
	char source[8];
};

#define PAIRS_NONE SIZE_MAX

struct pairs;

/* The events are in order of ts and outlive it. 0 or -ENOMEM. */
int pairs_open(struct pairs **pairs, const struct said *events, size_t count);
void pairs_close(struct pairs *pairs);

/* The stop of the start at i, which is then taken; starts are asked for in their order. */
size_t pairs_take_stop(struct pairs *pairs, size_t i);
bool pairs_taken(const struct pairs *pairs, size_t i);

/* The next point of the name of the one at i. */
size_t pairs_next_point(const struct pairs *pairs, size_t i);

#endif
