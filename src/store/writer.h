/* The trace file as it is written: header, chunks as they come, index at the end. docs/format.md
 * draws it. Any thread may append; the writer locks. After a failed write the file is cut back to the
 * last whole chunk, its header says why, and every later append fails with the same error.
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

/* Notes in the header, which needs no more room on a full disk, that the trace is not whole: why, how many rows are not in it
 * and how many events were lost. Before writer_close; a failed append has noted its errno already. */
void writer_note_failure(struct writer *writer, int err, uint64_t unwritten, uint64_t lost);

uint64_t writer_size(const struct writer *writer);
uint64_t writer_rows(const struct writer *writer, unsigned table); /* enum table_id */

/* Writes the index, marks the file complete and closes it. The writer is freed also on failure. */
int writer_close(struct writer *writer, struct error *e);

#endif
