/* Calls that were counted inside of the job's processes, as rows of table counter. The counters of a ring are never set back; what
 * an interval had is the difference between two readings. */
#ifndef STRATA_PROBES_INPROCESS_COUNTS_H
#define STRATA_PROBES_INPROCESS_COUNTS_H

#include "inject/pool.h"
#include "inprocess/calls.h"
#include "store/sink.h"
#include "symbols/calls.h"

struct inprocess_counts;

/* numbers: of `calls`, by enum inprocess_function; both stay the caller's. interval: ns. */
int inprocess_counts_open(struct inprocess_counts **counts, struct pool *pool,
			  const struct calls *calls, const uint32_t *numbers, uint64_t interval,
			  struct error *e);
void inprocess_counts_close(struct inprocess_counts *counts);

void inprocess_counts_start(struct inprocess_counts *counts, uint64_t now);

/* The rows of all threads, if an interval is over, or at once. */
void inprocess_counts_tick(struct inprocess_counts *counts, struct sink *sink, bool at_once);

/* The rows of a thread that ends. */
void inprocess_counts_take(struct inprocess_counts *counts, struct sink *sink,
			   const struct pool_writer *writer, const struct inprocess_area *area);

#endif
