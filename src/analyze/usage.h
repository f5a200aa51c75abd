/* How busy CPUs, disks and GPUs were: averages over the window, weighted by time, from the sampled tables
 * cpu, disk and gpu. An interval that spans an end of the window counts with the part inside.
 */
#ifndef STRATA_ANALYZE_USAGE_H
#define STRATA_ANALYZE_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/scan.h"

struct cpu_usage {
	int64_t cpu;   /* -1: all */
	double weight; /* ns that the sums are of */
	double usr, sys, iowait, irq, steal,
		idle; /* sums of share * ns; after usage_finish shares, % */
};

struct disk_usage {
	const char *name; /* not terminated */
	size_t name_size;
	double weight, util, queue; /* util: % of the time with a request outstanding */
	double most_util;
	uint64_t reads, writes, read_bytes, write_bytes; /* of intervals that begin in the window */
};

struct gpu_usage {
	int64_t gpu;
	double weight, sm, mem, power;
	double idle; /* ns of samples with sm below 5 %; after usage_finish a share, % */
	uint64_t most_fb, fb_total;
};

struct usage {
	struct context *context;
	struct cpu_usage all;	/* weight 0: not recorded */
	struct cpu_usage *cpus; /* by number */
	size_t cpu_count;
	struct disk_usage *disks;
	size_t disk_count;
	struct gpu_usage *gpus; /* by number */
	size_t gpu_count;
	struct strings disk_names;
	struct buf cpu_list, disk_list, gpu_list;
};

int usage_open(struct usage *usage, struct context *context);
size_t usage_sinks(struct usage *usage, struct scan_sink *sinks); /* at most USAGE_SINKS */
#define USAGE_SINKS 3
void usage_finish(struct usage *usage);
void usage_free(struct usage *usage);

#endif
