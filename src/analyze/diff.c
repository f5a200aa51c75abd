#include "analyze/diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_load.h"
#include "base/strings.h"

#define DEVIATIONS 3

const char *const diff_groups[DIFF_GROUP_COUNT] = {
#define GROUP_NAME(name) #name,
	DIFF_GROUPS(GROUP_NAME)
#undef GROUP_NAME
};

const char *const diff_verdicts[] = { "same", "within noise", "beyond noise", "noise unknown" };

static enum diff_verdict judge(const struct diff_item *item)
{
	if (isnan(item->change))
		return DIFF_BEYOND;
	if (item->change == 0)
		return DIFF_SAME;
	if (isnan(item->noise))
		return DIFF_UNKNOWN;
	return fabs(item->change) > DEVIATIONS * item->noise ? DIFF_BEYOND : DIFF_WITHIN;
}

void diff_add(struct diff_making *making, enum diff_group group, enum amount unit,
	      struct dims_text name, const char *what, double a, double b, double noise)
{
	struct diff_item item = { .group = group,
				  .unit = unit,
				  .name = name,
				  .a = a,
				  .b = b,
				  .change = b - a,
				  .share = a > 0 ? (b - a) / a : NAN,
				  .noise = noise };

	if ((isnan(a) || a == 0) && (isnan(b) || b == 0))
		return;
	item.verdict = judge(&item);
	snprintf(item.what, sizeof(item.what), "%s", what);
	if (buf_append(&making->list, &item, sizeof(item)))
		making->err = -ENOMEM;
}

/* ---- noise ---- */

/* Of the sum of all values. */
static double sum_variance(const struct hist *hist)
{
	return hist->count < 2 ? NAN : (double)hist->count * hist_variance(hist);
}

/* Of their mean. */
static double mean_variance(const struct hist *hist)
{
	return hist->count < 2 ? NAN : hist_variance(hist) / (double)hist->count;
}

double diff_sum_noise(const struct hist *a, const struct hist *b)
{
	return sqrt(sum_variance(a) + sum_variance(b));
}

double diff_mean_noise(const struct hist *a, const struct hist *b)
{
	return sqrt(mean_variance(a) + mean_variance(b));
}

/* ---- what can be compared ---- */

static bool both_have(const struct report *a, const struct report *b, enum layer layer)
{
	return report_has_layer(a, layer) && report_has_layer(b, layer);
}

static bool alike(const struct report *a, const struct report *b, enum layer layer)
{
	return report_has_layer(a, layer) == report_has_layer(b, layer);
}

/* ---- the run and its phases ---- */

static const struct dims_text nameless;

static void add_run(struct diff_making *making, const struct report *a, const struct report *b)
{
	double noise = NAN;

	/* A run of many steps varies as their sum does. */
	if (a->steps.count && b->steps.count)
		noise = diff_sum_noise(&a->steps.durations, &b->steps.durations);
	diff_add(making, DIFF_run, AMOUNT_ns, nameless, "length of the run",
		 (double)span_length(&a->context.window), (double)span_length(&b->context.window),
		 noise);
	for (size_t i = 0; i < FIGURE_COUNT; i++) {
		const struct figure_info *figure = &figure_infos[i];

		if (both_have(a, b, figure->layer))
			diff_add(making, DIFF_run, figure->unit, nameless, figure->doc,
				 (double)figure_at(&a->total, i), (double)figure_at(&b->total, i),
				 figure->unit == AMOUNT_ns ? NAN : 0);
	}
}

/* A kind of phase, and the lengths of those of it in both runs. */
struct phase_kind {
	const char *stem;
	struct hist a, b;
};

struct phase_kinds {
	struct strings stems;
	struct buf list; /* struct phase_kind, by number of the stem */
};

static int count_phases(struct phase_kinds *kinds, const struct phases *phases, bool second)
{
	int err = 0;

	for (size_t i = 0; i < phases->count && !err; i++) {
		const struct phase *phase = &phases->list[i];
		struct phase_kind *kind;
		uint32_t number;

		if (strings_add(&kinds->stems, phase->stem, strlen(phase->stem), &number))
			return -ENOMEM;
		kind = buf_element(&kinds->list, number, sizeof(*kind));
		if (!kind)
			return -ENOMEM;
		kind->stem = phase->stem;
		err = hist_add(second ? &kind->b : &kind->a, phase->end - phase->start);
	}
	return err;
}

static struct dims_text text_of(const char *text)
{
	return (struct dims_text){ text, strlen(text) };
}

static void add_kind(struct diff_making *making, const struct phase_kind *kind)
{
	if (!kind->a.count) {
		diff_add(making, DIFF_phases, AMOUNT_ns, text_of(kind->stem), "mean length", NAN,
			 hist_mean(&kind->b), NAN);
		return;
	}
	diff_add(making, DIFF_phases, AMOUNT_count, text_of(kind->stem), "how many",
		 (double)kind->a.count, (double)kind->b.count, 0);
	diff_add(making, DIFF_phases, AMOUNT_ns, text_of(kind->stem), "mean length",
		 hist_mean(&kind->a), hist_mean(&kind->b), diff_mean_noise(&kind->a, &kind->b));
}

