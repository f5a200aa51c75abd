#include "analyze/diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_load.h"

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

/* The lengths of all phases of a kind. */
static struct hist phase_lengths(const struct report *report, const char *stem)
{
	struct hist lengths = { 0 };

	for (size_t i = 0; i < report->phases.count; i++)
		if (!strcmp(report->phases.list[i].stem, stem) &&
		    hist_add(&lengths, report->phases.list[i].end - report->phases.list[i].start))
			break;
	return lengths;
}

static bool first_of_stem(const struct report *report, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(report->phases.list[i].stem, report->phases.list[at].stem))
			return false;
	return true;
}

static struct dims_text text_of(const char *text)
{
	return (struct dims_text){ text, strlen(text) };
}

static void add_phases(struct diff_making *making, const struct report *a, const struct report *b)
{
	for (size_t i = 0; i < a->phases.count; i++) {
		const char *stem = a->phases.list[i].stem;
		struct hist left, right;

		if (!first_of_stem(a, i))
			continue;
		left = phase_lengths(a, stem);
		right = phase_lengths(b, stem);
		diff_add(making, DIFF_phases, AMOUNT_count, text_of(stem), "how many",
			 (double)left.count, (double)right.count, 0);
		diff_add(making, DIFF_phases, AMOUNT_ns, text_of(stem), "mean length",
			 hist_mean(&left), hist_mean(&right), diff_mean_noise(&left, &right));
		hist_free(&left);
		hist_free(&right);
	}
	for (size_t i = 0; i < b->phases.count; i++) {
		const char *stem = b->phases.list[i].stem;
		struct hist left = phase_lengths(a, stem), right;

		if (!left.count && first_of_stem(b, i)) {
			right = phase_lengths(b, stem);
			diff_add(making, DIFF_phases, AMOUNT_ns, text_of(stem), "mean length", NAN,
				 hist_mean(&right), NAN);
			hist_free(&right);
		}
		hist_free(&left);
	}
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

int diff_load(struct diff *diff, const struct report *a, const struct report *b, struct error *e)
{
	struct diff_making making = { .list.limit = SIZE_MAX };

	*diff = (struct diff){ 0 };
	compare_layers(diff, a, b);
	add_run(&making, a, b);
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
