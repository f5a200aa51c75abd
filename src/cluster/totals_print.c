#include "cluster/totals_print.h"

#include <inttypes.h>
#include <string.h>

#include "base/real.h"

#define PREFIX "strata_"

/* Buckets end where slots do, at powers of two of microseconds from 2 us on; the last slot is +Inf. A value of exactly a bucket's end,
 * to the nanosecond, is in the next one. */
#define BUCKETS (LIVE_SLOTS - 1)

/* One stream of text, and the first failure to add to it. */
struct page {
	struct buf *out;
	const struct totals_copy *copy;
	int err;
};

#define PUT(page, ...)                                                      \
	do {                                                                \
		if (!(page)->err)                                           \
			(page)->err = buf_printf((page)->out, __VA_ARGS__); \
	} while (0)

/* ---- lines ---- */

/* The value of a label, by the rules of both formats. */
static const char *quoted(char *out, size_t size, const char *text)
{
	size_t used = 0;

	for (; *text && used + 3 < size; text++) {
		if (*text == '\\' || *text == '"' || *text == '\n')
			out[used++] = '\\';
		out[used++] = *text == '\n' ? 'n' : *text;
	}
	out[used] = 0;
	return out;
}

/* The name of a counter's family has no _total in OpenMetrics. */
static void put_family(struct page *page, const char *name, const char *type, const char *help)
{
	size_t length = strlen(name);

	if (page->copy->openmetrics && !strcmp(type, "counter"))
		length -= strlen("_total");
	PUT(page, "# HELP " PREFIX "%.*s %s\n", (int)length, name, help);
	PUT(page, "# TYPE " PREFIX "%.*s %s\n", (int)length, name, type);
}

static void put_label(struct page *page, const char *name, const char *value)
{
	char text[80];

	PUT(page, ",%s=\"%s\"", name, quoted(text, sizeof(text), value));
}

/* Name and labels of a sample; le NULL: none. */
static void put_name(struct page *page, const char *name, const char *suffix,
		     const struct total *total, const char *le)
{
	PUT(page, PREFIX "%s%s{node=\"%s\"", name, suffix, page->copy->node);
	if (total && *total->label)
		put_label(page, metric_label_names[metrics[total->metric].label], total->label);
	if (total && *total->op)
		put_label(page, "op", total->op);
	if (le)
		put_label(page, "le", le);
	PUT(page, "} ");
}

static void put_real(struct page *page, double value)
{
	char text[32];

	real_format(text, sizeof(text), value);
	PUT(page, "%s\n", text);
}

/* ---- families ---- */

static void put_histogram(struct page *page, const struct total *total)
{
	const char *name = metrics[total->metric].exported;
	uint64_t count = 0;
	char le[32];

	for (unsigned i = 0; i < BUCKETS; i++) {
		count += total->slots[i];
		real_format(le, sizeof(le), (double)(2ull << i) / 1e6);
		put_name(page, name, "_bucket", total, le);
		PUT(page, "%" PRIu64 "\n", count);
	}
	count += total->slots[BUCKETS];
	put_name(page, name, "_bucket", total, "+Inf");
	PUT(page, "%" PRIu64 "\n", count);
	put_name(page, name, "_sum", total, NULL);
	put_real(page, (double)total->sum / 1e9);
	put_name(page, name, "_count", total, NULL);
	PUT(page, "%" PRIu64 "\n", count);
}

static void put_metrics(struct page *page)
{
	static const char *const types[] = { [METRIC_KIND_HISTOGRAM] = "histogram",
					     [METRIC_KIND_SUM] = "counter",
					     [METRIC_KIND_GAUGE] = "gauge" };

	for (size_t i = 0; i < page->copy->count; i++) {
		const struct total *total = &page->copy->series[i];
		const struct metric_info *info = &metrics[total->metric];

		if (!i || total[-1].metric != total->metric)
			put_family(page, info->exported, types[info->kind], info->doc);
		if (info->kind == METRIC_KIND_HISTOGRAM) {
			put_histogram(page, total);
		} else {
			put_name(page, info->exported, "", total, NULL);
			put_real(page, total->value * info->scale);
		}
	}
}

/* ---- the agent itself ---- */

static void put_one(struct page *page, const char *name, const char *type, const char *help,
		    double value)
{
	put_family(page, name, type, help);
	put_name(page, name, "", NULL, NULL);
	put_real(page, value);
}

static void put_own(struct page *page)
{
	const struct totals_own *own = &page->copy->own;

	put_one(page, "agent_lost_events_total", "counter",
		"Events that the agent could not count.", (double)own->lost);
	put_one(page, "agent_intervals_total", "counter", "Intervals written to the store.",
		(double)own->intervals);
	put_one(page, "agent_unwritten_intervals_total", "counter",
		"Intervals that could not be written to the store.", (double)own->unwritten);
	put_one(page, "agent_late_intervals_total", "counter",
		"Intervals that the agent began late.", (double)own->late);
	put_one(page, "agent_cpu_seconds_total", "counter",
		"CPU time of the agent, without that of its programs in the kernel.",
		(double)own->cpu_ns / 1e9);
	put_one(page, "agent_resident_bytes", "gauge", "Resident memory of the agent.",
		(double)own->resident_bytes);
	put_one(page, "agent_store_bytes", "gauge", "Bytes in the store.",
		(double)own->store_bytes);
}

static void put_answers(struct page *page)
{
	static const char name[] = "agent_http_answers_total";

	put_family(page, name, "counter",
		   "Answers to HTTP requests, by the class of their status.");
	for (unsigned i = 2; i < ANSWER_CLASSES; i++) {
		PUT(page, PREFIX "%s{node=\"%s\",code=\"%uxx\"} %" PRIu64 "\n", name,
		    page->copy->node, i, page->copy->answers[i]);
	}
}

int totals_print_copy(const struct totals_copy *copy, struct buf *out)
{
	struct page page = { .out = out, .copy = copy };

	put_metrics(&page);
	put_own(&page);
	put_answers(&page);
	put_family(&page, "agent_info", "gauge", "The version of the agent.");
	PUT(&page, PREFIX "agent_info{node=\"%s\",version=\"" STRATA_VERSION "\"} 1\n", copy->node);
	if (copy->openmetrics)
		PUT(&page, "# EOF\n");
	return page.err;
}
