/* See deliver.h. */
#include "cluster/push/deliver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define FIRST_WAIT 100000000ull	  /* ns; each is twice the one before */
#define LAST_WAIT  10000000000ull /* ns */
#define GATE_NAME  96

/* One block, however many rows and bytes: servers cut inserts into blocks by these. */
#define ONE_BLOCK_ROWS "100000000"

static void gate_name(const struct delivery *delivery, unsigned table, char out[GATE_NAME])
{
	struct remote_table remote;

	remote_table_fill(&remote, table);
	snprintf(out, GATE_NAME, "gate_%016" PRIx64 "_%" PRIu64 "_%s",
		 spool_identity(delivery->spool), delivery->epoch, remote.name);
}

/* ---- gates ---- */

/* Some servers drop tables when they like unless told otherwise. */
static const char *drop_settings(const struct clickhouse_server *server)
{
	static const char name[] = "database_atomic_wait_for_drop_and_detach_synchronously";

	return clickhouse_knows(&server->settings, name)
		       ? "&database_atomic_wait_for_drop_and_detach_synchronously=1"
		       : NULL;
}

/* Drops every gate of this spool, of whichever epoch; the views sort behind their gates, and go first. */
static int drop_gates(struct delivery *delivery, struct error *e)
{
	struct sql_text sql = { 0 };
	struct buf names = { 0 };
	char *line, *rest;
	int err;

	memset(delivery->gates, 0, sizeof(delivery->gates));
	sql_add(&sql, "SELECT name FROM system.tables WHERE database = ");
	sql_string(&sql, delivery->layout.database);
	sql_add(&sql, " AND name LIKE 'gate\\\\_%016" PRIx64 "\\\\_%%' ORDER BY name DESC",
		spool_identity(delivery->spool));
	err = clickhouse_do(delivery->clickhouse, NULL, &sql, &names, e);
	for (rest = (char *)names.data; !err && rest && (line = strsep(&rest, "\n"));) {
		if (!*line)
			continue;
		sql_add(&sql, "DROP TABLE IF EXISTS ");
		sql_name(&sql, delivery->layout.database);
		sql_add(&sql, ".`%s`", line);
		err = clickhouse_do(delivery->clickhouse, drop_settings(delivery->server), &sql,
				    NULL, e);
	}
	buf_free(&names);
	sql_free(&sql);
	return err;
}

static int make_gate(struct delivery *delivery, unsigned table, struct error *e)
{
	struct sql_text sql = { 0 };
	struct remote_table remote;
	char gate[GATE_NAME];
	int err;

	if (delivery->gates[table])
		return 0;
	gate_name(delivery, table, gate);
	remote_table_fill(&remote, table);
	sql_add(&sql, "CREATE TABLE IF NOT EXISTS ");
	sql_name(&sql, delivery->layout.database);
	sql_add(&sql, ".`%s` AS ", gate);
	remote_home(&sql, &delivery->layout, remote.name);
	sql_add(&sql, " ENGINE = Null");
	err = clickhouse_do(delivery->clickhouse, remote_settings(delivery->server), &sql, NULL, e);
	if (!err) {
		sql_add(&sql, "CREATE MATERIALIZED VIEW IF NOT EXISTS ");
		sql_name(&sql, delivery->layout.database);
		sql_add(&sql, ".`%s_view` TO ", gate);
		remote_home(&sql, &delivery->layout, remote.name);
		sql_add(&sql, " AS SELECT * FROM ");
		sql_name(&sql, delivery->layout.database);
		sql_add(&sql, ".`%s`", gate);
		err = clickhouse_do(delivery->clickhouse, remote_settings(delivery->server), &sql,
				    NULL, e);
	}
	delivery->gates[table] = !err;
	sql_free(&sql);
	return err;
}

/* ---- one batch ---- */

/* How many rows of the batch the server has. The bounds of its key make this cheap. */
static int count_rows(struct delivery *delivery, const struct batch *batch, uint64_t *rows,
		      struct error *e)
{
	struct sql_text sql = { 0 };
	struct remote_table remote;
	int err;

