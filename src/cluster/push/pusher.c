/* See pusher.h. */
#include "cluster/push/pusher.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/log.h"

#define RETRY_US 200000

/* Spools of different destinations are apart: a batch is looked for where it went. */
static int default_spool(char out[PATH_MAX], const struct push_options *options, struct error *e)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	uint64_t hash = XXH64(options->to, strlen(options->to), 0);
	int length = -1;

	if (options->cluster)
		hash = XXH64(options->cluster, strlen(options->cluster), hash);
	if (state && *state == '/')
		length = snprintf(out, PATH_MAX, "%s/strata/push-%016" PRIx64, state, hash);
	else if (home && *home == '/')
		length = snprintf(out, PATH_MAX, "%s/.local/state/strata/push-%016" PRIx64, home,
				  hash);
	if (length < 0 || length >= PATH_MAX)
		return error_set(e, -EINVAL,
				 "there is no home folder for a spool: name one with "
				 "--spool");
	return 0;
}

static void say_waiting(const struct delivery *delivery, const struct error *why)
{
	uint64_t batches, bytes;

	spool_waiting(delivery->spool, &batches, &bytes);
	log_verbose("%" PRIu64 " batches wait: %s", batches, why->text);
}

int pusher_open(struct pusher *pusher, const struct push_options *options, const atomic_bool *stop,
		struct error *e)
{
	char folder[PATH_MAX];
	int err = 0;

	memset(pusher, 0, sizeof(*pusher));
	pusher->rank = options->rank;
	pusher->batch_rows = options->batch_rows ? options->batch_rows : PUSH_BATCH_ROWS;
	if (options->spool)
		snprintf(folder, sizeof(folder), "%s", options->spool);
	else
		err = default_spool(folder, options, e);
	if (!err)
		err = destination_open(&pusher->destination, options->to, options->cluster, e);
	if (!err)
		err = spool_open(&pusher->spool, folder, options->patience, e);
	if (err)
		return err;
	for (unsigned i = 0; i < pusher->destination.count; i++)
		clickhouse_set_timeout(pusher->destination.shards[i], options->timeout);
	pusher->delivery = (struct delivery){ .layout = pusher->destination.layout,
					      .spool = pusher->spool,
					      .patience = options->patience,
					      .stop = stop,
					      .waiting = say_waiting };
	return 0;
}

void pusher_close(struct pusher *pusher)
{
	if (pusher->delivery.clickhouse)
		deliver_end(&pusher->delivery);
	spool_close(pusher->spool);
	destination_close(&pusher->destination);
}

static void say_away(const char *address, const struct error *why)
{
	log_warning("shard %s: %s", address, why->text);
}

/* The shard of this spool, chosen once, and remembered before anything goes there. One server needs no choice. */
static int find_shard(struct pusher *pusher, unsigned *shard, struct error *e)
{
	int err = 0;

	*shard = 0;
	if (pusher->destination.count == 1)
		return 0;
	if (spool_shard(pusher->spool, shard)) {
		err = destination_make(&pusher->destination, say_away, e);
		if (!err)
			err = destination_choose(&pusher->destination, pusher->rank, shard, e);
		if (!err)
			err = spool_set_shard(pusher->spool, *shard, e);
	}
	if (!err && *shard >= pusher->destination.count)
		err = error_set(e, -EINVAL, "the spool belongs to shard %u, and %u are named",
				*shard + 1, pusher->destination.count);
	return err;
}

static int choose_shard(struct pusher *pusher, struct error *e)
{
	uint64_t end = clock_monotonic() + pusher->delivery.patience;
	unsigned shard;
	int err;

	for (;;) {
		err = find_shard(pusher, &shard, e);
		if (err != -EIO && err != -ECONNREFUSED)
			break;
		if (clock_monotonic() > end)
			return error_add(e, -ETIMEDOUT, "gave up for now");
		usleep(RETRY_US);
	}
	if (!err)
		pusher->delivery.clickhouse = pusher->destination.shards[shard];
	return err;
}

int pusher_deliver(struct pusher *pusher, struct error *e)
{
	int err = 0;

	if (!spool_first(pusher->spool))
		return 0;
	if (!pusher->delivery.clickhouse)
		err = choose_shard(pusher, e);
	return err ? err : deliver_all(&pusher->delivery, e);
}
