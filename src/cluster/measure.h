/* What a node does, interval by interval: the live histograms, the figures of the samplers, and those of the job, as samples for
 * the store and for /metrics. One thread uses it.
 */
#ifndef STRATA_CLUSTER_MEASURE_H
#define STRATA_CLUSTER_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "cluster/metric_store.h"

struct measure_config {
	unsigned live;	  /* LIVE_BITs of what is kept */
	const pid_t *job; /* processes whose job is watched; none: the whole machine */
	size_t job_count;
	uint64_t processes; /* of the busiest, histograms of their own */
};

struct measure;

int measure_open(struct measure **measure, const struct measure_config *config, struct error *e);
void measure_close(struct measure *measure);

/* Gives up the capabilities that measuring on does not need; the first interval begins. */
int measure_give_up(struct measure *measure, struct error *e);

/* What happened since the last call. The interval and its samples hold until the next call. */
int measure_take(struct measure *measure, struct metric_interval *interval, struct error *e);

/* Events that could not be counted, since the beginning. */
uint64_t measure_lost(const struct measure *measure);

#endif
