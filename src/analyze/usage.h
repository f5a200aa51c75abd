/* How busy CPUs, disks and GPUs were: averages over the window, weighted by time, from the sampled tables
 * cpu, disk and gpu. An interval that spans an end of the window counts with the part inside.
 */
#ifndef STRATA_ANALYZE_USAGE_H
#define STRATA_ANALYZE_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/scan.h"

#define USAGE_IDLE_SM 5 /* %: a GPU with less is idle */

struct cpu_average {
	int64_t cpu;   /* -1: all */
	double weight; /* ns that the sums are of */
	/* Sums of share * ns; after usage_finish shares, %. */
	double usr, sys, iowait, irq, steal, idle;
	double busy; /* what is neither idle nor iowait */
};

struct disk_average {
	const char *name; /* not terminated */
	size_t name_size;
	double weight, util, queue; /* util: % of the time with a request outstanding */
	double most_util;
	uint64_t reads, writes, read_bytes, write_bytes; /* of intervals that begin in the window */
};

struct gpu_average {
	int64_t gpu;
	double weight, sm, mem, power;
	double idle; /* ns of samples with sm below USAGE_IDLE_SM; after usage_finish a share, % */
	uint64_t most_fb, fb_total;
};

struct usage {
	struct context *context;
	struct cpu_average all;	  /* weight 0: not recorded */
	struct cpu_average *cpus; /* by number */
	size_t cpu_count;
	struct disk_average *disks;
	size_t disk_count;
	struct gpu_average *gpus; /* by number */
	size_t gpu_count;
	struct gpu_average all_gpus; /* means of them; weight 0: none was recorded */
	struct strings disk_names;
	struct buf cpu_list, disk_list, gpu_list;
};

int usage_open(struct usage *usage, struct context *context);
size_t usage_sinks(struct usage *usage, struct scan_sink *sinks); /* at most USAGE_SINKS */
#define USAGE_SINKS 3
void usage_finish(struct usage *usage);
void usage_free(struct usage *usage);

#endif
