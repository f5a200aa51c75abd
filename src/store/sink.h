/* Where rows go while recording: a builder for each table, and the writer behind them. Each thread that
 * makes rows has a sink of its own; only the writer is shared, and locks.
 *
 * A failure to write is remembered and ends the recording; rows that come after it are dropped and
 * counted.
 */
#ifndef STRATA_STORE_SINK_H
#define STRATA_STORE_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/builder.h"
#include "store/writer.h"

struct kept;

struct sink {
	struct writer *writer; /* not owned */
	struct kept
		*kept; /* names to tell again when the writer changes; NULL: it stays the same */
	struct builder *builders[TABLE_COUNT]; /* made when first used */
	uint64_t since[TABLE_COUNT];   /* CLOCK_MONOTONIC of a builder's first row; 0: empty */
	uint64_t dropped[TABLE_COUNT]; /* rows after a failure to write */
	struct buf chunk;
	struct error error;
	int failed; /* -errno of the first failure */
};

void sink_init(struct sink *sink, struct writer *writer);
void sink_free(struct sink *sink);

/* The builder to set the cells of the next row in; NULL after a failure, when there is nothing to do
 * but to count the row with sink_drop. */
struct builder *sink_table(struct sink *sink, enum table_id table);

/* Ends the row. Writes the chunk when it is full. */
void sink_end_row(struct sink *sink, enum table_id table);

/* The same for a row that only says again what is known. */
void sink_end_known_row(struct sink *sink, enum table_id table);

void sink_drop(struct sink *sink, enum table_id table);

/* Writes chunks whose first row is older than `age` nanoseconds; 0 writes all. */
void sink_flush(struct sink *sink, uint64_t age);

#endif