	remote_table_fill(&remote, batch->table);
	sql_add(&sql, "SELECT count() FROM ");
	remote_home(&sql, &delivery->layout, remote.name);
	sql_add(&sql, " WHERE node = ");
	sql_string(&sql, batch->node);
	sql_add(&sql, " AND run = ");
	sql_string(&sql, batch->run);
	if (remote.is_timed)
		sql_add(&sql, " AND `%s` BETWEEN %" PRId64 " AND %" PRId64, remote.key,
			batch->first, batch->last);
	sql_add(&sql, " AND batch = %" PRIu64, batch->number);
	err = clickhouse_number(delivery->clickhouse, &sql, rows, e);
	sql_free(&sql);
	return err;
}

/* After this nothing of the batch is on its way; whether it is there is told. */
static int settle(struct delivery *delivery, const struct batch *batch, bool *there,
		  struct error *e)
{
	uint64_t rows = 0;
	int err = 0;

	*there = false;
	if (!delivery->server->tokens) {
		err = spool_next_epoch(delivery->spool, &delivery->epoch, e);
		if (!err)
			err = drop_gates(delivery, e);
	}
	if (!err)
		err = count_rows(delivery, batch, &rows, e);
	if (!err && rows && rows != batch->rows)
		err = error_set(e, -EBADMSG,
				"batch %" PRIu64 " has %" PRIu64 " rows, but %" PRIu64
				" of it are in the table: this is not of strata's doing",
				batch->number, batch->rows, rows);
	*there = !err && rows;
	return err;
}

static void add_settings(struct sql_text *settings, const struct delivery *delivery,
			 const struct batch *batch)
{
	const struct strings *known = &delivery->server->settings;

	sql_add(settings, "&max_insert_block_size=" ONE_BLOCK_ROWS);
	if (clickhouse_knows(known, "min_insert_block_size_rows"))
		sql_add(settings, "&min_insert_block_size_rows=" ONE_BLOCK_ROWS
				  "&min_insert_block_size_bytes=0");
	if (delivery->server->tokens)
		sql_add(settings,
			"&insert_deduplicate=1&insert_deduplication_token=%016" PRIx64 "-%" PRIu64,
			spool_identity(delivery->spool), batch->number);
}

static void add_insert(struct sql_text *sql, const struct delivery *delivery,
		       const struct batch *batch)
{
	struct remote_table remote;
	char gate[GATE_NAME];

	remote_table_fill(&remote, batch->table);
	sql_add(sql, "INSERT INTO ");
	if (delivery->server->tokens) {
		remote_home(sql, &delivery->layout, remote.name);
	} else {
		gate_name(delivery, batch->table, gate);
		sql_name(sql, delivery->layout.database);
		sql_add(sql, ".`%s`", gate);
	}
	for (unsigned i = 0; i < remote.count; i++)
		sql_add(sql, "%s`%s`", i ? ", " : " (", remote.columns[i].name);
	sql_add(sql, ") FORMAT RowBinary");
}

static int insert(struct delivery *delivery, const struct batch *batch, struct error *e)
{
	struct sql_text sql = { 0 }, settings = { 0 };
	uint64_t size = 0;
	int fd = -1, err;

	err = delivery->server->tokens ? 0 : make_gate(delivery, batch->table, e);
	if (!err)
		err = spool_rows(delivery->spool, batch, &fd, &size, e);
	add_insert(&sql, delivery, batch);
	add_settings(&settings, delivery, batch);
	if (!err && (!sql_get(&sql) || !sql_get(&settings)))
		err = error_set(e, -ENOMEM, "out of memory");
	if (!err)
		err = clickhouse_insert(delivery->clickhouse, sql_get(&settings), sql_get(&sql), fd,
					size, e);
	if (!err)
		delivery->bytes += size;
	if (fd >= 0)
		close(fd);
	sql_free(&sql);
	sql_free(&settings);
	return err;
}

