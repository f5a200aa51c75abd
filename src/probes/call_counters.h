/* Calls that were counted in the kernel, as rows of table counter: one for each function and thread that called it in an interval.
 * The kernel counts from the beginning of the recording on and is never stopped; what an interval had is the difference
 * between two readings.
 */
#ifndef STRATA_PROBES_CALL_COUNTERS_H
#define STRATA_PROBES_CALL_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/call.h"
#include "store/sink.h"

struct call_counters;

/* What is counted under a number. */
struct counted {
	const char *name;
	const char *module;
	bool timed;	  /* its calls have lengths */
	bool moves_bytes; /* something says how many */
};

/* An interval's calls of one function by one thread. */
struct counted_interval {
	uint64_t since, until;
	uint32_t pid, tid; /* 0: not known */
	struct counted counted;
	uint64_t count, time, bytes;
	uint64_t buckets[CALL_BUCKETS];
};

/* Adds it as a row. */
void counted_add_row(struct sink *sink, const struct counted_interval *interval);

/* Of what is called by the number; false: nothing is. */
typedef bool counted_find(const void *context, uint32_t number, struct counted *counted);

int call_counters_open(struct call_counters **counters, int map, counted_find *find,
		       const void *context, struct error *e);
void call_counters_close(struct call_counters *counters);

void call_counters_start(struct call_counters *counters, uint64_t now);

/* Nothing is counted from now on: the last interval ends here, whenever it is taken. */
void call_counters_stop(struct call_counters *counters, uint64_t now);

/* The rows of the interval since the last time. */
void call_counters_take(struct call_counters *counters, struct sink *sink);

#endif
