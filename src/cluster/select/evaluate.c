/* See evaluate.h. */
#include "cluster/select/evaluate.h"

#include <errno.h>
#include <stdlib.h>

#include "cluster/select/gather.h"

struct evaluation {
	struct gather gather;
	struct error *e;
};

static int add_sample(void *context, const struct metric_sample *sample)
{
	struct evaluation *evaluation = context;
	const struct select_windows *windows = &evaluation->gather.windows;
	uint64_t window = sample->start < windows->start
				  ? 0
				  : (sample->start - windows->start) / windows->length;
	struct select_cell *cell;

	if (window >= windows->count)
		return 0;
	cell = gather_cell(&evaluation->gather, sample->metric, sample->label, sample->op,
			   (unsigned)window, evaluation->e);
	if (!cell)
		return -ENOMEM;
	if (metrics[sample->metric].kind == METRIC_KIND_HISTOGRAM) {
		for (unsigned i = 0; i < LIVE_SLOTS; i++)
			cell->slots[i] += sample->slots[i];
		cell->count += sample->count;
		cell->sum += sample->sum;
		if (sample->most > cell->most)
			cell->most = sample->most;
	} else {
		bool gauge = metrics[sample->metric].kind == METRIC_KIND_GAUGE;

		if (!cell->any || sample->value > cell->greatest)
			cell->greatest = sample->value;
		cell->value += gauge ? sample->value * (double)sample->length : sample->value;
		cell->weight += sample->length;
	}
	cell->any = true;
	return 0;
}

/* What the question's time is in this store: from the first interval to the end of the last. */
static int find_span(const struct select_query *query, struct metric_store *store,
		     struct metric_span *span, struct error *e)
{
	int err = metric_store_span(store, 0, query->until, span, e);
	uint64_t from;

	if (err || !span->intervals || !query->over)
		return err;
	from = span->end > query->over ? span->end - query->over : 0;
	return metric_store_span(store, from, query->until, span, e);
}

static int find_covered(struct gather *gather, struct metric_store *store, uint64_t start,
			uint64_t bound, struct error *e)
{
	int err = 0;

	gather->covered = calloc(gather->windows.count + 1, sizeof(*gather->covered));
	if (!gather->covered)
		return error_set(e, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < gather->windows.count && !err; i++) {
		uint64_t from = gather->windows.start + i * gather->windows.length;
		uint64_t to = from + gather->windows.length;
		struct metric_span span;

		err = metric_store_span(store, from > start ? from : start, to < bound ? to : bound,
					&span, e);
		gather->covered[i] = err ? 0 : span.covered;
	}
	return err;
}

int select_evaluate(const struct select_query *query, struct metric_store *store, uint64_t deadline,
		    struct select_node *node, struct error *e)
{
	struct evaluation evaluation = { .gather.query = query, .e = e };
	struct metric_filter filter = { .metrics = gather_wanted(query),
					.pid = query->pid < 0 && *query->comm ? -1 : 0,
					.comm = *query->comm ? query->comm : NULL,
					.deadline = deadline };
	struct metric_span span = { 0 };
	int err = find_span(query, store, &span, e);

	if (err)
		return err;
	node->start = span.start;
	node->end = span.end;
	if (query->pid >= 0)
		filter.pid = query->pid;
	if (!span.intervals)
		return 0;
	filter.from = span.start;
	filter.to = select_bound(query, span.end);
	err = select_windows_of(query, span.start, span.end, &evaluation.gather.windows, e);
	if (!err)
		err = find_covered(&evaluation.gather, store, filter.from, filter.to, e);
	if (!err)
		err = metric_store_each(store, &filter, add_sample, &evaluation, e);
	if (!err)
		err = gather_finish(&evaluation.gather, node, e);
	gather_free(&evaluation.gather);
	return err;
}
