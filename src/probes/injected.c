#include "probes/injected.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probes/gpu_ops.h"
#include "probes/inprocess.h"
#include "probes/unloaded.h"

#define WAIT_MS 20 /* at most between two looks: a doorbell comes when a ring is a quarter full */

static const struct injected_reader *const injected_readers[INJECT_LIBRARIES] = {
	[INJECT_CALLS] = &inprocess_reader,
	[INJECT_GPU] = &gpu_ops_reader,
};

struct injected {
	struct pool *pool; /* not owned */
	uint32_t libraries;
	void *states[INJECT_LIBRARIES];
	uint64_t lost[INJECT_LIBRARIES][POOL_LOSSES]; /* as the rows of table loss have it */
	struct row_maker *maker;		      /* while the pool is read */
	struct unloaded *unloaded;		      /* NULL: the library of calls is not loaded */
};

static const struct injected_reader *reader_of(const struct injected *injected, unsigned library)
{
	return injected->libraries & INJECT_BIT(library) ? injected_readers[library] : NULL;
}

int injected_open(struct injected **out, const struct injected_setup *setup, struct error *e)
{
	struct injected *injected = *out = calloc(1, sizeof(*injected));
	int err = 0;

	if (!injected)
		return error_set(e, -ENOMEM, "out of memory");
	injected->pool = setup->pool;
	injected->libraries = setup->libraries;
	if (setup->libraries & INJECT_BIT(INJECT_CALLS))
		injected->unloaded = unloaded_open();
	for (unsigned i = 0; i < INJECT_LIBRARIES && !err; i++)
		if (reader_of(injected, i))
			err = injected_readers[i]->open(&injected->states[i], setup, e);
	return err;
}

void injected_close(struct injected *injected)
{
	if (!injected)
		return;
	for (unsigned i = 0; i < INJECT_LIBRARIES; i++)
		if (injected->states[i])
			injected_readers[i]->close(injected->states[i]);
	unloaded_close(injected->unloaded);
	free(injected);
}

struct unloaded *injected_unloaded(const struct injected *injected)
{
	return injected ? injected->unloaded : NULL;
}

void injected_start(struct injected *injected, uint64_t now)
{
	for (unsigned i = 0; i < INJECT_LIBRARIES; i++) {
		const struct injected_reader *reader = reader_of(injected, i);

		if (reader && reader->start)
			reader->start(injected->states[i], now);
	}
}

static void take_record(void *context, const struct pool_writer *writer,
			const struct inject_head *head)
{
	struct injected *injected = context;
	const struct injected_reader *reader = reader_of(injected, writer->library);

	if (reader)
		reader->record(injected->states[writer->library], injected->maker, writer, head);
}

static void take_end(void *context, const struct pool_writer *writer)
{
	struct injected *injected = context;
	const struct injected_reader *reader = reader_of(injected, writer->library);

	if (reader && reader->end)
		reader->end(injected->states[writer->library], injected->maker, writer);
}

void injected_read(struct injected *injected, struct row_maker *maker, bool last)
{
	struct pool_visitor visitor = { .context = injected,
					.record = take_record,
					.end = take_end };

	injected->maker = maker;
	pool_read(injected->pool, &visitor, last);
	for (unsigned i = 0; i < INJECT_LIBRARIES; i++) {
		const struct injected_reader *reader = reader_of(injected, i);

		if (reader && reader->pass)
			reader->pass(injected->states[i], maker, last);
	}
}

bool injected_wait(struct injected *injected)
{
	return pool_wait(injected->pool, WAIT_MS);
}

void injected_wake(struct injected *injected)
{
	pool_wake(injected->pool);
}

#define SET(column, value) builder_set(row, column_loss_##column, (int64_t)(value))

/* The CPU is not known. */
static void add_loss(struct sink *sink, enum layer layer, enum loss reason, uint64_t count,
		     uint64_t since, uint64_t now)
{
	struct builder *row = sink_table(sink, TABLE_loss);

	if (!row)
		return sink_drop(sink, TABLE_loss);
	SET(ts, since);
	SET(dur, now - since);
	SET(layer, layer);
	SET(count, count);
	SET(reason, reason);
	sink_end_row(sink, TABLE_loss);
}

uint64_t injected_take_losses(struct injected *injected, struct sink *sink, uint64_t since,
			      uint64_t now)
{
	static const enum loss reasons[POOL_LOSSES] = {
		[POOL_OVERRUN] = LOSS_RING,
		[POOL_TORN] = LOSS_TORN,
		[POOL_NO_RING] = LOSS_STATE,
	};
	uint64_t sum = 0;

	for (unsigned i = 0; i < INJECT_LIBRARIES; i++) {
		for (unsigned loss = 0; reader_of(injected, i) && loss < POOL_LOSSES; loss++) {
			uint64_t lost = pool_lost(injected->pool, i, loss);
			uint64_t count = lost - injected->lost[i][loss];

			if (lost <= injected->lost[i][loss]) /* the job can write there */
				continue;
			add_loss(sink, injected_readers[i]->layer, reasons[loss], count, since,
				 now);
			injected->lost[i][loss] = lost;
			sum += count;
		}
	}
	return sum;
}
