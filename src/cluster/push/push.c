/* strata push: recordings into ClickHouse. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/job_place.h"
#include "base/log.h"
#include "base/units.h"
#include "cluster/cluster.h"
#include "cluster/push/pusher.h"
#include "cluster/push/trace_rows.h"
#include "cmd/cmd.h"
#include "store/times.h"

#define DEFAULT_PATIENCE (60 * NS_PER_SECOND)
#define REQUEST_TIMEOUT	 (300 * NS_PER_SECOND)
#define BATCH_BYTES	 (256ull << 20) /* before they are packed */

/* The options, filled once by cmd_parse(). */
static struct {
	const char *to, *cluster, *node, *run, *job, *rank, *spool;
	uint64_t batch_rows, patience, timeout;
} given = { .patience = DEFAULT_PATIENCE, .timeout = REQUEST_TIMEOUT };

static const struct option_row push_rows[] = {
	{ 0, "to", OPTION_TEXT, &given.to, "URL,...",
	  "the server, http://[USER:PASSWORD@]HOST:8123[/DATABASE]; of a cluster, each shard's" },
	{ 0, "cluster", OPTION_TEXT, &given.cluster, "NAME",
	  "make the tables on all shards of this cluster, and tables over them" },
	{ 0, "node", OPTION_TEXT, &given.node, "NAME",
	  "the node that recorded (default: as the recording says)" },
	{ 0, "run", OPTION_TEXT, &given.run, "NAME",
	  "what to call the run (default: as its file)" },
	{ 0, "job", OPTION_TEXT, &given.job, "ID",
	  "the job that it is part of (default: as Slurm or torchrun said)" },
	{ 0, "rank", OPTION_TEXT, &given.rank, "N", "and its rank there (default: likewise)" },
	{ 0, "spool", OPTION_TEXT, &given.spool, "DIR",
	  "keep batches there until the server has them (default: ~/.local/state/strata)" },
	{ 0, "batch", OPTION_COUNT, &given.batch_rows, "ROWS",
	  "rows of a batch at most (default: 500000)" },
	{ 0, "wait", OPTION_DURATION, &given.patience, "TIME",
	  "for a server that is away (default: 60s)" },
	{ 0, "timeout", OPTION_DURATION, &given.timeout, "TIME", "of one request (default: 300s)" },
	{ 0 },
};

const struct options push_options = {
	.usage = "strata push [options] --to URL [RUN...]",
	.summary =
		"Write recordings to ClickHouse, each row once; without RUN what is left to send.",
	.examples =
		"strata push run.strata --to http://clickhouse:8123\n"
		"strata push *.strata --to http://s1:8123,http://s2:8123 --cluster three --job 42\n"
		"strata push --to http://clickhouse:8123    # go on after a crash",
	.rows = push_rows,
};

/* A recording on its way. */
struct pushing {
	struct pusher *pusher;
	const char *path;
	struct trace trace;
	struct trace_rows rows;
	char run[SPOOL_TEXT / 2];
	const char *node, *job;
	int64_t rank;
	uint64_t started; /* in UTC: tells runs of one name apart */
	uint64_t sent;
};

static int name_run(struct pushing *pushing, struct error *e)
{
	const char *slash = strrchr(pushing->path, '/');
	const char *name = given.run ? given.run : slash ? slash + 1 : pushing->path;
	size_t length = strlen(name), ending = strlen(".strata");

	if (!given.run && length > ending && !strcmp(name + length - ending, ".strata"))
		length -= ending;
	if (length >= sizeof(pushing->run))
		return error_set(e, -EINVAL, "the name of '%s' is too long: give one with --run",
				 pushing->path);
	snprintf(pushing->run, sizeof(pushing->run), "%.*s", (int)length, name);
	return 0;
}

