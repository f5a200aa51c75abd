/* The single events of a timeline: two bounded heaps, the least important event on top. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/timeline_load.h"

static uint64_t weight_of(const struct timeline_event *event, bool by_bytes)
{
	return by_bytes ? event->bytes : event->dur;
}

static void heap_sink(struct timeline_event *heap, size_t count, bool by_bytes)
{
	size_t at = 0;

	for (;;) {
		size_t least = at, child = 2 * at + 1;
		struct timeline_event kept;

		for (size_t i = child; i < child + 2 && i < count; i++)
			if (weight_of(&heap[i], by_bytes) < weight_of(&heap[least], by_bytes))
				least = i;
		if (least == at)
			return;
		kept = heap[at];
		heap[at] = heap[least];
		heap[least] = kept;
		at = least;
	}
}

static int heap_add(struct buf *memory, const struct timeline_event *event, size_t most,
		    bool by_bytes, struct timeline_event *pushed)
{
	struct timeline_event *heap = (struct timeline_event *)memory->data;
	size_t count = memory->size / sizeof(*heap);

	*pushed = (struct timeline_event){ 0 };
	if (count == most) {
		if (weight_of(event, by_bytes) <= weight_of(heap, by_bytes)) {
			*pushed = *event;
			return 0;
		}
		*pushed = heap[0];
		heap[0] = *event;
		heap_sink(heap, count, by_bytes);
		return 0;
	}
	if (buf_append(memory, event, sizeof(*event)))
		return -ENOMEM;
	heap = (struct timeline_event *)memory->data;
	for (size_t at = count;
	     at && weight_of(&heap[at], by_bytes) < weight_of(&heap[(at - 1) / 2], by_bytes);) {
		struct timeline_event kept = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = kept;
		at = (at - 1) / 2;
	}
	return 0;
}

int timeline_keep_event(struct timeline *timeline, const struct timeline_event *event)
{
	struct timeline_event pushed, ignored;

	timeline->seen++;
	if (heap_add(&timeline->longest, event, TIMELINE_EVENTS, false, &pushed))
		return -ENOMEM;
	if (!pushed.bytes)
		return 0;
	return heap_add(&timeline->largest, &pushed, TIMELINE_LARGEST, true, &ignored);
}

static void move_events(struct buf *memory, const uint8_t *place)
{
	struct timeline_event *events = (struct timeline_event *)memory->data;

	for (size_t i = 0; i < memory->size / sizeof(*events); i++)
		events[i].lane = place[events[i].lane];
}

void timeline_move_events(struct timeline *timeline, const uint8_t *place)
{
	move_events(&timeline->longest, place);
	move_events(&timeline->largest, place);
}

static int compare_events(const void *a, const void *b)
{
	const struct timeline_event *left = a, *right = b;

	return left->ts < right->ts ? -1 : left->ts > right->ts;
}

int timeline_finish_events(struct timeline *timeline)
{
	if (timeline->largest.size &&
	    buf_append(&timeline->longest, timeline->largest.data, timeline->largest.size))
		return -ENOMEM;
	timeline->events = (struct timeline_event *)timeline->longest.data;
	timeline->event_count = timeline->longest.size / sizeof(*timeline->events);
	if (timeline->event_count)
		qsort(timeline->events, timeline->event_count, sizeof(*timeline->events),
		      compare_events);
	return 0;
}
