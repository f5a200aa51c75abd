#include "render/pfw_lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

#define MAX_DEPTH 16

struct lane {
	uint64_t end;
	uint64_t number;
};

struct pfw_thread {
	uint64_t ends[MAX_DEPTH]; /* of the events under way, the innermost last */
	unsigned depth;
	struct buf lanes; /* struct lane */
};

void pfw_lanes_open(struct pfw_lanes *lanes)
{
	*lanes = (struct pfw_lanes){ .next = PFW_FIRST_LANE };
}

void pfw_lanes_close(struct pfw_lanes *lanes)
{
	size_t at = 0;

	for (uint64_t *value; (value = map_next(&lanes->threads, &at));) {
		struct pfw_thread *thread = (struct pfw_thread *)(uintptr_t)*value;

		if (thread)
			buf_free(&thread->lanes);
		free(thread);
	}
	map_free(&lanes->threads);
}

static struct pfw_thread *thread_of(struct pfw_lanes *lanes, int64_t key, bool *fresh)
{
	uint64_t *value = map_add(&lanes->threads, (uint64_t)key, fresh);

	if (value && *fresh)
		*value = (uintptr_t)calloc(1, sizeof(struct pfw_thread));
	if (!value || !*value) {
		lanes->error = -ENOMEM;
		return NULL;
	}
	return (struct pfw_thread *)(uintptr_t)*value;
}

static uint64_t lane_place(struct pfw_lanes *lanes, struct pfw_thread *thread, uint64_t ts,
			   uint64_t end)
{
	struct lane *items = (struct lane *)thread->lanes.data;
	struct lane lane = { .end = end };

	for (size_t i = 0; i < thread->lanes.size / sizeof(lane); i++)
		if (items[i].end <= ts) {
			items[i].end = end;
			return items[i].number;
		}
	lane.number = lanes->next++;
	if (buf_append(&thread->lanes, &lane, sizeof(lane)))
		lanes->error = -ENOMEM;
	return lane.number;
}

uint64_t pfw_lanes_take(struct pfw_lanes *lanes, int64_t key, uint64_t ts, uint64_t end,
			bool *fresh)
{
	struct pfw_thread *thread = thread_of(lanes, key, fresh);

	return thread ? lane_place(lanes, thread, ts, end) : 0;
}

uint64_t pfw_lanes_nest(struct pfw_lanes *lanes, int64_t tid, uint64_t ts, uint64_t end,
			bool *fresh)
{
	struct pfw_thread *thread = thread_of(lanes, tid, fresh);

	if (!thread)
		return 0;
	while (thread->depth && thread->ends[thread->depth - 1] <= ts)
		thread->depth--;
	if (thread->depth == MAX_DEPTH || (thread->depth && end > thread->ends[thread->depth - 1]))
		return lane_place(lanes, thread, ts, end);
	thread->ends[thread->depth++] = end;
	return (uint64_t)tid;
}
