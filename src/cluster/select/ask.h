/* Asking many agents at once over HTTP. One that is slow, down or says no is named in the answer; the others still answer. */
#ifndef STRATA_CLUSTER_SELECT_ASK_H
#define STRATA_CLUSTER_SELECT_ASK_H

#include "cluster/select/answer.h"
#include "cluster/select/nodes.h"

/* text: the question as it was put; query: what it was read as. timeout: ns for all of them. -ENOENT: a node is not known. */
int ask_nodes(const struct nodes *nodes, const char *text, const struct select_query *query,
	      uint64_t timeout, struct select_answer *answer, struct error *e);

/* Asks one address, a coordinator's, which knows the nodes. */
int ask_coordinator(const struct node *coordinator, const char *text, uint64_t timeout,
		    struct select_answer *answer, struct error *e);

#endif
