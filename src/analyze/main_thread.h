/* The main thread's life as parts that add up to it: its figures of the window, and what no row tells.
 * A life runs from the main process' start to its end, as far as they lie in the window.
 */
#ifndef STRATA_ANALYZE_MAIN_THREAD_H
#define STRATA_ANALYZE_MAIN_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/figures.h"

/* PART(figure, what is said of it) */
#define MAIN_PARTS(PART)                                      \
	PART(cpu, "on a CPU")                                 \
	PART(queue, "ready, waiting for a CPU")               \
	PART(workers, "asleep until a data worker woke it")   \
	PART(storage, "asleep until storage had answered")    \
	PART(lock, "asleep for a lock in the kernel")         \
	PART(own, "asleep until a thread of its own woke it") \
	PART(others, "asleep until another process woke it")  \
	PART(events, "asleep until a timer or device woke it")

/* Those, and what is not known. */
enum main_part_id {
#define PART_ID(figure, says) MAIN_##figure,
	MAIN_PARTS(PART_ID)
#undef PART_ID
		MAIN_UNKNOWN,
	MAIN_PART_COUNT
};

struct main_part {
	const char *figure; /* main_cpu_ns; NULL: not known */
	const char *says;
	uint64_t ns;
	double share; /* of the life; NAN without one */
	bool slight;  /* below a thousandth: left out of what people read */
};

struct main_thread {
	bool known;    /* there is a main process, and its thread has a stay on a CPU */
	uint32_t proc; /* place in procs, or PROC_NONE */
	uint64_t life_ns;
	struct main_part parts[MAIN_PART_COUNT]; /* the longest first */
};

/* `seen`: whether there was a row of its thread; `total`: the figures of the window. */
void main_thread_load(struct main_thread *main, const struct context *context, bool seen,
		      const struct figures *total);

#endif
