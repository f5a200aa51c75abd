#include "analyze/usage.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/cells.h"

#define MOST_DEVICES 65536

int usage_open(struct usage *usage, struct context *context)
{
	*usage = (struct usage){ .context = context, .all.cpu = -1 };
	return 0;
}

/* How much of the interval lies inside the window. */
static double overlap(const struct usage *usage, uint64_t ts, int64_t dur)
{
	uint64_t from = context_clip(usage->context, ts);
	uint64_t to = context_clip(usage->context, ts + (dur == CELL_NULL ? 0 : (uint64_t)dur));

	return to > from ? (double)(to - from) : 0;
}

static int take_cpu(void *state, const struct rows *rows)
{
	struct usage *usage = state;
	int64_t number = rows_cell(rows, column_cpu_cpu);
	double weight = overlap(usage, (uint64_t)rows_cell(rows, column_cpu_ts),
				rows_cell(rows, column_cpu_dur));
	struct cpu_average *cpu = &usage->all;

	if (number == CELL_NULL || number >= MOST_DEVICES || weight <= 0)
		return 0;
	if (number >= 0)
		cpu = buf_element(&usage->cpu_list, (size_t)number, sizeof(*cpu));
	if (!cpu)
		return -ENOMEM;
	cpu->cpu = number;
	cpu->weight += weight;
	cpu->usr +=
		weight * (cell_real(rows, column_cpu_usr) + cell_real(rows, column_cpu_nice) +
			  cell_real(rows, column_cpu_guest) + cell_real(rows, column_cpu_gnice));
	cpu->sys += weight * cell_real(rows, column_cpu_sys);
	cpu->iowait += weight * cell_real(rows, column_cpu_iowait);
	cpu->irq += weight * (cell_real(rows, column_cpu_irq) + cell_real(rows, column_cpu_soft));
	cpu->steal += weight * cell_real(rows, column_cpu_steal);
	cpu->idle += weight * cell_real(rows, column_cpu_idle);
	return 0;
}

static int take_disk(void *state, const struct rows *rows)
{
	struct usage *usage = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_disk_ts);
	double weight = overlap(usage, ts, rows_cell(rows, column_disk_dur));
	struct disk_average *disk;
	const char *name;
	uint32_t number;
	size_t size;

	name = rows_text(rows, column_disk_dev, &size);
	if (!name || weight <= 0)
		return 0;
	if (strings_add(&usage->disk_names, name, size, &number))
		return -ENOMEM;
	disk = buf_element(&usage->disk_list, number, sizeof(*disk));
	if (!disk)
		return -ENOMEM;
	disk->weight += weight;
	disk->util += weight * cell_real(rows, column_disk_util);
	disk->queue += weight * cell_real(rows, column_disk_queue);
	if (cell_real(rows, column_disk_util) > disk->most_util)
		disk->most_util = cell_real(rows, column_disk_util);
	if (!context_inside(usage->context, ts))
		return 0;
	disk->reads += cell_known(rows_cell(rows, column_disk_reads));
	disk->writes += cell_known(rows_cell(rows, column_disk_writes));
	disk->read_bytes += cell_known(rows_cell(rows, column_disk_read_bytes));
	disk->write_bytes += cell_known(rows_cell(rows, column_disk_write_bytes));
	return 0;
}

