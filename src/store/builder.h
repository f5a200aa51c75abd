/* Rows of one table on their way into a chunk, column by column. One thread uses a builder.
 *
 *     builder_set(io, column_io_dur, 420);
 *     builder_set_text(fs, column_fs_arg_path, bytes, size);
 *     builder_end_row(io);
 *     if (builder_full(io))
 *             builder_encode(io, &chunk, e), writer_append(writer, &chunk, e);
 *
 * A cell that is not set is null; a column never set in a chunk costs no byte.
 */
#ifndef STRATA_STORE_BUILDER_H
#define STRATA_STORE_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strings.h"
#include "schema/schema.h"

#define BUILDER_MAX_ROWS      65536
#define BUILDER_MAX_TEXT      (16u << 20) /* bytes of different texts: full beyond them */
#define BUILDER_MAX_CELL_TEXT (1u << 20)  /* longer texts are cut */

struct builder_column {
	int64_t *cells; /* BUILDER_MAX_ROWS of them, allocated when first set */
	uint32_t filled;
};

struct builder {
	const struct schema_table *table;
	uint32_t rows;	     /* finished ones */
	uint32_t text_bytes; /* of all texts held */
	bool failed;	     /* out of memory at some cell: builder_encode says so */
	struct builder_column columns[TABLE_MAX_COLUMNS];
	struct strings texts[TABLE_MAX_COLUMNS]; /* of the TEXT columns */
	struct builder_scratch *scratch;	 /* of builder_encode */
};

int builder_open(struct builder **builder, const struct schema_table *table, struct error *e);
void builder_close(struct builder *builder);

void builder_fill(struct builder *builder, unsigned column); /* nulls up to the current row */

static inline void builder_set(struct builder *builder, unsigned column, int64_t value)
{
	struct builder_column *c = &builder->columns[column];

	if (__builtin_expect(!c->cells || c->filled < builder->rows, 0))
		builder_fill(builder, column);
	if (__builtin_expect(c->cells != NULL, 1))
		c->cells[c->filled++] = value;
}

void builder_set_text(struct builder *builder, unsigned column, const void *bytes, size_t size);

static inline void builder_set_real(struct builder *builder, unsigned column, double value)
{
	union {
		double real;
		int64_t bits;
	} cell = { .real = value + 0.0 }; /* -0.0, whose bits mean null, becomes 0.0 */

	builder_set(builder, column, cell.bits);
}

static inline void builder_end_row(struct builder *builder)
{
	builder->rows++;
}

static inline bool builder_full(const struct builder *builder)
{
	return builder->rows == BUILDER_MAX_ROWS || builder->text_bytes >= BUILDER_MAX_TEXT;
}

/* Forgets the rows, for who has read the cells. */
void builder_empty(struct builder *builder);

/* Appends the rows to `out` as one chunk, ready for writer_append, and empties the builder. */
int builder_encode(struct builder *builder, struct buf *out, struct error *e);

#endif
