/* One pass over each table that some model asks for: the rows in order of time, each given to all models
 * that take rows of its table.
 */
#ifndef STRATA_ANALYZE_SCAN_H
#define STRATA_ANALYZE_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/reader.h"
#include "store/rows.h"

struct scan_sink {
	unsigned table;	  /* enum table_id */
	uint64_t columns; /* bit i is column i; others read as null */
	int (*take)(void *state, const struct rows *rows); /* 0 or -ENOMEM */
	void *state;
};

#define SCAN_COLUMN(table, name) (1ull << column_##table##_##name)

int scan_run(struct reader *reader, const struct scan_sink *sinks, size_t count, struct error *e);

#endif