/* What was asked for holds, then what the recording says, then the environment. */
static int place_run(struct pushing *pushing, struct error *e)
{
	const struct dims *dims = pushing->trace.dims;
	struct job_place place = job_place_find();
	const char *rank = given.rank ? given.rank : dims_run(dims, "rank");
	uint64_t number;

	pushing->node = given.node ? given.node : dims_run(dims, "node");
	if (!pushing->node)
		pushing->node = dims_run(dims, "host");
	if (!pushing->node)
		pushing->node = "";
	if (strlen(pushing->node) >= SPOOL_TEXT)
		return error_set(e, -EINVAL, "the node's name is too long");
	pushing->job = given.job ? given.job : dims_run(dims, "job");
	if (!pushing->job)
		pushing->job = place.job;
	pushing->rank = place.rank;
	if (rank && units_parse_count(rank, &number))
		return error_set(e, -EINVAL, "'%s' is no rank", rank);
	if (rank)
		pushing->rank = (int64_t)number;
	return 0;
}

static void name_stream(const struct pushing *pushing, unsigned table, char out[SPOOL_TEXT])
{
	snprintf(out, SPOOL_TEXT, "%s/%016" PRIx64 "/%s", pushing->run, pushing->started,
		 schema_tables[table].name);
}

/* One batch of the table at which the rows stand. */
static int push_batch(struct pushing *pushing, unsigned table, struct error *e)
{
	struct spool *spool = pushing->pusher->spool;
	struct row_common common = { .run = pushing->run,
				     .node = pushing->node,
				     .job = pushing->job,
				     .rank = pushing->rank,
				     .batch = spool_next_number(spool),
				     .day = trace_rows_day(&pushing->rows) };
	struct batch batch = { .table = table };
	struct row_writer writer;
	int err = spool_begin(spool, &writer, e);

	if (err)
		return err;
	err = trace_rows_write(&pushing->rows, &writer, &common, pushing->pusher->batch_rows,
			       BATCH_BYTES, e);
	if (!err && reader_cut(pushing->trace.reader))
		err = error_set(e, -EIO, "the file was cut while it was read");
	if (err) {
		spool_drop(spool, &writer);
		return err;
	}
	name_stream(pushing, table, batch.stream);
	batch.cursor = pushing->rows.at;
	batch.is_last = pushing->rows.ended;
	snprintf(batch.node, sizeof(batch.node), "%s", pushing->node);
	snprintf(batch.run, sizeof(batch.run), "%s", pushing->run);
	err = spool_commit(spool, &writer, &batch, e);
	pushing->sent += err ? 0 : batch.rows;
	return err ? err : pusher_deliver(pushing->pusher, e);
}

static int push_table(struct pushing *pushing, unsigned table, struct error *e)
{
	char stream[SPOOL_TEXT];
	uint64_t cursor;
	bool ended;
	int err;

	name_stream(pushing, table, stream);
	cursor = spool_cursor(pushing->pusher->spool, stream, &ended);
	if (ended)
		return 0;
	err = trace_rows_begin(&pushing->rows, table, cursor, e);
	while (!err && !pushing->rows.ended)
		err = push_batch(pushing, table, e);
	trace_rows_end(&pushing->rows);
	return err;
}

/* A run that this spool has not begun must be new to the server. */
static int check_new(struct pushing *pushing, struct error *e)
{
	struct pusher *pusher = pushing->pusher;
	struct sql_text sql = { 0 };
	char stream[SPOOL_TEXT];
	uint64_t rows = 0;
	bool ended;
	int err;

	name_stream(pushing, TABLE_run, stream);
	if (spool_cursor(pusher->spool, stream, &ended))
		return 0;
	sql_add(&sql, "SELECT count() FROM ");
	sql_name(&sql, pusher->destination.layout.database);
	sql_add(&sql, ".run WHERE node = ");
	sql_string(&sql, pushing->node);
	sql_add(&sql, " AND run = ");
	sql_string(&sql, pushing->run);
	err = clickhouse_number(pusher->destination.shards[0], &sql, &rows, e);
	sql_free(&sql);
	if (err)
		return 0; /* no such table yet, or nobody there: delivery finds out */
	if (rows)
		return error_set(e, -EEXIST,
				 "node '%s' has a run '%s' there already, and not from this spool: "
				 "give this one another name with --run",
				 pushing->node, pushing->run);
	return 0;
}

