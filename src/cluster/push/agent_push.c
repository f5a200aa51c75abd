/* See agent_push.h. */
#include "cluster/push/agent_push.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/job_place.h"
#include "base/log.h"
#include "base/units.h"
#include "cluster/metric_store.h"
#include "cluster/push/trace_rows.h"

#define STREAM	      "samples"
#define SPOOL_LIMIT   (256ull << 20) /* bytes that wait; more is left in the store */
#define LAST_PATIENCE (3 * NS_PER_SECOND)
#define SECONDS_A_DAY 86400u

struct agent_push {
	pthread_t thread;
	atomic_bool stop;
	struct pusher pusher;
	char *store_path, *node;
	struct job_place place;
	uint64_t every; /* ns */
	atomic_uint_least64_t batches, rows, bytes, waiting, failures;
};

/* ---- a batch of samples ---- */

struct spooling {
	struct agent_push *push;
	struct row_writer writer;
	struct row_common common;
	uint64_t last; /* id */
	bool begun;
	struct error *e;
};

static void write_sample(struct row_writer *writer, const struct metric_sample *sample)
{
	bool histogram = metrics[sample->metric].kind == METRIC_KIND_HISTOGRAM;
	const char *name = metrics[sample->metric].name;
	unsigned slots = histogram ? LIVE_SLOTS : 0;

	while (slots && !sample->slots[slots - 1])
		slots--;
	row_number(writer, sample->start);
	row_number(writer, sample->length);
	row_text(writer, name, strlen(name));
	row_text(writer, sample->label, strlen(sample->label));
	row_text(writer, sample->op, strlen(sample->op));
	row_number(writer, (uint64_t)sample->pid);
	row_text(writer, sample->comm, strlen(sample->comm));
	if (histogram)
		row_null(writer);
	else
		row_maybe_real(writer, sample->value);
	row_number(writer, histogram ? sample->count : 0);
	row_number(writer, histogram ? sample->sum : 0);
	if (histogram)
		row_maybe_number(writer, sample->most);
	else
		row_null(writer);
	row_array(writer, sample->slots, slots);
}

static int take_sample(void *context, const struct metric_sample *sample)
{
	struct spooling *spooling = context;
	struct spool *spool = spooling->push->pusher.spool;
	int err;

	if (!spooling->begun) {
		err = spool_begin(spool, &spooling->writer, spooling->e);
		if (err)
			return err;
		spooling->begun = true;
		spooling->common.batch = spool_next_number(spool);
		spooling->common.day = (uint16_t)(sample->start / NS_PER_SECOND / SECONDS_A_DAY);
	}
	write_sample(&spooling->writer, sample);
	row_common_write(&spooling->writer, &spooling->common);
	row_end(&spooling->writer, (int64_t)sample->start);
	spooling->last = sample->id;
	return 0;
}

/* 1: a batch was spooled; 0: there is nothing new. */
static int spool_samples(struct agent_push *push, struct metric_store *store, struct error *e)
{
	struct spooling spooling = { .push = push,
				     .common = { .run = "",
						 .node = push->node,
						 .job = push->place.job,
						 .rank = push->place.rank },
				     .e = e };
	struct metric_filter filter = { .pid = -1, .limit = push->pusher.batch_rows };
	struct batch batch = { .table = REMOTE_METRIC, .stream = STREAM };
	bool ended;
	int err;

	filter.after = spool_cursor(push->pusher.spool, STREAM, &ended);
	err = metric_store_each(store, &filter, take_sample, &spooling, e);
	if (!spooling.begun)
		return err;
	if (err) {
		spool_drop(push->pusher.spool, &spooling.writer);
		return err;
	}
	batch.cursor = spooling.last;
	snprintf(batch.node, sizeof(batch.node), "%s", push->node);
	err = spool_commit(push->pusher.spool, &spooling.writer, &batch, e);
	return err ? err : 1;
}

/* ---- the thread ---- */

