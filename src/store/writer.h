/* The trace file as it is written: header, chunks as they come, index at the end. docs/format.md
 * draws it. Any thread may append; the writer locks. After a failed write the file is cut back to the
 * last whole chunk, and every later append fails with the same error.
 */
#ifndef STRATA_STORE_WRITER_H
#define STRATA_STORE_WRITER_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct writer;

/* Starts a trace in an empty file; the writer owns fd from here on, also on failure. */
int writer_open(struct writer **writer, int fd, struct error *e);

/* Writes one or more whole chunks, as builder_encode made them. */
int writer_append(struct writer *writer, const struct buf *chunks, struct error *e);

uint64_t writer_size(const struct writer *writer);
uint64_t writer_rows(const struct writer *writer, unsigned table); /* enum table_id */

/* Writes the index, marks the file complete and closes it. The writer is freed also on failure. */
int writer_close(struct writer *writer, struct error *e);

#endif
