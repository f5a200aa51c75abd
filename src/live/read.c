/* Reading what the programs have counted, and what of it is new. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bpf/live_block.skel.h"
#include "bpf/live_call.skel.h"
#include "bpf/live_sched.skel.h"
#include "live/parts.h"
#include "schema/schema.h"

#define BATCH 512 /* elements of a map that are taken at once */

uint64_t live_slot_start(unsigned slot)
{
	return slot ? 1ull << slot : 0;
}

size_t live_series_count(const struct live_reading *reading)
{
	return reading->series.size / sizeof(struct live_series);
}

const struct live_series *live_series_at(const struct live_reading *reading, size_t i)
{
	return (const struct live_series *)reading->series.data + i;
}

void live_reading_free(struct live_reading *reading)
{
	buf_free(&reading->series);
	buf_free(&reading->threads);
	buf_free(&reading->files);
	buf_free(&reading->keys);
	buf_free(&reading->values);
}

static uint64_t hist_count(const struct live_hist *hist)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < LIVE_SLOTS; i++)
		count += hist->slots[i];
	return count;
}

/* ---- tables ---- */

/* The sums of all CPUs. The longest is taken away: it is that of one interval. */
static struct live_hist table_sum(struct live_table *table, unsigned subject)
{
	struct live_hist sum = { 0 };

	for (unsigned cpu = 0; cpu < table->cpus; cpu++) {
		struct live_hist *hist = &table->shared[(size_t)cpu * table->subjects + subject];
		uint64_t most;

		if (!hist->sum) /* nothing yet */
			continue;
		for (unsigned i = 0; i < LIVE_SLOTS; i++)
			sum.slots[i] += __atomic_load_n(&hist->slots[i], __ATOMIC_RELAXED);
		sum.sum += __atomic_load_n(&hist->sum, __ATOMIC_RELAXED);
		sum.bytes += __atomic_load_n(&hist->bytes, __ATOMIC_RELAXED);
		most = __atomic_exchange_n(&hist->most, 0, __ATOMIC_RELAXED);
		sum.most = most > sum.most ? most : sum.most;
	}
	return sum;
}

bool live_table_take(struct live_table *table, unsigned subject, struct live_hist *now)
{
	struct live_hist sum = table_sum(table, subject);
	struct live_hist *before = &table->before[subject];
	bool any = false;

	*now = sum;
	for (unsigned i = 0; i < LIVE_SLOTS; i++) {
		now->slots[i] -= before->slots[i];
		any |= now->slots[i];
	}
	now->sum -= before->sum;
	now->bytes -= before->bytes;
	*before = sum;
	return any;
}

/* ---- series ---- */

static int series_add(struct live_reading *reading, struct live_series *series)
{
	series->count = hist_count(&series->hist);
	if (!series->op)
		series->op = "";
	return buf_append(&reading->series, series, sizeof(*series));
}

static int take_sched(struct live *live, struct live_reading *reading)
{
	static const enum live_what whats[LIVE_SCHED_SUBJECTS] = { LIVE_cpudist, LIVE_cpudist,
								   LIVE_runqlat };
	int err = 0;

	for (unsigned i = 0; !err && i < LIVE_SCHED_SUBJECTS; i++) {
		struct live_series series = { .what = whats[i], .off_cpu = i == LIVE_OFF_CPU };

		if (live_table_take(&live->sched_table, i, &series.hist))
			err = series_add(reading, &series);
	}
	return err;
}

/* A call that moves data is in both of iolat and sclat. */
static int take_calls(struct live *live, struct live_reading *reading)
{
	int err = 0;

	for (unsigned i = 1; !err && i < live->call_count; i++) {
		struct live_series series = { .what = LIVE_sclat };

		if (!live_table_take(&live->call_table, i, &series.hist))
			continue;
		strncpy(series.label, live->calls[i].name, sizeof(series.label) - 1);
		if (live->config.what & LIVE_BIT(LIVE_sclat))
			err = series_add(reading, &series);
		series.what = LIVE_iolat;
		if (!err && live->calls[i].moves && live->config.what & LIVE_BIT(LIVE_iolat))
			err = series_add(reading, &series);
	}
	return err;
}

static int take_disk(struct live *live, struct live_reading *reading, const struct live_disk *disk)
{
	int err = 0;

	for (unsigned op = 0; !err && op < LIVE_OPS; op++) {
		struct live_series series = { .what = LIVE_biolat, .op = block_op_names.names[op] };

		memcpy(series.label, disk->name, sizeof(series.label) - 1);
		if (live_table_take(&live->block_table, disk->index * LIVE_OPS + op, &series.hist))
			err = series_add(reading, &series);
	}
	return err;
}

static int take_disks(struct live *live, struct live_reading *reading)
{
	int map = bpf_map__fd(live->block->maps.live_disks), err = 0;
	uint32_t key, *before = NULL;
	struct live_disk disk;

	while (!err && !bpf_map_get_next_key(map, before, &key)) {
		before = &key;
		if (!bpf_map_lookup_elem(map, &key, &disk) && disk.index < LIVE_DEVICES)
			err = take_disk(live, reading, &disk);
	}
	return err;
}

/* ---- maps that are emptied as they are read ---- */

/* An event that meets the removal of its own entry may go to the next reading, or be lost; the whole machine's histograms, which
 * are never emptied, have it. */