static int open_run(struct pushing *pushing, struct error *e)
{
	struct span span;
	int err = cmd_open_trace(&pushing->trace, pushing->path, e);

	if (!err && reader_live(pushing->trace.reader))
		err = error_set(e, -EBUSY, "'%s' is still being recorded", pushing->path);
	if (!err)
		err = cmd_check_damage(&pushing->trace, pushing->path, e);
	if (!err)
		err = times_span(pushing->trace.reader, pushing->trace.dims, &span, e);
	if (err)
		return err;
	pushing->rows.reader = pushing->trace.reader;
	pushing->rows.dims = pushing->trace.dims;
	pushing->rows.start = span.start;
	if (dims_utc(pushing->trace.dims, span.start, &pushing->started))
		pushing->started = span.start;
	err = name_run(pushing, e);
	return err ? err : place_run(pushing, e);
}

static int push_run(struct pusher *pusher, const char *path, struct error *e)
{
	struct pushing pushing = { .pusher = pusher, .path = path };
	uint64_t start = clock_monotonic();
	char rows[32], time[32];
	int err = open_run(&pushing, e);

	if (!err)
		err = check_new(&pushing, e);
	if (!err)
		err = push_table(&pushing, TABLE_run, e);
	for (unsigned table = 0; table < TABLE_COUNT && !err; table++)
		err = push_table(&pushing, table, e);
	if (!err && pushing.sent)
		log_info("%s: %s rows of node %s in %s", path,
			 units_format_count(rows, sizeof(rows), pushing.sent), pushing.node,
			 units_format_duration(time, sizeof(time), clock_monotonic() - start));
	else if (!err)
		log_info("%s: all of it is there already", path);
	cmd_close_trace(&pushing.trace);
	return err;
}

static void say_left(const struct pusher *pusher)
{
	uint64_t batches = 0, bytes = 0;
	char size[32];

	if (pusher->spool)
		spool_waiting(pusher->spool, &batches, &bytes);
	if (batches)
		log_error("%" PRIu64 " batch%s of %s wait on disk: the same command goes on there",
			  batches, batches == 1 ? "" : "es",
			  units_format_bytes(size, sizeof(size), bytes));
}

static int push_all(const struct arguments *arguments, const struct push_options *options,
		    struct error *e)
{
	struct pusher pusher;
	int err = pusher_open(&pusher, options, NULL, e);

	if (!err)
		err = pusher_deliver(&pusher, e);
	for (int i = 0; i < arguments->count && !err; i++)
		err = push_run(&pusher, arguments->items[i], e);
	if (err)
		say_left(&pusher);
	else
		log_verbose("%" PRIu64 " batches, %" PRIu64 " rows, %" PRIu64 " bytes sent",
			    pusher.delivery.batches, pusher.delivery.rows, pusher.delivery.bytes);
	pusher_close(&pusher);
	return err;
}

int cluster_push(int argc, char **argv)
{
	struct arguments arguments;
	struct push_options options;
	struct error e;
	int status, err;

	if (!cmd_parse(&push_options, argc, argv, &arguments, &status))
		return status;
	options = (struct push_options){ .to = given.to,
					 .cluster = given.cluster,
					 .spool = given.spool,
					 .rank = job_place_find().rank,
					 .batch_rows = given.batch_rows,
					 .patience = given.patience,
					 .timeout = given.timeout };
	if (!given.to)
		err = error_set(&e, -EINVAL, "push needs a server: --to URL");
	else if (given.run && arguments.count > 1)
		err = error_set(&e, -EINVAL, "--run names one run, and there are %d",
				arguments.count);
	else
		err = push_all(&arguments, &options, &e);
	free(arguments.items);
	if (!err)
		return CMD_OK;
	return err == -EINVAL ? cmd_usage("push", &e) : cmd_fail(&e);
}
