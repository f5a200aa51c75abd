/* Where rows go: one ClickHouse server, or the shards of a cluster, of which this spool fills one.
 *
 * The addresses are those of HTTP. Of a cluster all shards may be named, in the order of the cluster's list; with a single
 * address the others are taken from that list, with the same port.
 */
#ifndef STRATA_CLUSTER_PUSH_DESTINATION_H
#define STRATA_CLUSTER_PUSH_DESTINATION_H

#include "base/error.h"
#include "cluster/push/clickhouse.h"
#include "cluster/push/remote_tables.h"

#define DESTINATION_MOST 1024

struct destination {
	struct clickhouse *shards[DESTINATION_MOST];
	unsigned count;
	struct remote_layout layout;
};

/* addresses: separated by commas. cluster: NULL for one server. Connects only where the shards must be asked for. */
int destination_open(struct destination *destination, const char *addresses, const char *cluster,
		     struct error *e);
void destination_close(struct destination *destination);

/* Makes the tables on every shard. One that is down is told to `away`, and is no failure unless all are. */
int destination_make(struct destination *destination,
		     void (*away)(const char *address, const struct error *why), struct error *e);

/* The shard for somebody new: by its rank in the job, or the one with the fewest nodes. */
int destination_choose(struct destination *destination, int64_t rank, unsigned *shard,
		       struct error *e);

#endif
