/* Gathers what samples add up to into the series of a node, for whoever reads samples. */
#ifndef STRATA_CLUSTER_SELECT_GATHER_H
#define STRATA_CLUSTER_SELECT_GATHER_H

#include "cluster/select/answer.h"

/* The cells of one metric, label and operation: one a window. */
struct gather_row {
	enum metric metric;
	char label[SELECT_LABEL], op[8];
	struct select_cell *cells;
};

/* A zeroed struct with its query and windows set is empty. */
struct gather {
	const struct select_query *query;
	struct select_windows windows;
	struct gather_row *rows;
	unsigned row_count;
	uint64_t *covered; /* ns, a window each */
};

/* The metrics that the question needs, a bit each. */
uint64_t gather_wanted(const struct select_query *query);

/* The cell of a window; NULL: no memory, or more series than anybody can read (-E2BIG and -ENOMEM in the error). */
struct select_cell *gather_cell(struct gather *gather, enum metric metric, const char *label,
				const char *op, unsigned window, struct error *e);

/* Makes the node's series of the cells, in the order of the question and of the labels. A metric without labels has its series
 * even if nothing was counted. */
int gather_finish(struct gather *gather, struct select_node *node, struct error *e);
void gather_free(struct gather *gather);

#endif
