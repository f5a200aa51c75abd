/* The figures that every phase has, and the time that they are counted by.
 *
 * The bounds of all phases cut the run into segments; rows are counted by segment, and a phase's figures
 * are the sums of its segments, so that phases may nest and overlap. A call belongs to the segment in
 * which it began; time on and off the CPU is divided among the segments that it spans.
 */
#ifndef STRATA_ANALYZE_FIGURES_H
#define STRATA_ANALYZE_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/phases.h"
#include "schema/layers.h"
#include "store/times.h"

/* What an amount is counted in. */
enum amount { AMOUNT_ns, AMOUNT_bytes, AMOUNT_count };

extern const char *const amount_names[];

/* FIGURE(name, layer that it is counted from, unit, doc). All are uint64_t. */
#define FIGURES(FIGURE)                                                                      \
	FIGURE(cpu_ns, sched, ns, "the job's time on CPUs")                                  \
	FIGURE(queue_ns, sched, ns, "the job's time waiting for a CPU")                      \
	FIGURE(main_cpu_ns, sched, ns, "main thread: on a CPU")                              \
	FIGURE(main_queue_ns, sched, ns, "main thread: waiting for a CPU")                   \
	FIGURE(main_storage_ns, sched, ns, "main thread: asleep until storage had answered") \
	FIGURE(main_lock_ns, sched, ns, "main thread: asleep for a lock in the kernel")      \
	FIGURE(main_workers_ns, sched, ns, "main thread: asleep until a worker woke it")     \
	FIGURE(main_own_ns, sched, ns, "main thread: asleep until an own thread woke it")    \
	FIGURE(main_others_ns, sched, ns, "main thread: asleep until others woke it")        \
	FIGURE(main_events_ns, sched, ns, "main thread: asleep until a timer or device did") \
	FIGURE(reads, io, count, "read calls")                                               \
	FIGURE(read_bytes, io, bytes, "bytes read")                                          \
	FIGURE(read_ns, io, ns, "time in reads")                                             \
	FIGURE(missed_bytes, io, bytes, "bytes that reads filled into the page cache")       \
	FIGURE(writes, io, count, "write calls")                                             \
	FIGURE(write_bytes, io, bytes, "bytes written")                                      \
	FIGURE(write_ns, io, ns, "time in writes")                                           \
	FIGURE(opens, fs, count, "calls that open a file")                                   \
	FIGURE(stats, fs, count, "calls of the stat and access families")                    \
	FIGURE(metadata_ns, fs, ns, "time in metadata calls")                                \
	FIGURE(device_read_bytes, block, bytes, "bytes that block devices read")             \
	FIGURE(device_write_bytes, block, bytes, "bytes that block devices wrote")           \
	FIGURE(device_ns, block, ns, "time of block requests at the driver")

struct figures {
#define FIGURE_FIELD(name, ...) uint64_t name;
	FIGURES(FIGURE_FIELD)
#undef FIGURE_FIELD
};

#define FIGURE_PLACE(name) (offsetof(struct figures, name) / sizeof(uint64_t))
#define FIGURE_COUNT	   (sizeof(struct figures) / sizeof(uint64_t))

struct figure_info {
	const char *name, *doc;
	enum layer layer;
	enum amount unit;
};

extern const struct figure_info figure_infos[FIGURE_COUNT];

static inline uint64_t figure_at(const struct figures *figures, size_t place)
{
	return ((const uint64_t *)figures)[place];
}

/* Figures that are spans of time come first, so that segments_add_time() takes the places below this. */
#define FIGURE_TIMES FIGURE_PLACE(reads)

/* While rows are counted, `figures` has what is of one segment, and `begun` how many spans more cover a segment whole
 * than the one before: a span costs the same however many segments it covers. segments_settle() makes running sums of both. */
struct segments {
	uint64_t *bounds; /* count + 1 of them */
	struct figures *figures;
	uint32_t (*begun)[FIGURE_TIMES];
	size_t count, last;
};

/* Segments of the window: rows outside it are not counted. */
int segments_open(struct segments *segments, const struct phases *phases,
		  const struct span *window);
void segments_close(struct segments *segments);

/* The figures of the moment, or NULL outside the window. */
struct figures *segments_at(struct segments *segments, uint64_t ts);

/* Divides the time from `from` to `to` among the segments; `field` is the place of the figure. */
void segments_add_time(struct segments *segments, size_t field, uint64_t from, uint64_t to);

/* Called once all rows are counted, before any sum is asked for. */
void segments_settle(struct segments *segments);

/* The sums over [start, end), which must be bounds. */
struct figures segments_sum(const struct segments *segments, uint64_t start, uint64_t end);

#endif
