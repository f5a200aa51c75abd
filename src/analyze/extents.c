#include "analyze/extents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct extent {
	uint64_t from, to;
};

/* The first range that ends at or after `from`. */
static uint32_t first_touching(const struct extents *extents, uint64_t from)
{
	uint32_t low = 0, high = extents->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (extents->list[middle].to < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int make_room(struct extents *extents)
{
	uint32_t capacity = extents->capacity ? extents->capacity * 2 : 1;
	struct extent *list;

	if (extents->count < extents->capacity)
		return 0;
	list = reallocarray(extents->list, capacity, sizeof(*list));
	if (!list)
		return -ENOMEM;
	extents->list = list;
	extents->capacity = capacity;
	return 0;
}

int extents_add(struct extents *extents, uint64_t from, uint64_t to, uint64_t *again)
{
	struct extent merged = { from, to };
	uint32_t first, last;

	*again = 0;
	if (from >= to || extents->gave_up)
		return 0;
	first = last = first_touching(extents, from);
	for (; last < extents->count && extents->list[last].from <= to; last++) {
		const struct extent *extent = &extents->list[last];
		uint64_t start = extent->from > from ? extent->from : from;
		uint64_t end = extent->to < to ? extent->to : to;

		*again += end > start ? end - start : 0;
		if (extent->from < merged.from)
			merged.from = extent->from;
		if (extent->to > merged.to)
			merged.to = extent->to;
	}
	if (first == last) {
		if (extents->count == EXTENTS_MOST) {
			extents->gave_up = true;
			return 0;
		}
		if (make_room(extents))
			return -ENOMEM;
		memmove(extents->list + first + 1, extents->list + first,
			(extents->count - first) * sizeof(merged));
		extents->count++;
	} else if (last - first > 1) {
		memmove(extents->list + first + 1, extents->list + last,
			(extents->count - last) * sizeof(merged));
		extents->count -= last - first - 1;
	}
	extents->list[first] = merged;
	return 0;
}

void extents_free(struct extents *extents)
{
	free(extents->list);
	*extents = (struct extents){ 0 };
}
