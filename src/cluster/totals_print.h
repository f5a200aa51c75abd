/* The text of /metrics, from a copy of the totals. */
#ifndef STRATA_CLUSTER_TOTALS_PRINT_H
#define STRATA_CLUSTER_TOTALS_PRINT_H

#include "cluster/totals.h"

#define ANSWER_CLASSES 6 /* 2xx, 4xx, ... by their first digit */

struct total {
	enum metric metric;
	char label[32], op[4];
	uint64_t slots[LIVE_SLOTS], sum;
	double value;
	uint64_t interval; /* the last that had a sample */
};

struct totals_copy {
	const char *node;
	bool openmetrics;
	struct total *series; /* families in one piece each */
	size_t count;
	struct totals_own own;
	uint64_t answers[ANSWER_CLASSES];
};

/* 0 or -ENOMEM. */
int totals_print_copy(const struct totals_copy *copy, struct buf *out);

#endif
