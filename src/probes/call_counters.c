#include "probes/call_counters.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "bpf/call.h"
#include "probes/ids.h"

struct call_counters {
	int map;
	counted_find *find;
	const void *context;  /* of find */
	uint64_t since, stop; /* stop: the end of the recording; 0: not yet */
	struct map places;    /* by key: the place in `before`, plus 1 */
	struct buf before;    /* struct call_counter each: as it was read last */
};

int call_counters_open(struct call_counters **out, int map, counted_find *find, const void *context,
		       struct error *e)
{
	struct call_counters *counters = *out = calloc(1, sizeof(*counters));

	if (!counters)
		return error_set(e, -ENOMEM, "out of memory");
	counters->map = map;
	counters->find = find;
	counters->context = context;
	return 0;
}

void call_counters_close(struct call_counters *counters)
{
	if (!counters)
		return;
	map_free(&counters->places);
	buf_free(&counters->before);
	free(counters);
}

void call_counters_start(struct call_counters *counters, uint64_t now)
{
	counters->since = now;
}

void call_counters_stop(struct call_counters *counters, uint64_t now)
{
	counters->stop = now;
}

/* How a counter was when it was read last; NULL: out of memory. */
static struct call_counter *counter_before(struct call_counters *counters,
					   const struct call_counter_key *key)
{
	uint64_t *place =
		map_add(&counters->places, (uint64_t)key->function << 32 | key->tid, NULL);

	if (!place)
		return NULL;
	if (!*place)
		*place = counters->before.size / sizeof(struct call_counter) + 1;
	return buf_element(&counters->before, *place - 1, sizeof(struct call_counter));
}

static void set_histogram(struct builder *row, const uint64_t buckets[CALL_BUCKETS])
{
	char text[CALL_BUCKETS * 26] = "";
	size_t size = 0;

	for (unsigned i = 0; i < CALL_BUCKETS; i++)
		if (buckets[i])
			size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%u:%llu",
						 size ? " " : "", i,
						 (unsigned long long)buckets[i]);
	if (size)
		builder_set_text(row, column_counter_hist, text, size);
}

#define SET(column, value) builder_set(row, column_counter_##column, (int64_t)(value))

void counted_add_row(struct sink *sink, const struct counted_interval *interval)
{
	const struct counted *counted = &interval->counted;
	struct builder *row = sink_table(sink, TABLE_counter);

	if (!row)
		return sink_drop(sink, TABLE_counter);
	SET(ts, interval->since);
	SET(dur, interval->until - interval->since);
	SET_IDS(row, counter, interval->pid, interval->tid);
	builder_set_text(row, column_counter_func, counted->name, strlen(counted->name));
	builder_set_text(row, column_counter_module, counted->module, strlen(counted->module));
	SET(count, interval->count);
	if (counted->timed)
		SET(time, interval->time);
	if (counted->moves_bytes)
		SET(bytes, interval->bytes);
	set_histogram(row, interval->buckets);
	sink_end_row(sink, TABLE_counter);
}

static void add_row(struct call_counters *counters, struct sink *sink, uint64_t until,
		    const struct call_counter_key *key, const struct call_counter *now,
		    const struct call_counter *before)
{
	struct counted_interval interval = {
		.since = counters->since,
		.until = until,
		.pid = now->pid,
		.tid = key->tid,
		.count = now->count - before->count,
		.time = now->time - before->time,
		.bytes = now->bytes - before->bytes,
	};

	if (!counters->find(counters->context, key->function, &interval.counted))
		return sink_drop(sink, TABLE_counter);
	for (unsigned i = 0; i < CALL_BUCKETS; i++)
		interval.buckets[i] = now->buckets[i] - before->buckets[i];
	counted_add_row(sink, &interval);
}

/* A thread that is gone calls no more; its place in the kernel is another's. */
static void forget_if_gone(struct call_counters *counters, const struct call_counter_key *key,
			   struct call_counter *before)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", key->tid);
	if (access(path, F_OK) && errno == ENOENT && !bpf_map_delete_elem(counters->map, key))
		*before = (struct call_counter){ 0 };
}

void call_counters_take(struct call_counters *counters, struct sink *sink)
{
	struct call_counter_key key, next, *at = NULL;
	uint64_t until = counters->stop ? counters->stop : clock_boot();
	bool more = !bpf_map_get_next_key(counters->map, NULL, &next);

	while (more) {
		struct call_counter now, *before;

		key = next;
		at = &key;
		more = !bpf_map_get_next_key(counters->map, at, &next);
		if (bpf_map_lookup_elem(counters->map, &key, &now))
			continue;
		before = counter_before(counters, &key);
		if (!before)
			continue;
		if (now.count != before->count) {
			add_row(counters, sink, until, &key, &now, before);
			*before = now;
		} else {
			forget_if_gone(counters, &key, before);
		}
	}
	counters->since = until;
}
