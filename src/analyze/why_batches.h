/* The batches that data workers made: which worker, when it took the index, when it wrote the result, when the focus process had it.
 *
 *     focus process   ──index──▶ worker ....makes it....──result──▶ focus process
 *                   asked      taken                 written      received
 *
 * Told by messages through pipes, whatever they say: a worker reads indices from a pipe that the focus process writes, and writes results
 * to one that it reads. The n-th index of a worker belongs to its n-th result, and the n-th message that is written to a pipe is
 * the n-th that is read. Messages in frames (a read or write of four bytes, then the rest) count once.
 *
 * batches_sink() takes rows of table io; batches_finish() makes the batches; batches_free() releases them.
 */
#ifndef STRATA_ANALYZE_WHY_BATCHES_H
#define STRATA_ANALYZE_WHY_BATCHES_H

#include <stdint.h>

#include "analyze/context.h"
#include "analyze/scan.h"
#include "base/buf.h"

struct why_batch {
	uint64_t asked, taken;
	uint64_t from; /* work on it began: it was taken, and the batch before it was written */
	uint64_t written,
		received; /* the focus process began to read the last of it, as steps are told */
	uint64_t latest;  /* the greatest `received` up to here */
	uint32_t worker;  /* place in procs */
	int64_t writer;	  /* thread id */
};

struct batches {
	struct context *context;
	struct buf messages; /* struct message, while loading */
	struct buf
		list; /* struct why_batch that were received, in the order in which they were asked for */
};

void batches_open(struct batches *batches, struct context *context);
struct scan_sink batches_sink(struct batches *batches);
int batches_finish(struct batches *batches, uint32_t focus_proc);
void batches_free(struct batches *batches);

static inline size_t batches_count(const struct batches *batches)
{
	return batches->list.size / sizeof(struct why_batch);
}

static inline struct why_batch *batches_get(const struct batches *batches, size_t i)
{
	return (struct why_batch *)batches->list.data + i;
}

/* The batch that was due at ts: the first in order that had not come yet; their count: none. */
size_t batches_due(const struct batches *batches, uint64_t ts);

#endif