static int take_gpu(void *state, const struct rows *rows)
{
	struct usage *usage = state;
	int64_t number = rows_cell(rows, column_gpu_gpu);
	double weight = overlap(usage, (uint64_t)rows_cell(rows, column_gpu_ts),
				rows_cell(rows, column_gpu_dur));
	struct gpu_average *gpu;

	if (number < 0 || number >= MOST_DEVICES || weight <= 0)
		return 0;
	/* Of slices, and of a device that is cut into some, the driver does not tell the use. */
	if (rows_cell(rows, column_gpu_mig) != CELL_NULL ||
	    rows_cell(rows, column_gpu_sm) == CELL_NULL)
		return 0;
	gpu = buf_element(&usage->gpu_list, (size_t)number, sizeof(*gpu));
	if (!gpu)
		return -ENOMEM;
	gpu->gpu = number;
	gpu->weight += weight;
	gpu->sm += weight * cell_real(rows, column_gpu_sm);
	gpu->mem += weight * cell_real(rows, column_gpu_mem);
	gpu->power += weight * cell_real(rows, column_gpu_power);
	gpu->idle += cell_real(rows, column_gpu_sm) < USAGE_IDLE_SM ? weight : 0;
	if (cell_known(rows_cell(rows, column_gpu_fb_used)) > gpu->most_fb)
		gpu->most_fb = cell_known(rows_cell(rows, column_gpu_fb_used));
	if (cell_known(rows_cell(rows, column_gpu_fb_total)))
		gpu->fb_total = cell_known(rows_cell(rows, column_gpu_fb_total));
	return 0;
}

size_t usage_sinks(struct usage *usage, struct scan_sink *sinks)
{
	sinks[0] = (struct scan_sink){ TABLE_cpu, ~0ull, take_cpu, usage };
	sinks[1] = (struct scan_sink){ TABLE_disk, ~0ull, take_disk, usage };
	sinks[2] = (struct scan_sink){ TABLE_gpu, ~0ull, take_gpu, usage };
	return USAGE_SINKS;
}

static void finish_cpu(struct cpu_average *cpu)
{
	double *sums[] = { &cpu->usr, &cpu->sys, &cpu->iowait, &cpu->irq, &cpu->steal, &cpu->idle };

	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums) && cpu->weight > 0; i++)
		*sums[i] /= cpu->weight;
	cpu->busy = 100 - cpu->idle - cpu->iowait;
}

static void finish_gpus(struct usage *usage)
{
	struct gpu_average *gpus = (struct gpu_average *)usage->gpu_list.data;
	struct gpu_average *all = &usage->all_gpus;

	usage->gpus = gpus;
	for (size_t i = 0; i < usage->gpu_list.size / sizeof(*gpus); i++) {
		struct gpu_average gpu = gpus[i];

		if (gpu.weight <= 0)
			continue;
		gpu.sm /= gpu.weight;
		gpu.mem /= gpu.weight;
		gpu.power /= gpu.weight;
		gpu.idle = gpu.idle / gpu.weight * 100;
		usage->gpus[usage->gpu_count++] = gpu;
		all->weight += gpu.weight;
		all->sm += gpu.sm;
		all->idle += gpu.idle;
	}
	if (usage->gpu_count) {
		all->sm /= (double)usage->gpu_count;
		all->idle /= (double)usage->gpu_count;
	}
}

void usage_finish(struct usage *usage)
{
	struct cpu_average *cpus = (struct cpu_average *)usage->cpu_list.data;

	finish_cpu(&usage->all);
	usage->cpus = cpus;
	for (size_t i = 0; i < usage->cpu_list.size / sizeof(*cpus); i++)
		if (cpus[i].weight > 0) {
			finish_cpu(&cpus[i]);
			usage->cpus[usage->cpu_count++] = cpus[i];
		}
	usage->disks = (struct disk_average *)usage->disk_list.data;
	usage->disk_count = usage->disk_list.size / sizeof(*usage->disks);
	for (size_t i = 0; i < usage->disk_count; i++) {
		struct disk_average *disk = &usage->disks[i];

		disk->name = strings_get(&usage->disk_names, (uint32_t)i, &disk->name_size);
		disk->util /= disk->weight;
		disk->queue /= disk->weight;
	}
	finish_gpus(usage);
}

void usage_free(struct usage *usage)
{
	strings_free(&usage->disk_names);
	buf_free(&usage->cpu_list);
	buf_free(&usage->disk_list);
	buf_free(&usage->gpu_list);
	*usage = (struct usage){ 0 };
}