static int ready(struct delivery *delivery, struct error *e)
{
	int err = clickhouse_probe(delivery->clickhouse, &delivery->server, e);

	if (!err)
		err = remote_layout_make(delivery->clickhouse, &delivery->layout, e);
	delivery->is_ready = !err;
	return err;
}

static int deliver_once(struct delivery *delivery, const struct batch *batch, struct error *e)
{
	bool there = false;
	int err = delivery->is_ready ? 0 : ready(delivery, e);

	if (!err && delivery->in_doubt)
		err = settle(delivery, batch, &there, e);
	if (err)
		return err;
	delivery->in_doubt = !there;
	if (!there)
		err = insert(delivery, batch, e);
	if (err == -EREMOTEIO &&
	    (clickhouse_refusal(delivery->clickhouse) == CLICKHOUSE_UNKNOWN_TABLE ||
	     clickhouse_refusal(delivery->clickhouse) == CLICKHOUSE_UNKNOWN_DATABASE))
		delivery->is_ready = false; /* somebody dropped it */
	delivery->in_doubt = err != 0;
	return err;
}

/* ---- all of them ---- */

/* What may pass by itself: the server is away, too busy, out of memory or disk. What it will refuse again tomorrow does not. */
static bool may_pass(const struct delivery *delivery, int err)
{
	static const int passing[] = { 60,  81,	 159, 160, 202, 209, 210,
				       216, 241, 243, 252, 319, 439, 473 };
	int code = clickhouse_refusal(delivery->clickhouse);

	if (err == -ECONNREFUSED || err == -EIO)
		return true;
	for (size_t i = 0; i < sizeof(passing) / sizeof(*passing); i++)
		if (err == -EREMOTEIO && code == passing[i])
			return true;
	return err == -EREMOTEIO && !code; /* a proxy's words, or a server that is stopping */
}

static bool stopped(const struct delivery *delivery)
{
	return delivery->stop && atomic_load(delivery->stop);
}

/* In slices, so that a stop is seen soon. */
static void wait_before_retry(const struct delivery *delivery, uint64_t ns)
{
	uint64_t end = clock_monotonic() + ns;
	struct timespec slice = { .tv_nsec = 50000000 };

	while (clock_monotonic() < end && !stopped(delivery))
		nanosleep(&slice, NULL);
}

static int deliver_batch(struct delivery *delivery, const struct batch *batch, struct error *e)
{
	uint64_t start = clock_monotonic(), wait = FIRST_WAIT;
	int err;

	for (;;) {
		err = deliver_once(delivery, batch, e);
		if (!err || !may_pass(delivery, err))
			return err;
		if (stopped(delivery))
			return error_set(e, -ECANCELED, "stopped");
		if (clock_monotonic() - start > delivery->patience)
			return error_add(e, -ETIMEDOUT, "gave up for now");
		if (delivery->waiting)
			delivery->waiting(delivery, e);
		wait_before_retry(delivery, wait);
		wait = wait < LAST_WAIT / 2 ? 2 * wait : LAST_WAIT;
	}
}

int deliver_all(struct delivery *delivery, struct error *e)
{
	const struct batch *first;
	int err = 0;

	/* Whoever had the spool before may have sent what is in it. */
	if (!delivery->server)
		delivery->in_doubt = true;
	while (!err && (first = spool_first(delivery->spool))) {
		struct batch batch = *first;

		err = deliver_batch(delivery, &batch, e);
		if (!err)
			err = spool_done(delivery->spool, batch.number, e);
		if (err)
			break;
		delivery->batches++;
		delivery->rows += batch.rows;
	}
	return err;
}

void deliver_end(struct delivery *delivery)
{
	struct error ignored;
	bool any = false;

	for (unsigned i = 0; i < REMOTE_TABLE_COUNT; i++)
		any |= delivery->gates[i];
	if (any)
		drop_gates(delivery, &ignored);
}
