/* See answer.h. */
#include "cluster/select/answer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

struct select_node *select_add_node(struct select_answer *answer, const char *name)
{
	struct select_node *nodes = realloc(answer->nodes, (answer->count + 1) * sizeof(*nodes));

	if (!nodes)
		return NULL;
	answer->nodes = nodes;
	nodes[answer->count] = (struct select_node){ 0 };
	snprintf(nodes[answer->count].name, SELECT_NAME, "%s", name);
	return &nodes[answer->count++];
}

void select_node_free(struct select_node *node)
{
	for (unsigned i = 0; i < node->series_count; i++)
		free(node->series[i].points);
	free(node->series);
	node->series = NULL;
	node->series_count = 0;
}

void select_answer_free(struct select_answer *answer)
{
	for (unsigned i = 0; i < answer->count; i++)
		select_node_free(&answer->nodes[i]);
	free(answer->nodes);
	*answer = (struct select_answer){ 0 };
}

/* Boundaries are multiples of `every` since 1970, so that those of all nodes are the same. */
int select_windows_of(const struct select_query *query, uint64_t start, uint64_t end,
		      struct select_windows *windows, struct error *e)
{
	uint64_t every = query->every, count;

	*windows = (struct select_windows){ .start = start, .length = end - start, .count = 1 };
	if (!every)
		return 0;
	windows->start = start - start % every;
	windows->length = every;
	count = end > windows->start ? (end - windows->start + every - 1) / every : 0;
	if (count > SELECT_POINTS)
		return error_set(e, -E2BIG, "that are %llu points: ask for fewer than %d",
				 (unsigned long long)count, SELECT_POINTS);
	windows->count = (unsigned)count;
	return 0;
}

#define BOUND_SLACK 20000000u /* ns; a fifth of the shortest interval */

uint64_t select_bound(const struct select_query *query, uint64_t end)
{
	uint64_t bound = end > BOUND_SLACK ? end - BOUND_SLACK : 0;

	return query->until && query->until < bound ? query->until : bound;
}

/* The last slot has no end: of what lies there only its beginning is known. */
double select_quantile(const uint64_t slots[LIVE_SLOTS], double q)
{
	double total = 0, before = 0, rank;
	unsigned slot = 0;

	for (unsigned i = 0; i < LIVE_SLOTS; i++)
		total += (double)slots[i];
	if (total == 0)
		return NAN;
	rank = q * total;
	while (slot < LIVE_SLOTS - 1 && before + (double)slots[slot] < rank)
		before += (double)slots[slot++];
	if (slot == LIVE_SLOTS - 1)
		return ldexp(1, (int)slot);
	if (!slots[slot])
		return slot ? ldexp(1, (int)slot) : 0;
	return (slot ? ldexp(1, (int)slot) : 0) +
	       (ldexp(1, (int)slot + 1) - (slot ? ldexp(1, (int)slot) : 0)) *
		       ((rank - before) / (double)slots[slot]);
}

static void finish_slots(const struct select_metric *metric, const struct select_cell *cell,
			 struct select_point *point)
{
	double seconds = (double)point->covered / 1e9;

	point->slot_count = 0;
	point->known = point->covered > 0;
	for (unsigned i = 0; i < LIVE_SLOTS; i++) {
		point->slots[i] = (double)cell->slots[i];
		if (metric->form == SELECT_AVG && seconds > 0)
			point->slots[i] /= seconds;
		if (cell->slots[i])
			point->slot_count = i + 1;
	}
}

static double finish_histogram(enum select_form form, const struct select_cell *cell)
{
	switch (form) {
	case SELECT_COUNT: return (double)cell->count;
	case SELECT_MEAN: return cell->count ? (double)cell->sum / (double)cell->count / 1e3 : NAN;
	case SELECT_P50: return select_quantile(cell->slots, 0.5);
	case SELECT_P90: return select_quantile(cell->slots, 0.9);
	case SELECT_P99: return select_quantile(cell->slots, 0.99);
	case SELECT_MAX: return cell->count ? (double)cell->most / 1e3 : NAN;
	default: return NAN;
	}
}

static double finish_sum(enum select_form form, const struct select_cell *cell, uint64_t covered)
{
	if (form == SELECT_AVG)
		return covered ? cell->value / ((double)covered / 1e9) : NAN;
	return cell->value;
}

static double finish_gauge(enum select_form form, const struct select_cell *cell)
{
	if (!cell->any || !cell->weight)
		return NAN;
	return form == SELECT_MAX ? cell->greatest : cell->value / (double)cell->weight;
}

void select_finish(const struct select_metric *metric, const struct select_cell *cell,
		   struct select_point *point)
{
	if (select_is_slots(metric)) {
		finish_slots(metric, cell, point);
		return;
	}
	switch (metrics[metric->metric].kind) {
	case METRIC_KIND_HISTOGRAM: point->value = finish_histogram(metric->form, cell); break;
	case METRIC_KIND_SUM: point->value = finish_sum(metric->form, cell, point->covered); break;
	case METRIC_KIND_GAUGE: point->value = finish_gauge(metric->form, cell); break;
	}
	point->known = point->covered > 0 && isfinite(point->value);
}

const char *select_slot_name(unsigned slot, char out[48])
{
	uint64_t low = slot ? 1ull << slot : 0;

	snprintf(out, 48, "%llu-%llu", (unsigned long long)low,
		 (unsigned long long)((2ull << slot) - 1));
	return out;
}
