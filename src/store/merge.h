/* The rows of several tables of a trace in one order of time. Rows of equal ts come in the order in which
 * the tables are listed.
 *
 *     while ((err = merge_next(merge, e)) > 0)
 *             use(merge->table, merge->rows, merge->ts);
 */
#ifndef STRATA_STORE_MERGE_H
#define STRATA_STORE_MERGE_H

#include <stdint.h>

#include "base/error.h"
#include "store/reader.h"
#include "store/rows.h"

struct merge_stream {
	struct rows *rows;
	uint64_t ts; /* of its next row; UINT64_MAX at its end */
	unsigned table;
};

struct merge {
	/* The row that merge_next() came to. */
	unsigned table;
	const struct rows *rows;
	uint64_t ts;

	struct merge_stream streams[TABLE_COUNT];
	unsigned count;
	unsigned current;  /* whose row it is */
	uint64_t other_ts; /* the least ts among the other streams */
	unsigned other;	   /* and the first of those that have it */
	int started;
};

/* tables: bit i is enum table_id i; those without a time are left out. wanted: by table, see rows_open(). */
int merge_open(struct merge *merge, struct reader *reader, uint32_t tables,
	       const uint64_t wanted[TABLE_COUNT], uint64_t from, uint64_t to, struct error *e);
int merge_next(struct merge *merge, struct error *e); /* 1 a row, 0 the end, -errno */
void merge_close(struct merge *merge);

#endif
