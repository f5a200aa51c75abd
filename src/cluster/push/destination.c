/* See destination.h. */
#include "cluster/push/destination.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_shard(struct destination *destination, const char *address, struct error *e)
{
	struct clickhouse **shard = &destination->shards[destination->count];

	if (destination->count == DESTINATION_MOST)
		return error_set(e, -E2BIG, "more than %d addresses", DESTINATION_MOST);
	destination->count++;
	return clickhouse_open(shard, address, e);
}

static int add_addresses(struct destination *destination, const char *addresses, struct error *e)
{
	char *copy = strdup(addresses), *rest = copy, *address;
	int err = copy ? 0 : error_set(e, -ENOMEM, "out of memory");

	while (!err && (address = strsep(&rest, ",")))
		err = add_shard(destination, address, e);
	free(copy);
	return err;
}

/* The same address with another host. */
static int add_sibling(struct destination *destination, const char *like, const char *host,
		       struct error *e)
{
	CURLU *url = curl_url();
	char *address = NULL;
	int err;

	if (!url || curl_url_set(url, CURLUPART_URL, like, 0) ||
	    curl_url_set(url, CURLUPART_HOST, host, 0) ||
	    curl_url_get(url, CURLUPART_URL, &address, 0))
		err = error_set(e, -EINVAL, "the cluster's list names a host '%s'", host);
	else
		err = add_shard(destination, address, e);
	curl_free(address);
	curl_url_cleanup(url);
	return err;
}

static int refuse_cluster(struct destination *destination, const char *cluster, struct error *e)
{
	struct buf names = { 0 };
	int err = clickhouse_run(destination->shards[0], NULL,
				 "SELECT arrayStringConcat(groupUniqArray(cluster), ', ') FROM "
				 "system.clusters",
				 &names, e);

	if (!err)
		err = error_set(e, -EINVAL, "%s knows no cluster '%s', only: %.*s",
				clickhouse_address(destination->shards[0]), cluster,
				(int)strcspn((const char *)names.data, "\n"),
				(const char *)names.data);
	buf_free(&names);
	return err;
}

/* A line a shard: the host of its first replica. */
static int find_siblings(struct destination *destination, const char *address, const char *cluster,
			 struct buf *hosts, struct error *e)
{
	char *rest = (char *)hosts->data, *host, *first = strsep(&rest, "\n");
	int err = 0;

	if (!first || !*first)
		return refuse_cluster(destination, cluster, e);
	clickhouse_close(destination->shards[0]);
	destination->count = 0;
	for (host = first; !err && host && *host; host = strsep(&rest, "\n")) {
		err = add_sibling(destination, address, host, e);
		for (unsigned i = 0; !err && i + 1 < destination->count; i++)
			if (!strcmp(clickhouse_address(destination->shards[i]),
				    clickhouse_address(destination->shards[i + 1])))
				err = error_set(e, -EINVAL,
						"shards of cluster '%s' share the host '%s': name "
						"the address of each, separated by commas",
						cluster, host);
	}
	return err;
}

static int expand_cluster(struct destination *destination, const char *address, const char *cluster,
			  struct error *e)
{
	struct sql_text sql = { 0 };
	struct buf hosts = { 0 };
	int err;

	sql_add(&sql, "SELECT host_name FROM system.clusters WHERE replica_num = 1 AND cluster = ");
	sql_string(&sql, cluster);
	sql_add(&sql, " ORDER BY shard_num");
	err = clickhouse_do(destination->shards[0], NULL, &sql, &hosts, e);
	if (!err)
		err = find_siblings(destination, address, cluster, &hosts, e);
	buf_free(&hosts);
	sql_free(&sql);
	return err;
}

int destination_open(struct destination *destination, const char *addresses, const char *cluster,
		     struct error *e)
{
	int err;

	memset(destination, 0, sizeof(*destination));
	err = add_addresses(destination, addresses, e);
	if (!err && destination->count > 1 && !cluster)
		err = error_set(e, -EINVAL,
				"several addresses are the shards of a cluster: name it with "
				"--cluster");
	if (!err && destination->count == 1 && cluster)
		err = expand_cluster(destination, addresses, cluster, e);
	if (err)
		return err;
	destination->layout.cluster = cluster;
	destination->layout.database = clickhouse_database(destination->shards[0]);
	return 0;
}

void destination_close(struct destination *destination)
{
	for (unsigned i = 0; i < destination->count; i++)
		clickhouse_close(destination->shards[i]);
	destination->count = 0;
}

int destination_make(struct destination *destination,
		     void (*away)(const char *address, const struct error *why), struct error *e)
{
	unsigned made = 0;
	int err = 0;

	for (unsigned i = 0; i < destination->count; i++) {
		struct clickhouse *shard = destination->shards[i];

		err = remote_layout_make(shard, &destination->layout, e);
		if (err == -EREMOTEIO)
			return err;
		if (err)
			away(clickhouse_address(shard), e);
		made += !err;
	}
	return made ? 0 : err;
}

static int count_nodes(struct clickhouse *shard, const struct remote_layout *layout,
		       uint64_t *nodes, struct error *e)
{
	struct sql_text sql = { 0 };
	int err;

	sql_add(&sql, "SELECT uniqExact(node) FROM (SELECT node FROM ");
	remote_home(&sql, layout, "run");
	sql_add(&sql, " UNION ALL SELECT node FROM ");
	remote_home(&sql, layout, "metric");
	sql_add(&sql, " GROUP BY node) AS nodes");
	err = clickhouse_number(shard, &sql, nodes, e);
	sql_free(&sql);
	return err;
}

int destination_choose(struct destination *destination, int64_t rank, unsigned *shard,
		       struct error *e)
{
	uint64_t fewest = UINT64_MAX, nodes;
	int err = 0;

	*shard = rank > 0 ? (unsigned)((uint64_t)rank % destination->count) : 0;
	if (rank >= 0 || destination->count == 1)
		return 0;
	for (unsigned i = 0; i < destination->count; i++) {
		err = count_nodes(destination->shards[i], &destination->layout, &nodes, e);
		if (!err && nodes < fewest) {
			fewest = nodes;
			*shard = i;
		}
	}
	return fewest == UINT64_MAX ? err : 0;
}
