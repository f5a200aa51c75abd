/* Inside the timeline: its parts while it is loaded. */
#ifndef STRATA_ANALYZE_TIMELINE_LOAD_H
#define STRATA_ANALYZE_TIMELINE_LOAD_H

#include "analyze/timeline.h"

static inline size_t timeline_slice(const struct timeline *timeline, uint64_t ts)
{
	size_t slice =
		(size_t)((double)(ts - timeline->context->window.start) / timeline->slice_ns);

	return slice < TIMELINE_SLICES ? slice : TIMELINE_SLICES - 1;
}

/* Keeps the longest; what they push out may still be among the largest. */
int timeline_keep_event(struct timeline *timeline, const struct timeline_event *event);
/* Lanes have been put into another order: place is where each is now. Before they are finished. */
void timeline_move_events(struct timeline *timeline, const uint8_t *place);
int timeline_finish_events(struct timeline *timeline);

int timeline_take_cpu(void *state, const struct rows *rows);
int timeline_take_disk(void *state, const struct rows *rows);
int timeline_take_gpu(void *state, const struct rows *rows);
void timeline_finish_series(struct timeline *timeline);

#endif
