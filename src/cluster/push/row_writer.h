/* Rows as ClickHouse's RowBinary, into a file that is one member of gzip.
 *
 * One member, because a server takes gzip that is cut off anywhere inside a member for an error, but bytes that are not
 * packed, and gzip between two members, for all there was. A null cell is a byte 1; one that is there has a byte 0 before it,
 * in columns that may be null. Failures to write stay in the writer until row_writer_end().
 */
#ifndef STRATA_CLUSTER_PUSH_ROW_WRITER_H
#define STRATA_CLUSTER_PUSH_ROW_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/error.h"

struct row_writer {
	gzFile gzip;
	int fd; /* the caller's */
	struct buf bytes;
	bool failed;
	uint64_t rows;
	uint64_t raw;	     /* bytes before they were packed */
	int64_t first, last; /* least and greatest key, of tables that have one */
};

int row_writer_begin(struct row_writer *writer, int fd, struct error *e);
/* Ends the gzip member and frees the writer; the file is the caller's to close. */
int row_writer_end(struct row_writer *writer, struct error *e);

/* One row is complete; its key, 0 where the table has none. */
void row_end(struct row_writer *writer, int64_t key);

/* Cells of columns that are never null. */
void row_number(struct row_writer *writer, uint64_t number); /* UInt64 and Int64 */
void row_day(struct row_writer *writer, uint16_t day);
void row_text(struct row_writer *writer, const char *bytes, size_t size); /* as SQL shows it */
void row_array(struct row_writer *writer, const uint64_t *numbers, unsigned count);

/* Cells of columns that may be. */
void row_null(struct row_writer *writer);
void row_maybe_number(struct row_writer *writer, uint64_t number);
void row_maybe_real(struct row_writer *writer, double real);
void row_maybe_truth(struct row_writer *writer, bool truth);
void row_maybe_text(struct row_writer *writer, const char *bytes, size_t size); /* NULL: null */

#endif
