/* The GPUs' time: busy, or idle for a cause. A device is busy while any operation runs on it, on whatever stream; its idle time before an
 * operation is charged through the thread that launched that one, by the walk from there backward, as the focus thread's own is. Busy
 * and idle add up to the focus thread's life to the nanosecond.
 *
 * Rows of kind wait (or sync) are calls in which a thread waited for a device: whether it slept or spun, the time is the GPU's.
 *
 * gpus_load() reads the rows, gpus_charge() charges the idle time, gpus_free() releases both.
 */
#ifndef STRATA_ANALYZE_WHY_GPU_H
#define STRATA_ANALYZE_WHY_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/stays.h"
#include "analyze/why_acts.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/strings.h"
#include "store/reader.h"

struct why;

/* A call of a thread that waited for a device; calls of a thread do not overlap. */
struct gpu_wait {
	uint64_t ts, end;
	uint32_t thread;
	uint32_t name; /* of the call, in why_calls.names */
};

struct why_gpu {
	int64_t gpu;
	uint64_t operations;
	uint64_t busy_ns, idle_ns;
	uint64_t loop_busy_ns; /* in the loop */
	uint64_t acts[WHY_ACT_COUNT];
	uint64_t causes[WHY_CAUSE_COUNT];
};

struct gpus {
	struct buf operations; /* struct gpu_operation, in order of (gpu, ts) */
	struct buf waits;      /* struct gpu_wait, in order of (thread, ts) */
	struct buf list;       /* struct why_gpu */
};

int gpus_load(struct gpus *gpus, struct reader *reader, const struct stays *stays,
	      struct strings *names, struct error *e);
int gpus_charge(struct why *why);
void gpus_free(struct gpus *gpus);

/* The wait of the thread that is under way at ts, or else the next one; NULL: none. */
const struct gpu_wait *gpus_wait(const struct gpus *gpus, uint32_t thread, uint64_t ts);

static inline size_t gpus_count(const struct gpus *gpus)
{
	return gpus->list.size / sizeof(struct why_gpu);
}

static inline const struct why_gpu *gpus_get(const struct gpus *gpus, size_t i)
{
	return (const struct why_gpu *)gpus->list.data + i;
}

#endif