static void add_phases(struct diff_making *making, const struct report *a, const struct report *b)
{
	struct phase_kinds kinds = { .list.limit = SIZE_MAX };
	struct phase_kind *list;
	size_t count;

	if (count_phases(&kinds, &a->phases, false) || count_phases(&kinds, &b->phases, true))
		making->err = -ENOMEM;
	list = (struct phase_kind *)kinds.list.data;
	count = kinds.list.size / sizeof(*list);
	for (size_t i = 0; i < count; i++) {
		add_kind(making, &list[i]);
		hist_free(&list[i].a);
		hist_free(&list[i].b);
	}
	strings_free(&kinds.stems);
	buf_free(&kinds.list);
}

static void add_steps(struct diff_making *making, const struct report *a, const struct report *b)
{
	const struct hist *left = &a->steps.durations, *right = &b->steps.durations;

	diff_add(making, DIFF_steps, AMOUNT_count, nameless, "steps", (double)left->count,
		 (double)right->count, 0);
	diff_add(making, DIFF_steps, AMOUNT_ns, nameless, "mean length of a step", hist_mean(left),
		 hist_mean(right), diff_mean_noise(left, right));
}

static void add_roles(struct diff_making *making, const struct report *a, const struct report *b)
{
	for (unsigned i = 0; i <= PROC_ROLE_HELPER; i++) {
		const struct role_use *left = &a->by_role[i], *right = &b->by_role[i];
		struct dims_text name = text_of(role_names[i]);

		diff_add(making, DIFF_roles, AMOUNT_count, name, "processes", left->processes,
			 right->processes, 0);
		if (both_have(a, b, LAYER_sched))
			diff_add(making, DIFF_roles, AMOUNT_ns, name, "time on CPUs",
				 (double)left->cpu_ns, (double)right->cpu_ns, NAN);
		if (!both_have(a, b, LAYER_io))
			continue;
		diff_add(making, DIFF_roles, AMOUNT_bytes, name, "bytes read",
			 (double)left->read.bytes, (double)right->read.bytes, 0);
		diff_add(making, DIFF_roles, AMOUNT_ns, name, "time in reads",
			 (double)left->read.time_ns, (double)right->read.time_ns, NAN);
	}
}

/* ---- order ---- */

static double weight(const struct diff_item *item)
{
	return isnan(item->change) ? isnan(item->a) ? item->b : item->a : fabs(item->change);
}

/* What is the same comes last, so that a list that is cut short keeps what changed. */
static int compare_items(const void *left_item, const void *right_item)
{
	const struct diff_item *left = left_item, *right = right_item;
	bool left_same = left->verdict == DIFF_SAME, right_same = right->verdict == DIFF_SAME;
	double more, less;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	if (left_same != right_same)
		return left_same ? 1 : -1;
	if (left->unit != right->unit)
		return left->unit < right->unit ? -1 : 1;
	more = weight(left);
	less = weight(right);
	return more > less ? -1 : more < less;
}

/* Figures of a layer that only one of the runs has cannot be compared. */
static void compare_layers(struct diff *diff, const struct report *a, const struct report *b)
{
	for (unsigned i = 0; i < LAYER_COUNT; i++) {
		if (report_has_layer(a, i) && !report_has_layer(b, i))
			diff->only_a |= LAYER_BIT(i);
		if (report_has_layer(b, i) && !report_has_layer(a, i))
			diff->only_b |= LAYER_BIT(i);
	}
}

int diff_load(struct diff *diff, const struct report *a, const struct report *b,
	      const struct diff_ledgers *ledgers, struct error *e)
{
	struct diff_making making = { .list.limit = SIZE_MAX };

	*diff = (struct diff){ 0 };
	compare_layers(diff, a, b);
	add_run(&making, a, b);
	if (ledgers->a && ledgers->b)
		diff_add_why(&making, ledgers->a, ledgers->b);
	if (a->phases.source != PHASES_NONE || b->phases.source != PHASES_NONE)
		add_phases(&making, a, b);
	if (both_have(a, b, LAYER_io) || a->steps.count == b->steps.count)
		add_steps(&making, a, b);
	add_roles(&making, a, b);
	if (alike(a, b, LAYER_io) && alike(a, b, LAYER_fs))
		diff_add_ops(&making, &a->files, &b->files);
	if (both_have(a, b, LAYER_block))
		diff_add_devices(&making, &a->devices, &b->devices);
	if (both_have(a, b, LAYER_io)) {
		diff_add_dirs(&making, &a->files, &b->files);
		diff_add_files(&making, &a->files, &b->files);
	}
	diff->items = (struct diff_item *)making.list.data;
	diff->count = making.list.size / sizeof(*diff->items);
	if (making.err) {
		diff_free(diff);
		return error_set(e, making.err, "no memory to compare the runs");
	}
	/* The run's own figures stay in their order: its length first. */
	for (size_t first = 0; first < diff->count; first++)
		if (diff->items[first].group != DIFF_run) {
			qsort(diff->items + first, diff->count - first, sizeof(*diff->items),
			      compare_items);
			break;
		}
	return 0;
}

void diff_free(struct diff *diff)
{
	free(diff->items);
	*diff = (struct diff){ 0 };
}
