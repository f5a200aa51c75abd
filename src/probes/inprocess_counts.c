#include "probes/inprocess_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "probes/call_counters.h"

_Static_assert(INPROCESS_BUCKETS == CALL_BUCKETS, "histograms");

struct inprocess_counts {
	struct pool *pool;
	const struct calls *calls;
	const uint32_t *numbers;
	uint64_t interval;
	_Atomic uint64_t since;
	struct sink *sink;				     /* while rows are made */
	struct inprocess_counter *before[INJECT_MOST_RINGS]; /* by ring; NULL: all zeros */
};

int inprocess_counts_open(struct inprocess_counts **out, struct pool *pool,
			  const struct calls *calls, const uint32_t *numbers, uint64_t interval,
			  struct error *e)
{
	struct inprocess_counts *counts = *out = calloc(1, sizeof(*counts));

	if (!counts)
		return error_set(e, -ENOMEM, "out of memory");
	counts->pool = pool;
	counts->calls = calls;
	counts->numbers = numbers;
	counts->interval = interval;
	return 0;
}

void inprocess_counts_close(struct inprocess_counts *counts)
{
	if (!counts)
		return;
	for (unsigned i = 0; i < INJECT_MOST_RINGS; i++)
		free(counts->before[i]);
	free(counts);
}

void inprocess_counts_start(struct inprocess_counts *counts, uint64_t now)
{
	counts->since = now;
}

static void add_row(struct inprocess_counts *counts, const struct pool_writer *writer,
		    const struct call_function *function, const struct inprocess_counter *now,
		    const struct inprocess_counter *before)
{
	struct counted_interval interval = {
		.since = counts->since,
		.until = clock_boot(),
		.pid = writer->pid,
		.tid = writer->tid,
		.counted = { .name = function->name,
			     .module = calls_module(counts->calls, function->module)->name,
			     .timed = true,
			     .moves_bytes = function->traits.bytes[0].from },
		.count = now->count - before->count,
		.time = now->time - before->time,
		.bytes = now->bytes - before->bytes,
	};

	for (unsigned i = 0; i < CALL_BUCKETS; i++)
		interval.buckets[i] = now->buckets[i] - before->buckets[i];
	counted_add_row(counts->sink, &interval);
}

/* Several functions of the library may be one of those that were asked for: pread and pread64. */
static void add_counter(struct inprocess_counter *sum, const struct inprocess_counter *more)
{
	sum->count += more->count;
	sum->time += more->time;
	sum->bytes += more->bytes;
	for (unsigned i = 0; i < INPROCESS_BUCKETS; i++)
		sum->buckets[i] += more->buckets[i];
}

/* A row for the function of number i, unless an earlier one is the same. */
static void take_function(struct inprocess_counts *counts, const struct pool_writer *writer,
			  unsigned i, const struct inprocess_counter *now,
			  const struct inprocess_counter *before)
{
	struct inprocess_counter sum_now = { 0 }, sum_before = { 0 };

	for (unsigned k = 0; k < i; k++)
		if (counts->numbers[k] == counts->numbers[i])
			return;
	for (unsigned k = i; k < INPROCESS_COUNT; k++) {
		if (counts->numbers[k] != counts->numbers[i])
			continue;
		add_counter(&sum_now, &now[k]);
		add_counter(&sum_before, &before[k]);
	}
	if (sum_now.count != sum_before.count)
		add_row(counts, writer, calls_get(counts->calls, counts->numbers[i]), &sum_now,
			&sum_before);
}

void inprocess_counts_take(struct inprocess_counts *counts, struct sink *sink,
			   const struct pool_writer *writer, const struct inprocess_area *area)
{
	struct inprocess_counter **before = &counts->before[writer->ring];

	if (!*before)
		*before = calloc(INPROCESS_COUNT, sizeof(**before));
	if (!*before)
		return sink_drop(sink, TABLE_counter);
	counts->sink = sink;
	for (unsigned i = 0; i < INPROCESS_COUNT; i++)
		if (counts->numbers[i] < calls_count(counts->calls))
			take_function(counts, writer, i, area->counters, *before);
	memcpy(*before, area->counters, sizeof(area->counters));
}

static void take_writer(void *context, const struct pool_writer *writer)
{
	struct inprocess_counts *counts = context;
	const struct inprocess_area *area = pool_area(counts->pool, writer);

	if (area)
		inprocess_counts_take(counts, counts->sink, writer, area);
}

void inprocess_counts_tick(struct inprocess_counts *counts, struct sink *sink, bool at_once)
{
	uint64_t now = clock_boot();

	if (!counts->since || (!at_once && now - counts->since < counts->interval))
		return;
	counts->sink = sink;
	pool_each_writer(counts->pool, INJECT_CALLS, take_writer, counts);
	counts->since = now;
}
