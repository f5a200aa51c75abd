/* A spool and the server that it empties into: what `strata push` and the agent share. */
#ifndef STRATA_CLUSTER_PUSH_PUSHER_H
#define STRATA_CLUSTER_PUSH_PUSHER_H

#include <stdatomic.h>

#include "base/error.h"
#include "cluster/push/deliver.h"
#include "cluster/push/destination.h"
#include "cluster/push/spool.h"

struct push_options {
	const char *to;	     /* addresses, separated by commas */
	const char *cluster; /* NULL: one server */
	const char *spool;   /* folder; NULL: pusher_open() finds one */
	int64_t rank;	     /* of the node in a job, which spreads nodes over shards; -1: none */
	uint64_t batch_rows; /* 0: PUSH_BATCH_ROWS */
	uint64_t patience;   /* ns to wait for a server that is away */
	uint64_t timeout;    /* ns of one request */
	uint64_t every;	     /* ns between batches of an agent */
};

#define PUSH_BATCH_ROWS 500000u

struct pusher {
	struct destination destination;
	struct spool *spool;
	struct delivery delivery;
	uint64_t batch_rows;
	int64_t rank;
};

/* Opens spool and destination. The server may be away: rows can be spooled all the same. */
int pusher_open(struct pusher *pusher, const struct push_options *options, const atomic_bool *stop,
		struct error *e);
void pusher_close(struct pusher *pusher);

/* Delivers all that waits in the spool; see deliver_all(). */
int pusher_deliver(struct pusher *pusher, struct error *e);

#endif
