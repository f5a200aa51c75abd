/* Brings the batches of a spool to a server, each of them once, whatever happens on the way.
 *
 * An insert of one block into one partition is there whole or not at all, but a sender that hears no answer does not know
 * which, and a request that it gave up may still arrive. Servers that know repeats by a token (insert_deduplication_token)
 * drop those. For others a batch goes through a gate, a table without rows of its own whose view passes them on:
 *
 *     gate_IDENTITY_EPOCH_TABLE (engine Null) ──▶ gate_..._view (materialized view TO table) ──▶ table
 *
 * In doubt the gates are dropped, which waits for inserts that run; what comes late finds no gate. Then the rows of the
 * batch are counted, and it is sent again, through gates of the next epoch, only when there are none.
 */
#ifndef STRATA_CLUSTER_PUSH_DELIVER_H
#define STRATA_CLUSTER_PUSH_DELIVER_H

#include <stdatomic.h>

#include "base/error.h"
#include "cluster/push/clickhouse.h"
#include "cluster/push/remote_tables.h"
#include "cluster/push/spool.h"

struct delivery {
	struct clickhouse *clickhouse;
	struct remote_layout layout;
	struct spool *spool;
	uint64_t patience;	 /* ns to go on trying without success */
	const atomic_bool *stop; /* ends the waiting; NULL: none */
	void (*waiting)(const struct delivery *delivery, const struct error *why); /* or NULL */

	/* Its own. */
	const struct clickhouse_server *server;
	uint64_t epoch;
	bool gates[REMOTE_TABLE_COUNT]; /* made in this epoch */
	bool is_ready, in_doubt;
	uint64_t batches, rows, bytes; /* delivered */
};

/* Delivers all that waits. -ETIMEDOUT when the server was away for longer than the patience lasts, -ECANCELED after stop; what
 * is left stays in the spool. */
int deliver_all(struct delivery *delivery, struct error *e);

/* Takes the gates away; what fails here is left to the next one who uses the spool. */
void deliver_end(struct delivery *delivery);

#endif
