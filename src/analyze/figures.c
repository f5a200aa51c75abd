#include "analyze/figures.h"

#include <errno.h>
#include <stdlib.h>

const char *const amount_names[] = { "ns", "bytes", "count" };

const struct figure_info figure_infos[FIGURE_COUNT] = {
#define FIGURE_INFO(name, layer, unit, doc) { #name, doc, LAYER_##layer, AMOUNT_##unit },
	FIGURES(FIGURE_INFO)
#undef FIGURE_INFO
};

static int compare_bounds(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

int segments_open(struct segments *segments, const struct phases *phases, const struct span *window)
{
	size_t used = 0, unique = 1;
	uint64_t *bounds = calloc(2 * phases->count + 3, sizeof(*bounds));

	*segments = (struct segments){ .bounds = bounds };
	if (!bounds)
		return -ENOMEM;
	bounds[used++] = window->start;
	bounds[used++] = window->end;
	for (size_t i = 0; i < phases->count; i++) {
		uint64_t ends[] = { phases->list[i].start, phases->list[i].end };

		for (unsigned j = 0; j < 2; j++)
			if (ends[j] > window->start && ends[j] < window->end)
				bounds[used++] = ends[j];
	}
	qsort(bounds, used, sizeof(*bounds), compare_bounds);
	for (size_t i = 1; i < used; i++)
		if (bounds[i] != bounds[unique - 1])
			bounds[unique++] = bounds[i];
	if (unique == 1) /* a run of no length */
		bounds[unique++] = bounds[0] + 1;
	segments->count = unique - 1;
	segments->figures = calloc(segments->count, sizeof(*segments->figures));
	return segments->figures ? 0 : -ENOMEM;
}

void segments_close(struct segments *segments)
{
	free(segments->bounds);
	free(segments->figures);
	*segments = (struct segments){ 0 };
}

/* The segment of a moment inside the window. What happens at its very end is inside. */
static size_t segment_of(const struct segments *segments, uint64_t ts)
{
	size_t low = 0, high = segments->count;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (segments->bounds[middle] <= ts)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct figures *segments_at(struct segments *segments, uint64_t ts)
{
	const uint64_t *bounds = segments->bounds;

	if (ts < bounds[0] || ts > bounds[segments->count])
		return NULL;
	if (ts < bounds[segments->last] || ts >= bounds[segments->last + 1])
		segments->last = segment_of(segments, ts);
	return &segments->figures[segments->last];
}

void segments_add_time(struct segments *segments, size_t field, uint64_t from, uint64_t to)
{
	const uint64_t *bounds = segments->bounds;

	if (from < bounds[0])
		from = bounds[0];
	if (to > bounds[segments->count])
		to = bounds[segments->count];
	if (from >= to)
		return;
	for (size_t i = segment_of(segments, from); i < segments->count && bounds[i] < to; i++) {
		uint64_t start = from > bounds[i] ? from : bounds[i];
		uint64_t end = to < bounds[i + 1] ? to : bounds[i + 1];

		((uint64_t *)&segments->figures[i])[field] += end - start;
	}
}

struct figures segments_sum(const struct segments *segments, uint64_t start, uint64_t end)
{
	struct figures sum = { 0 };

	for (size_t i = 0; i < segments->count; i++) {
		if (segments->bounds[i] < start || segments->bounds[i + 1] > end)
			continue;
		for (size_t field = 0; field < FIGURE_COUNT; field++)
			((uint64_t *)&sum)[field] += ((uint64_t *)&segments->figures[i])[field];
	}
	return sum;
}
