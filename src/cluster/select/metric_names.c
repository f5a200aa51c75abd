/* Names of metrics in questions: a metric's own, and what is asked of it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cluster/select/query.h"

static const char *const form_names[SELECT_FORMS] = {
	[SELECT_VALUE] = "",	   [SELECT_AVG] = "_avg",   [SELECT_SUM] = "_sum",
	[SELECT_COUNT] = "_count", [SELECT_MEAN] = "_mean", [SELECT_P50] = "_p50",
	[SELECT_P90] = "_p90",	   [SELECT_P99] = "_p99",   [SELECT_MAX] = "_max",
};

#define FORM(form) (1u << SELECT_##form)

/* Which questions a kind of metric can answer. */
static const unsigned forms_of[] = {
	[METRIC_KIND_HISTOGRAM] = FORM(AVG) | FORM(SUM) | FORM(COUNT) | FORM(MEAN) | FORM(P50) |
				  FORM(P90) | FORM(P99) | FORM(MAX),
	[METRIC_KIND_SUM] = FORM(VALUE) | FORM(AVG) | FORM(SUM),
	[METRIC_KIND_GAUGE] = FORM(VALUE) | FORM(AVG) | FORM(MEAN) | FORM(MAX),
};

bool select_is_slots(const struct select_metric *metric)
{
	return metrics[metric->metric].kind == METRIC_KIND_HISTOGRAM &&
	       (metric->form == SELECT_AVG || metric->form == SELECT_SUM);
}

const char *select_unit(const struct select_metric *metric)
{
	if (metrics[metric->metric].kind == METRIC_KIND_HISTOGRAM && metric->form < SELECT_MEAN)
		return "";
	return metric_unit(metric->metric);
}

static enum metric find_stem(const char *name, size_t size)
{
	return size == 3 && !memcmp(name, "cpu", 3) ? METRIC_cpudist : metric_find(name, size);
}

static int say_metrics(const char *name, struct error *e)
{
	char list[900] = "";

	for (unsigned i = 0; i < METRIC_COUNT; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 metrics[i].name);
	return error_set(e, -ENOENT,
			 "there is no metric '%.40s': of cpudist (or cpu), runqlat, iolat, biolat, "
			 "sclat ask _avg _sum _count _mean _p50 _p90 _p99 _max, of pidpersec and "
			 "others that add up _avg _sum, of the rest the name or _max: %s",
			 name, list);
}

int select_find_metric(const char *name, struct select_metric *out, struct error *e)
{
	size_t length = strlen(name);

	snprintf(out->name, sizeof(out->name), "%s", name);
	for (unsigned form = 0; form < SELECT_FORMS && length < SELECT_NAME; form++) {
		size_t ending = strlen(form_names[form]);
		enum metric metric;

		if (length <= ending || strcmp(name + length - ending, form_names[form]))
			continue;
		metric = find_stem(name, length - ending);
		if (metric == METRIC_COUNT || !(forms_of[metrics[metric].kind] >> form & 1))
			continue;
		out->metric = metric;
		out->form = (enum select_form)form;
		return 0;
	}
	return say_metrics(name, e);
}
