/* The layer disk: what each whole disk did in the interval, from /proc/diskstats. Partitions are left out,
 * and so are devices without a single request since boot. */
#include "sampler/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/layers.h"
#include "sampler/proc_disk.h"
#include "sampler/proc_file.h"

#define TEXT_SIZE  (1u << 20)
#define MOST_DISKS 8192 /* partitions included */

struct disk_reading {
	uint64_t ts; /* 0: not yet */
	size_t count;
	struct disk_counters disks[MOST_DISKS];
	bool whole[MOST_DISKS];
};

struct disk_sampling {
	struct proc_file file;
	int sys_block; /* the folder with an entry for each whole disk */
	struct disk_reading *before, *after;
};

/* ---- readings ---- */

/* The place of a name in a reading, or -1. Devices seldom come and go, so it is mostly where it was. */
static ssize_t find_disk(const struct disk_reading *reading, const char *name, size_t guess)
{
	if (guess < reading->count && !strcmp(reading->disks[guess].name, name))
		return (ssize_t)guess;
	for (size_t i = 0; i < reading->count; i++)
		if (!strcmp(reading->disks[i].name, name))
			return (ssize_t)i;
	return -1;
}

static bool is_whole(const struct disk_sampling *state, const char *name)
{
	char entry[DISK_NAME_SIZE];

	strcpy(entry, name);
	for (char *slash = entry; (slash = strchr(slash, '/'));)
		*slash = '!'; /* as sysfs writes it */
	return strcmp(entry, ".") && strcmp(entry, "..") &&
	       !faccessat(state->sys_block, entry, F_OK, 0);
}

/* Fills `after`. */
static int take_reading(struct disk_sampling *state)
{
	struct disk_reading *now = state->after;
	int err = proc_file_read(&state->file);

	if (err)
		return err;
	now->ts = state->file.ts;
	now->count = disk_parse(state->file.text, state->file.size, now->disks, MOST_DISKS);
	for (size_t i = 0; i < now->count; i++) {
		ssize_t old = find_disk(state->before, now->disks[i].name, i);

		now->whole[i] =
			old >= 0 ? state->before->whole[old] : is_whole(state, now->disks[i].name);
	}
	return 0;
}

/* `after` becomes the beginning of the next interval. */
static void keep_reading(struct disk_sampling *state)
{
	struct disk_reading *spent = state->before;

	state->before = state->after;
	state->after = spent;
}

/* ---- the sampler ---- */

static void disk_close(void *opaque)
{
	struct disk_sampling *state = opaque;

	if (state->file.fd >= 0)
		proc_file_close(&state->file);
	if (state->sys_block >= 0)
		close(state->sys_block);
	free(state->before);
	free(state->after);
	free(state);
}

static int disk_open(void **opaque, struct error *e)
{
	struct disk_sampling *state = calloc(1, sizeof(*state));
	int err;

	if (!state)
		return error_set(e, -ENOMEM, "out of memory");
	state->sys_block = -1;
	err = proc_file_open(&state->file, "/proc/diskstats", TEXT_SIZE, e);
	if (err)
		state->file.fd = -1;
	state->before = calloc(1, sizeof(*state->before));
	state->after = calloc(1, sizeof(*state->after));
	if (!err && (!state->before || !state->after))
		err = error_set(e, -ENOMEM, "out of memory");
	if (!err) {
		state->sys_block = open("/sys/block", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (state->sys_block < 0)
			err = error_errno(e,
					  "cannot tell disks from partitions without /sys/block");
	}
	if (err)
		disk_close(state);
	else
		*opaque = state;
	return err;
}

static void disk_start(void *opaque)
{
	struct disk_sampling *state = opaque;

	if (!take_reading(state))
		keep_reading(state);
}

static void disk_add_row(struct sink *sink, const char *name, const struct disk_usage *usage,
			 uint64_t ts, uint64_t dur)
{
	struct builder *row = sink_table(sink, TABLE_disk);

	if (!row) {
		sink_drop(sink, TABLE_disk);
		return;
	}
	builder_set(row, column_disk_ts, (int64_t)ts);
	builder_set(row, column_disk_dur, (int64_t)dur);
	builder_set_text(row, column_disk_dev, name, strlen(name));
	builder_set(row, column_disk_reads, (int64_t)usage->reads);
	builder_set(row, column_disk_writes, (int64_t)usage->writes);
	builder_set(row, column_disk_read_bytes, (int64_t)usage->read_bytes);
	builder_set(row, column_disk_write_bytes, (int64_t)usage->write_bytes);
	builder_set_real(row, column_disk_util, usage->util);
	builder_set_real(row, column_disk_queue, usage->queue);
	if (!isnan(usage->await))
		builder_set_real(row, column_disk_await, usage->await);
	sink_end_row(sink, TABLE_disk);
}

static void disk_sample(void *opaque, struct sink *sink)
{
	struct disk_sampling *state = opaque;
	const struct disk_reading *before = state->before, *after = state->after;

	/* A reading that fails leaves the interval open. */
	if (take_reading(state) || after->ts <= before->ts)
		return;
	for (size_t i = 0; before->ts && i < after->count; i++) {
		const struct disk_counters *disk = &after->disks[i];
		ssize_t old = find_disk(before, disk->name, i);
		struct disk_usage usage;

		if (!after->whole[i] || !disk_used(disk))
			continue;
		usage = disk_compare(old >= 0 ? &before->disks[old] : NULL, disk,
				     after->ts - before->ts);
		disk_add_row(sink, disk->name, &usage, before->ts, after->ts - before->ts);
	}
	keep_reading(state);
}

const struct sampler disk_sampler = {
	.name = "disk",
	.layers = LAYER_BIT(LAYER_disk),
	.open = disk_open,
	.start = disk_start,
	.sample = disk_sample,
	.close = disk_close,
};
