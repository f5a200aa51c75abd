/* A coordinator answers for many agents, so that a client needs one address. */
#ifndef STRATA_CLUSTER_SELECT_COORDINATE_H
#define STRATA_CLUSTER_SELECT_COORDINATE_H

#include "base/buf.h"
#include "base/error.h"
#include "cluster/select/nodes.h"

struct coordinator {
	struct nodes nodes;
	uint64_t timeout; /* ns; 0: COORDINATE_TIMEOUT */
};

#define COORDINATE_TIMEOUT 5000000000ull

/* The JSON of all nodes that the question names. original: {"n1": {"cpu_avg": ...}}, as the first coordinator had it; nodes that
 * did not answer are missing there. Any number of threads may ask at once. -EINVAL: a bad question; -ENOENT: an unknown metric
 * or node. */
int coordinate_answer(const struct coordinator *coordinator, const char *text, bool original,
		      struct buf *json, struct error *e);

#endif
