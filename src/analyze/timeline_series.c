/* The sampled series of a timeline: what CPUs, disks and GPUs were busy with. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells.h"
#include "analyze/timeline_load.h"

/* A curve that is left out. */
static struct timeline_series *series_unkept(struct timeline *timeline, const char *name)
{
	uint32_t number;

	return strings_add(&timeline->unkept_names, name, strlen(name), &number)
		       ? NULL
		       : &timeline->unkept;
}

static struct timeline_series *series_of(struct timeline *timeline, const char *group,
					 const char *name, const char *unit)
{
	struct timeline_series *list = (struct timeline_series *)timeline->series_list.data;
	size_t count = timeline->series_list.size / sizeof(*list);
	struct timeline_series made = { .group = group, .unit = unit };

	for (size_t i = 0; i < count; i++)
		if (list[i].group == group && !strcmp(list[i].name, name))
			return &list[i];
	if (count == TIMELINE_MOST_SERIES)
		return series_unkept(timeline, name);
	snprintf(made.name, sizeof(made.name), "%s", name);
	made.mean = calloc(TIMELINE_SLICES, sizeof(*made.mean));
	made.weight = calloc(TIMELINE_SLICES, sizeof(*made.weight));
	if (!made.mean || !made.weight || buf_append(&timeline->series_list, &made, sizeof(made))) {
		free(made.mean);
		free(made.weight);
		return NULL;
	}
	return (struct timeline_series *)timeline->series_list.data + count;
}

static int add_sample(struct timeline *timeline, const char *group, const char *name,
		      const char *unit, uint64_t ts, int64_t dur, double value)
{
	struct timeline_series *series = series_of(timeline, group, name, unit);
	uint64_t from = context_clip(timeline->context, ts);
	uint64_t to = context_clip(timeline->context, ts + cell_known(dur));

	if (!series)
		return -ENOMEM;
	if (from >= to || !series->mean)
		return 0;
	for (size_t slice = timeline_slice(timeline, from);
	     slice <= timeline_slice(timeline, to - 1); slice++) {
		series->mean[slice] += value;
		series->weight[slice] += 1;
	}
	return 0;
}

int timeline_take_cpu(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_cpu_ts);
	int64_t dur = rows_cell(rows, column_cpu_dur);

	if (rows_cell(rows, column_cpu_cpu) != -1)
		return 0;
	if (add_sample(timeline, "cpu", "usr", "%", ts, dur,
		       cell_real(rows, column_cpu_usr) + cell_real(rows, column_cpu_nice)) ||
	    add_sample(timeline, "cpu", "sys", "%", ts, dur,
		       cell_real(rows, column_cpu_sys) + cell_real(rows, column_cpu_irq) +
			       cell_real(rows, column_cpu_soft)) ||
	    add_sample(timeline, "cpu", "iowait", "%", ts, dur, cell_real(rows, column_cpu_iowait)))
		return -ENOMEM;
	return add_sample(timeline, "cpu", "idle", "%", ts, dur, cell_real(rows, column_cpu_idle));
}

int timeline_take_disk(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_disk_ts);
	int64_t dur = rows_cell(rows, column_disk_dur);
	double seconds = (double)cell_known(dur) / 1e9;
	char name[64];
	size_t size;
	const char *dev = rows_text(rows, column_disk_dev, &size);
	uint64_t bytes[] = { cell_known(rows_cell(rows, column_disk_read_bytes)),
			     cell_known(rows_cell(rows, column_disk_write_bytes)) };

	for (unsigned i = 0; i < 2 && dev && seconds > 0; i++) {
		snprintf(name, sizeof(name), "%.*s %s", (int)(size < 40 ? size : 40), dev,
			 i ? "write" : "read");
		/* Disks that never move a byte have no curve. */
		if (bytes[i] && add_sample(timeline, "disk", name, "bytes/s", ts, dur,
					   (double)bytes[i] / seconds))
			return -ENOMEM;
	}
	return 0;
}

int timeline_take_gpu(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_gpu_ts), used, total;
	int64_t dur = rows_cell(rows, column_gpu_dur), gpu = rows_cell(rows, column_gpu_gpu);
	char name[64];

	snprintf(name, sizeof(name), "GPU %lld SM", (long long)gpu);
	if (add_sample(timeline, "gpu", name, "%", ts, dur, cell_real(rows, column_gpu_sm)))
		return -ENOMEM;
	snprintf(name, sizeof(name), "GPU %lld memory", (long long)gpu);
	if (add_sample(timeline, "gpu", name, "%", ts, dur, cell_real(rows, column_gpu_mem)))
		return -ENOMEM;
	used = cell_known(rows_cell(rows, column_gpu_fb_used));
	total = cell_known(rows_cell(rows, column_gpu_fb_total));
	snprintf(name, sizeof(name), "GPU %lld frame buffer", (long long)gpu);
	return add_sample(timeline, "gpu", name, "%", ts, dur,
			  total ? (double)used / (double)total * 100 : 0);
}

/* Sums become means. */
void timeline_finish_series(struct timeline *timeline)
{
	timeline->series = (struct timeline_series *)timeline->series_list.data;
	timeline->series_count = timeline->series_list.size / sizeof(*timeline->series);
	timeline->series_left_out = timeline->unkept_names.count;
	for (size_t i = 0; i < timeline->series_count; i++)
		for (size_t slice = 0; slice < TIMELINE_SLICES; slice++) {
			struct timeline_series *series = &timeline->series[i];

			series->mean[slice] = series->weight[slice] > 0
						      ? series->mean[slice] / series->weight[slice]
						      : NAN;
		}
}
