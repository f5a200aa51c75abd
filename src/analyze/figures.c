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
	segments->begun = calloc(segments->count + 1, sizeof(*segments->begun));
	return segments->figures && segments->begun ? 0 : -ENOMEM;
}

void segments_close(struct segments *segments)
{
	free(segments->bounds);
	free(segments->figures);
	free(segments->begun);
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

static uint64_t *time_at(struct segments *segments, size_t i, size_t field)
{
	return &((uint64_t *)&segments->figures[i])[field];
}

void segments_add_time(struct segments *segments, size_t field, uint64_t from, uint64_t to)
{
	const uint64_t *bounds = segments->bounds;
	size_t first, last;

	if (from < bounds[0])
		from = bounds[0];
	if (to > bounds[segments->count])
		to = bounds[segments->count];
	if (from >= to)
		return;
	first = segment_of(segments, from);
	last = segment_of(segments, to - 1);
	if (first == last) {
		*time_at(segments, first, field) += to - from;
		return;
	}
	*time_at(segments, first, field) += bounds[first + 1] - from;
	*time_at(segments, last, field) += to - bounds[last];
	segments->begun[first + 1][field]++;
	segments->begun[last][field]--;
}

void segments_settle(struct segments *segments)
{
	for (size_t i = 0; i < segments->count; i++)
		for (size_t field = 0; field < FIGURE_COUNT; field++) {
			uint64_t *sum = time_at(segments, i, field);

			if (field < FIGURE_TIMES) {
				segments->begun[i][field] += i ? segments->begun[i - 1][field] : 0;
				*sum += segments->begun[i][field] *
					(segments->bounds[i + 1] - segments->bounds[i]);
			}
			*sum += i ? *time_at(segments, i - 1, field) : 0;
		}
}

/* How many segments end at `ts` or before. */
static size_t ended_by(const struct segments *segments, uint64_t ts)
{
	size_t low = 0, high = segments->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (segments->bounds[middle + 1] <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct figures segments_sum(const struct segments *segments, uint64_t start, uint64_t end)
{
	size_t before = ended_by(segments, start), until = ended_by(segments, end);
	struct figures sum = { 0 };

	if (until <= before)
		return sum;
	sum = segments->figures[until - 1];
	for (size_t field = 0; field < FIGURE_COUNT && before; field++)
		((uint64_t *)&sum)[field] -= ((uint64_t *)&segments->figures[before - 1])[field];
	return sum;
}
