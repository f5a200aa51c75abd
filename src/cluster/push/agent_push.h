/* An agent's samples on their way to ClickHouse: a thread that reads on in the store, spools what is new and delivers it.
 *
 * The store is the source and the spool keeps the place in it, so a disk that is full, or a server that is away, costs
 * nothing as long as the store keeps its samples. One thread a pusher; it has connections of its own.
 */
#ifndef STRATA_CLUSTER_PUSH_AGENT_PUSH_H
#define STRATA_CLUSTER_PUSH_AGENT_PUSH_H

#include "base/error.h"
#include "cluster/push/pusher.h"

struct agent_push;

/* What came of it so far; for /metrics. */
struct agent_push_counts {
	uint64_t batches, rows, bytes; /* delivered */
	uint64_t waiting;	       /* bytes in the spool */
	uint64_t failures;	       /* attempts that did not succeed */
};

/* options->spool NULL: beside the store. Only what would never work fails here; a server may be away. */
int agent_push_start(struct agent_push **push, const struct push_options *options,
		     const char *store_path, const char *node, struct error *e);
/* Sends what is left, for a few seconds at most, and frees it. NULL is fine. */
void agent_push_stop(struct agent_push *push);

void agent_push_counts(const struct agent_push *push, struct agent_push_counts *counts);

#endif
