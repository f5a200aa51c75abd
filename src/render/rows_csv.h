/* The rows of one table as CSV: the work behind `strata dump`. */
#ifndef STRATA_RENDER_ROWS_CSV_H
#define STRATA_RENDER_ROWS_CSV_H

#include <stdint.h>

#include "base/error.h"
#include "render/csv.h"
#include "schema/shown.h"
#include "store/dims.h"
#include "store/reader.h"

struct rows_csv {
	unsigned table; /* enum table_id */
	const struct shown_column *columns;
	unsigned column_count;
	uint64_t from, to; /* ts, both included */
	uint64_t limit;	   /* rows */
	/* Called now and then, and at the end, with the rows written since; or NULL. */
	void (*progress)(void *data, uint64_t rows);
	void *data;
};

/* Writes the header line and the rows in order of ts, threads and files as merged in the dims, and
 * flushes. A failed write is left in csv->error
 * and ends the work with 0; -errno is a failure to read. */
int rows_csv_write(const struct rows_csv *what, struct reader *reader, const struct dims *dims,
		   struct csv *csv, struct error *e);

#endif
