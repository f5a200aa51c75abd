/* What GPUs did, from table gpu_op: how long each was busy, with what, how long after its launch work began, when a device had nothing to
 * do, and which threads waited for one. A device is busy while anything but a wait runs on any of its streams: what overlaps
 * counts once.
 */
#ifndef STRATA_ANALYZE_GPU_WORK_H
#define STRATA_ANALYZE_GPU_WORK_H

#include "analyze/context.h"
#include "analyze/hist.h"
#include "analyze/scan.h"

/* Of one device, in the window. */
struct gpu_busy {
	int64_t gpu;
	uint64_t count;	    /* kernels, copies and memsets */
	uint64_t busy_ns;   /* with at least one of them */
	uint64_t kernel_ns; /* with at least one kernel */
	double share;	    /* busy_ns by the length of the window */
	uint64_t first, until,
		kernel_until; /* since when, and up to when it has been busy so far */
	struct hist gaps; /* ns between the end of what ran and the beginning of what came next */
	uint64_t gaps_ns, longest_gap, longest_gap_ts;
};

/* All kernels of one name, or all copies of one direction, or all memsets. */
struct gpu_name {
	const char *name; /* not terminated */
	size_t name_size;
	uint64_t count, ns, most_ns, bytes;
	uint64_t pageable_bytes; /* from or to memory of the host that is not pinned */
	double share;		 /* of all kernels' time, or all copies' */
	double rate;		 /* bytes a second while they ran; NAN: nothing was moved */
	uint32_t kind;		 /* enum gpu_work_kind */
};

enum gpu_work_kind {
	GPU_WORK_KERNEL,
	GPU_WORK_COPY,
	GPU_WORK_MEMSET,
	GPU_WORK_WAIT,
	GPU_WORK_OTHER
};

/* A thread that waited for a device, whether it slept or spun. */
struct gpu_waiter {
	int64_t tid;
	const char *comm; /* not terminated; NULL: not known */
	size_t comm_size;
	uint64_t count, ns, most_ns, last_ts;
};

struct gpu_work {
	struct context *context;
	bool known;		  /* there are rows */
	struct gpu_busy *devices; /* by number */
	size_t device_count;
	struct gpu_name *kernels; /* by time, most first */
	size_t kernel_count;
	struct gpu_name *copies; /* and memsets, by time */
	size_t copy_count;
	struct gpu_waiter *waiters; /* by time */
	size_t waiter_count;
	struct hist delay; /* ns from a launch to the beginning of its kernel */
	uint64_t graph_kernels;
	struct strings names; /* of kernels; a letter for the kind before each */
	struct buf device_list, name_list, waiter_list;
};

void gpu_work_open(struct gpu_work *work, struct context *context);
struct scan_sink gpu_work_sink(struct gpu_work *work);
void gpu_work_finish(struct gpu_work *work);
void gpu_work_free(struct gpu_work *work);

#endif
