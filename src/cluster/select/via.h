/* Questions answered from ClickHouse, where agents have pushed their samples: for many nodes, and for those that are gone. */
#ifndef STRATA_CLUSTER_SELECT_VIA_H
#define STRATA_CLUSTER_SELECT_VIA_H

#include "cluster/push/clickhouse.h"
#include "cluster/select/answer.h"

/* -ENOENT: a node that has no samples there. */
int select_via(struct clickhouse *clickhouse, const struct select_query *query,
	       struct select_answer *answer, struct error *e);

#endif
