/* The rows of a trace as a server gets them: table by table, in the order of `strata dump`, from any row on. */
#ifndef STRATA_CLUSTER_PUSH_TRACE_ROWS_H
#define STRATA_CLUSTER_PUSH_TRACE_ROWS_H

#include "base/error.h"
#include "cluster/push/remote_tables.h"
#include "cluster/push/row_writer.h"
#include "store/dims.h"
#include "store/reader.h"
#include "store/rows.h"

/* What stands in every row of a batch; texts are the caller's. */
struct row_common {
	const char *run, *node;
	const char *job; /* NULL: none */
	int64_t rank;	 /* -1: none */
	uint64_t batch;
	uint16_t day; /* days since 1970 */
};

void row_common_write(struct row_writer *writer, const struct row_common *common);

struct trace_rows {
	struct reader *reader;
	const struct dims *dims;
	uint64_t start; /* of the recording */
	unsigned number;
	struct remote_table table;
	struct rows *rows; /* of a table that is stored; others come from the dims */
	uint64_t at;	   /* rows that were given */
	bool ended;
	struct buf scratch;
};

/* Begins with a table, behind its first `skip` rows. */
int trace_rows_begin(struct trace_rows *rows, unsigned table, uint64_t skip, struct error *e);

/* The day that the next row is of, or that of the recording. */
uint16_t trace_rows_day(const struct trace_rows *rows);

/* Writes at most `most` rows, and `bytes` or little more. `ended` says whether there are others. */
int trace_rows_write(struct trace_rows *rows, struct row_writer *writer,
		     const struct row_common *common, uint64_t most, uint64_t bytes,
		     struct error *e);
void trace_rows_end(struct trace_rows *rows);

#endif
