#include "cluster/totals.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/totals_print.h"

#define MOST_SERIES 8192 /* devices come and go; nobody else decides how many there are */

struct totals {
	pthread_mutex_t lock;
	char *node;
	struct total *series;
	size_t count, capacity;
	uint64_t interval; /* the last one's number */
	uint64_t dropped;  /* samples of series beyond MOST_SERIES */
	struct totals_own own;
	uint64_t answers[ANSWER_CLASSES];
};

int totals_open(struct totals **out, const char *node, struct error *e)
{
	struct totals *totals = calloc(1, sizeof(*totals));

	*out = totals;
	if (totals)
		totals->node = strdup(node);
	if (!totals || !totals->node) {
		free(totals);
		*out = NULL;
		return error_set(e, -ENOMEM, "out of memory");
	}
	pthread_mutex_init(&totals->lock, NULL);
	return 0;
}

void totals_close(struct totals *totals)
{
	if (!totals)
		return;
	pthread_mutex_destroy(&totals->lock);
	free(totals->series);
	free(totals->node);
	free(totals);
}

/* ---- adding ---- */

/* In the order of metrics.def, labels and operations: each family in one piece. */
static int total_compare(const struct total *total, const struct metric_sample *sample)
{
	int order = (int)total->metric - (int)sample->metric;

	if (!order)
		order = strcmp(total->label, sample->label);
	return order ? order : strcmp(total->op, sample->op);
}

/* Where the series is, or would be. */
static size_t total_place(const struct totals *totals, const struct metric_sample *sample,
			  bool *found)
{
	size_t low = 0, high = totals->count;

	*found = false;
	while (low < high && !*found) {
		size_t middle = low + (high - low) / 2;
		int order = total_compare(&totals->series[middle], sample);

		*found = !order;
		if (!order)
			low = middle;
		else if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The total of a series, which is made where there is none. NULL: no memory, or too many. */
static struct total *total_of(struct totals *totals, const struct metric_sample *sample)
{
	bool found;
	size_t place = total_place(totals, sample, &found);
	struct total *total;

	if (found)
		return &totals->series[place];
	if (totals->count == MOST_SERIES)
		return NULL;
	if (totals->count == totals->capacity) {
		size_t capacity = totals->capacity ? 2 * totals->capacity : 64;

		total = realloc(totals->series, capacity * sizeof(*total));
		if (!total)
			return NULL;
		totals->series = total;
		totals->capacity = capacity;
	}
	total = &totals->series[place];
	memmove(total + 1, total, (totals->count - place) * sizeof(*total));
	totals->count++;
	*total = (struct total){ .metric = sample->metric };
	strncpy(total->label, sample->label, sizeof(total->label) - 1);
	strncpy(total->op, sample->op, sizeof(total->op) - 1);
	return total;
}

static void total_add(struct totals *totals, const struct metric_sample *sample)
{
	struct total *total = total_of(totals, sample);

	if (!total) {
		totals->dropped++;
		return;
	}
	total->interval = totals->interval;
	switch (metrics[sample->metric].kind) {
	case METRIC_KIND_HISTOGRAM:
		for (unsigned i = 0; i < LIVE_SLOTS; i++)
			total->slots[i] += sample->slots[i];
		total->sum += sample->sum;
		break;
	case METRIC_KIND_SUM: total->value += sample->value; break;
	case METRIC_KIND_GAUGE: total->value = sample->value; break;
	}
}

/* Those of processes are not shown: there is no end to them. */
void totals_add(struct totals *totals, const struct metric_interval *interval,
		const struct totals_own *own)
{
	pthread_mutex_lock(&totals->lock);
	totals->interval++;
	for (size_t i = 0; i < interval->count; i++)
		if (!interval->samples[i].pid)
			total_add(totals, &interval->samples[i]);
	totals->own = *own;
	totals->own.lost += totals->dropped;
	pthread_mutex_unlock(&totals->lock);
}

void totals_count_answer(struct totals *totals, unsigned status)
{
	pthread_mutex_lock(&totals->lock);
	if (status / 100 < ANSWER_CLASSES)
		totals->answers[status / 100]++;
	pthread_mutex_unlock(&totals->lock);
}

/* ---- printing ---- */

/* A copy is printed, so that who reads slowly holds nobody up. */
int totals_print(struct totals *totals, bool openmetrics, struct buf *out)
{
	struct totals_copy copy = { .node = totals->node, .openmetrics = openmetrics };
	int err = 0;

	pthread_mutex_lock(&totals->lock);
	copy.series = malloc((totals->count ? totals->count : 1) * sizeof(*copy.series));
	if (copy.series) {
		for (size_t i = 0; i < totals->count; i++) {
			const struct total *total = &totals->series[i];

			/* A gauge of something that is gone has no value. */
			if (metrics[total->metric].kind != METRIC_KIND_GAUGE ||
			    total->interval == totals->interval)
				copy.series[copy.count++] = *total;
		}
		copy.own = totals->own;
		memcpy(copy.answers, totals->answers, sizeof(copy.answers));
	} else {
		err = -ENOMEM;
	}
	pthread_mutex_unlock(&totals->lock);
	if (!err)
		err = totals_print_copy(&copy, out);
	free(copy.series);
	return err;
}