static void count(struct agent_push *push)
{
	uint64_t batches, bytes;

	spool_waiting(push->pusher.spool, &batches, &bytes);
	atomic_store(&push->waiting, bytes);
	atomic_store(&push->batches, push->pusher.delivery.batches);
	atomic_store(&push->rows, push->pusher.delivery.rows);
	atomic_store(&push->bytes, push->pusher.delivery.bytes);
}

/* Everything that is new, into the spool and out of it. */
static int push_once(struct agent_push *push, struct error *e)
{
	struct metric_store *store = NULL;
	uint64_t batches, bytes = 0;
	int err = metric_store_open(&store, push->store_path, METRIC_STORE_READ, e), more = 1;

	while (!err && more > 0 && bytes < SPOOL_LIMIT) {
		more = spool_samples(push, store, e);
		err = more < 0 ? more : pusher_deliver(&push->pusher, e);
		spool_waiting(push->pusher.spool, &batches, &bytes);
		if (err == -ETIMEDOUT)
			err = 0; /* it stays in the spool: the rest still goes there */
		else if (!err)
			continue;
		atomic_fetch_add(&push->failures, 1);
	}
	metric_store_close(store);
	count(push);
	return err;
}

static void wait_period(const struct agent_push *push)
{
	uint64_t end = clock_monotonic() + push->every;
	struct timespec slice = { .tv_nsec = 100000000 };

	while (clock_monotonic() < end && !atomic_load(&push->stop))
		nanosleep(&slice, NULL);
}

static void *push_thread(void *data)
{
	struct agent_push *push = data;
	struct error e, said = { "" };

	while (!atomic_load(&push->stop)) {
		int err = push_once(push, &e);

		/* Once, not each time: the journal is read by people. */
		if (err && err != -ECANCELED && strcmp(e.text, said.text)) {
			log_warning("pushing to ClickHouse: %s", e.text);
			said = e;
		} else if (!err) {
			said.text[0] = '\0';
		}
		wait_period(push);
	}
	push->pusher.delivery.stop = NULL;
	push->pusher.delivery.patience = 0;
	push_once(push, &e);
	return NULL;
}

static void push_free(struct agent_push *push)
{
	pusher_close(&push->pusher);
	free(push->store_path);
	free(push->node);
	free(push);
}

int agent_push_start(struct agent_push **out, const struct push_options *options,
		     const char *store_path, const char *node, struct error *e)
{
	struct agent_push *push = calloc(1, sizeof(*push));
	struct push_options mine = *options;
	char spool[PATH_MAX];
	int err = 0;

	*out = push;
	if (!push || !(push->store_path = strdup(store_path)) || !(push->node = strdup(node)))
		return error_set(e, -ENOMEM, "out of memory");
	push->place = job_place_find();
	push->every = options->every;
	snprintf(spool, sizeof(spool), "%s.spool", store_path);
	if (!mine.spool)
		mine.spool = spool;
	if (!mine.timeout)
		mine.timeout = 30 * NS_PER_SECOND;
	mine.rank = push->place.rank;
	mine.patience = LAST_PATIENCE;
	err = pusher_open(&push->pusher, &mine, &push->stop, e);
	if (!err) {
		err = -pthread_create(&push->thread, NULL, push_thread, push);
		if (err)
			error_set(e, err, "cannot start a thread");
	}
	if (err) {
		push_free(push);
		*out = NULL;
	}
	return err;
}

void agent_push_stop(struct agent_push *push)
{
	if (!push)
		return;
	atomic_store(&push->stop, true);
	pthread_join(push->thread, NULL);
	push_free(push);
}

void agent_push_counts(const struct agent_push *push, struct agent_push_counts *counts)
{
	counts->batches = atomic_load(&push->batches);
	counts->rows = atomic_load(&push->rows);
	counts->bytes = atomic_load(&push->bytes);
	counts->waiting = atomic_load(&push->waiting);
	counts->failures = atomic_load(&push->failures);
}
