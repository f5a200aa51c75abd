/* The run as a picture: a lane for each process, with how it spent each slice of the time, and below it one for each
 * stream of a GPU that it used; series for the whole machine, and single events. From the tables sched, io, fs, block,
 * gpu_op, cpu, disk and gpu.
 *
 * Memory and size are bounded whatever the run's length: slices are a fixed number, and of the events those
 * kept are the longest, and of the calls that move data also the largest. While there are no more than
 * TIMELINE_EVENTS, all are kept.
 */
#ifndef STRATA_ANALYZE_TIMELINE_H
#define STRATA_ANALYZE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/scan.h"

#define TIMELINE_SLICES	     2048
#define TIMELINE_LANES	     64 /* processes with a lane of their own; the rest share the last one */
#define TIMELINE_MOST_SERIES 512 /* curves; the rest are left out, and counted */
#define TIMELINE_EVENTS	     160000
#define TIMELINE_LARGEST     20000
#define TIMELINE_LATENCIES   48	 /* powers of two of nanoseconds */
#define TIMELINE_HEAT	     256 /* slices of the heat map */

/* What a lane shows: KIND(name, table of its rows). */
#define TIMELINE_KINDS(KIND) \
	KIND(cpu, sched)     \
	KIND(read, io)       \
	KIND(write, io)      \
	KIND(open, fs)       \
	KIND(metadata, fs)   \
	KIND(block, block)   \
	KIND(gpu, gpu_op)

enum timeline_kind {
#define KIND_ID(name, table) TIMELINE_##name,
	TIMELINE_KINDS(KIND_ID)
#undef KIND_ID
		TIMELINE_KIND_COUNT
};

struct timeline_kind_info {
	const char *name;
	enum table_id table;
};

extern const struct timeline_kind_info timeline_kinds[TIMELINE_KIND_COUNT];

struct timeline_lane {
	uint32_t proc;	/* PROC_NONE: all others */
	bool of_stream; /* what the process had one stream of a GPU do */
	uint32_t gpu, stream;
	float *busy[TIMELINE_KIND_COUNT]; /* ns of each slice; NULL: never */
};

struct timeline_event {
	uint64_t ts, dur;
	uint64_t bytes;
	uint32_t tid;
	uint32_t path; /* number in paths, + 1; 0: none */
	uint16_t op;   /* number in ops */
	uint8_t lane, kind;
};

/* A sampled value over time: at most TIMELINE_SLICES means. */
struct timeline_series {
	char name[64];
	const char *group, *unit; /* cpu, disk, gpu; %, bytes/s */
	double *mean;		  /* by slice; NAN: no sample. While loading, the sum */
	double *weight;
};

struct timeline {
	struct context *context;
	double slice_ns;
	struct timeline_lane lanes[TIMELINE_LANES];
	size_t lane_count;
	struct timeline_event *events; /* in order of ts, once finished */
	size_t event_count;
	uint64_t seen; /* events that there were */
	struct timeline_series *series;
	size_t series_count;
	size_t series_left_out; /* curves past TIMELINE_MOST_SERIES */
	/* Of the bytes that reads of regular files returned: the share from the page cache, 0 to 1;
	 * NAN where none were read, or it is not known. */
	double cached_share[TIMELINE_SLICES];
	uint32_t heat[TIMELINE_HEAT][TIMELINE_LATENCIES]; /* calls that read */
	struct strings paths, ops;

	/* While loading. */
	struct numbering by_lane, by_file;
	struct buf longest, largest; /* heaps of struct timeline_event, the least first */
	struct buf series_list;
	struct timeline_series
		unkept; /* stands for those past TIMELINE_MOST_SERIES, and keeps nothing */
	struct strings unkept_names;
	struct buf files; /* struct timeline_file by number of by_file */
	uint16_t op_places[TABLE_COUNT]
			  [SYSCALL_COUNT]; /* number in ops + 1, by number of the name */
	double told_bytes[TIMELINE_SLICES], fetched_bytes[TIMELINE_SLICES];
};

int timeline_open(struct timeline *timeline, struct context *context);
size_t timeline_sinks(struct timeline *timeline,
		      struct scan_sink *sinks); /* at most TIMELINE_SINKS */
#define TIMELINE_SINKS 8
int timeline_finish(struct timeline *timeline);
void timeline_free(struct timeline *timeline);

#endif
