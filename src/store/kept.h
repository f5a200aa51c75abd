/* Names that the kernel side sends once, kept while a recording goes on in new files: each of them must be readable by
 * itself, so the files that its rows name and the threads that live are told again in it.
 *
 *     row of file, process ──▶ kept_learn      as it is made
 *     chunk on its way     ──▶ kept_tell       puts rows of the files before it that this segment has not been told of
 *     a new segment        ──▶ kept_begin      tells of all threads; what was unknown in the last one is put on a list,
 *                              kept_settle     and told there a moment later: records of several CPUs come in no order
 *
 * Any thread may call these; it locks. About 120 bytes and the path for each file that the recording has met.
 */
#ifndef STRATA_STORE_KEPT_H
#define STRATA_STORE_KEPT_H

#include "base/buf.h"
#include "base/error.h"
#include "store/builder.h"

struct kept;
struct sink;

int kept_open(struct kept **kept, struct error *e);
void kept_close(struct kept *kept);

/* Takes the row that is about to be ended, of tables file and process. */
void kept_learn(struct kept *kept, const struct builder *row);

/* Appends, as a chunk, rows of table file for the ids in these rows that the segment has not been told of. */
int kept_tell(struct kept *kept, const struct builder *rows, struct buf *out, struct error *e);

/* A new segment, from `ts` on: adds rows of the threads that live to the sink, which writes there already. All that was learnt
 * must have been written to the segment before, and nobody learns meanwhile. */
void kept_begin(struct kept *kept, uint64_t ts, struct sink *sink);

/* Appends, as chunks, what the segment before lacked and is known by now. */
int kept_settle(struct kept *kept, struct buf *out, struct error *e);

/* Names that could not be kept, for want of memory. */
uint64_t kept_forgotten(const struct kept *kept);

#endif
