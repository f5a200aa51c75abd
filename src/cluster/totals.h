/* What /metrics shows: everything since the agent's start, kept in memory and printed as Prometheus' text (0.0.4) or OpenMetrics
 * (1.0). One thread adds intervals, any number print: it locks.
 */
#ifndef STRATA_CLUSTER_TOTALS_H
#define STRATA_CLUSTER_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "cluster/metric_store.h"

struct totals;

/* The agent's own losses and costs. */
struct totals_own {
	uint64_t lost;	    /* events that the programs could not count */
	uint64_t intervals; /* written to the store */
	uint64_t unwritten; /* that could not be written */
	uint64_t late;	    /* that began late, since the agent was kept from running */
	uint64_t cpu_ns;    /* CPU time of the agent, without that of its programs in the kernel */
	uint64_t store_bytes, resident_bytes;
};

int totals_open(struct totals **totals, const char *node, struct error *e);
void totals_close(struct totals *totals);

/* A series beyond the most that are kept is counted as lost. */
void totals_add(struct totals *totals, const struct metric_interval *interval,
		const struct totals_own *own);

/* An answer was given with this status. */
void totals_count_answer(struct totals *totals, unsigned status);

/* 0 or -ENOMEM. */
int totals_print(struct totals *totals, bool openmetrics, struct buf *out);

#endif
