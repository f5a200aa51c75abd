/* Questions answered from an agent's own store. */
#ifndef STRATA_CLUSTER_SELECT_EVALUATE_H
#define STRATA_CLUSTER_SELECT_EVALUATE_H

#include "cluster/metric_store.h"
#include "cluster/select/answer.h"

/* Answers for the node whose store this is; the question's own list of nodes is not looked at. deadline: CLOCK_MONOTONIC ns
 * after which it gives up with -ETIMEDOUT; 0: never. The caller frees the answer with select_node_free(). */
int select_evaluate(const struct select_query *query, struct metric_store *store, uint64_t deadline,
		    struct select_node *node, struct error *e);

#endif