static int map_drain(struct live_reading *reading, int map, size_t key_size, size_t value_size,
		     int (*each)(struct live_reading *, const void *key, const void *value))
{
	uint64_t cursor = 0;
	void *position = NULL;
	int err = 0, done = 0;

	reading->keys.size = reading->values.size = 0;
	if (!buf_reserve(&reading->keys, BATCH * key_size) ||
	    !buf_reserve(&reading->values, BATCH * value_size))
		return -ENOMEM;
	while (!err && !done) {
		uint32_t count = BATCH;

		done = bpf_map_lookup_and_delete_batch(map, position, &cursor, reading->keys.data,
						       reading->values.data, &count, NULL);
		if (done && errno != ENOENT)
			return -errno;
		position = &cursor;
		for (uint32_t i = 0; !err && i < count; i++)
			err = each(reading, reading->keys.data + i * key_size,
				   reading->values.data + i * value_size);
	}
	return err;
}

static int each_process(struct live_reading *reading, const void *opaque_key, const void *value)
{
	const struct live_process_key *key = opaque_key;
	const struct live_process *process = value;
	struct live_series series = {
		.what = key->subject == LIVE_QUEUE ? LIVE_runqlat : LIVE_cpudist,
		.off_cpu = key->subject == LIVE_OFF_CPU,
		.pid = key->pid,
		.hist = process->hist,
	};

	memcpy(series.comm, process->comm, sizeof(series.comm) - 1);
	return hist_count(&series.hist) ? series_add(reading, &series) : 0;
}

static int each_thread(struct live_reading *reading, const void *key, const void *value)
{
	struct live_thread_use thread;

	memcpy(&thread.tid, key, sizeof(thread.tid));
	memcpy(&thread.use, value, sizeof(thread.use));
	return buf_append(&reading->threads, &thread, sizeof(thread));
}

static int each_file(struct live_reading *reading, const void *key, const void *value)
{
	struct live_file_use file;

	memcpy(&file.key, key, sizeof(file.key));
	memcpy(&file.use, value, sizeof(file.use));
	return buf_append(&reading->files, &file, sizeof(file));
}

static int compare_threads(const void *a, const void *b)
{
	uint64_t x = ((const struct live_thread_use *)a)->use.ns;
	uint64_t y = ((const struct live_thread_use *)b)->use.ns;

	return (x < y) - (x > y);
}

static int compare_files(const void *a, const void *b)
{
	const struct live_file *x = &((const struct live_file_use *)a)->use;
	const struct live_file *y = &((const struct live_file_use *)b)->use;
	uint64_t left = x->read_bytes + x->write_bytes, right = y->read_bytes + y->write_bytes;

	return (left < right) - (left > right);
}

static int take_top(struct live *live, struct live_reading *reading)
{
	int err = map_drain(reading, bpf_map__fd(live->sched->maps.live_busiest), sizeof(uint32_t),
			    sizeof(struct live_busy), each_thread);

	if (!err && live->call)
		err = map_drain(reading, bpf_map__fd(live->call->maps.live_files),
				sizeof(struct live_file_key), sizeof(struct live_file), each_file);
	if (reading->threads.size)
		qsort(reading->threads.data, reading->threads.size / sizeof(struct live_thread_use),
		      sizeof(struct live_thread_use), compare_threads);
	if (reading->files.size)
		qsort(reading->files.data, reading->files.size / sizeof(struct live_file_use),
		      sizeof(struct live_file_use), compare_files);
	return err;
}

/* ---- the reading ---- */

static int compare_series(const void *a, const void *b)
{
	const struct live_series *x = a, *y = b;
	int order = (int)x->what - (int)y->what;

	if (!order)
		order = (int)x->off_cpu - (int)y->off_cpu;
	if (!order)
		order = (x->pid != 0) - (y->pid != 0);
	if (!order)
		order = (x->count > y->count) - (x->count < y->count); /* as bcc: busiest last */
	if (!order)
		order = strcmp(x->label, y->label);
	return order ? order : strcmp(x->op, y->op);
}

static void take_numbers(struct live *live, struct live_reading *reading)
{
	uint64_t started = live->sched ? live->sched->bss->live_started : 0;
	uint64_t lost = (live->sched ? live->sched->bss->live_lost : 0) +
			(live->call ? live->call->bss->live_lost : 0) +
			(live->block ? live->block->bss->live_lost : 0);

	reading->ts = clock_monotonic();
	reading->length = reading->ts - live->read_at;
	reading->started = started - live->started;
	reading->lost = lost - live->lost;
	live->read_at = reading->ts;
	live->started = started;
	live->lost = lost;
}

int live_read(struct live *live, struct live_reading *reading, struct error *e)
{
	int err = 0;

	reading->series.size = reading->threads.size = reading->files.size = 0;
	take_numbers(live, reading);
	if (live->sched)
		err = take_sched(live, reading);
	if (!err && live->call)
		err = take_calls(live, reading);
	if (!err && live->block)
		err = take_disks(live, reading);
	if (!err && live->config.per_process)
		err = map_drain(reading, bpf_map__fd(live->sched->maps.live_processes),
				sizeof(struct live_process_key), sizeof(struct live_process),
				each_process);
	if (!err && live->config.top)
		err = take_top(live, reading);
	if (err) {
		errno = -err;
		return error_errno(e, "cannot read the live histograms");
	}
	if (reading->series.size)
		qsort(reading->series.data, live_series_count(reading), sizeof(struct live_series),
		      compare_series);
	return 0;
}
