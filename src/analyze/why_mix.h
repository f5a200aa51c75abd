/* What the batches were made of that the focus thread waited for: the second view beside the walk.
 *
 * The walk charges a wait to what happened during it, and so blames the last part of the work. Here each batch is taken whole, from
 * the worker's taking its index to its writing the result (why_batches.h), and what the worker did then is told by the same walk,
 * backward from the result. All of it adds up to the nanosecond:
 *
 *     made    = sum of the acts of all batches                      what was charged for a batch is at most what it took to make it
 *     waited  = charged + outside                                   outside: workers not born, nothing asked for, the hand-over
 *     made    = charged + hidden                                    hidden: the loop did something else meanwhile, it cost nothing
 *
 * A batch's wait is divided among its acts as they share in its making, in whole nanoseconds, the rest to the greatest.
 */
#ifndef STRATA_ANALYZE_WHY_MIX_H
#define STRATA_ANALYZE_WHY_MIX_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/why_acts.h"
#include "analyze/why_ledger.h"
#include "base/buf.h"
#include "base/numbering.h"

struct why;

struct why_part {
	enum why_act act;
	uint32_t name; /* in why_calls.names; UINT32_MAX: none */
	uint64_t made_ns, charged_ns;
};

struct why_mix {
	struct buf
		waits; /* struct wait_piece: the focus thread's waits for input, in order of time */
	struct buf
		parts; /* struct why_part by act and name, the most charged first once finished */
	struct buf
		files; /* struct why_file: files behind parts, the costliest first once finished */
	struct numbering by_part, by_file;
	size_t batches, awaited;
	uint64_t made_ns, waited_ns, charged_ns, outside_ns, hidden_ns;
	uint64_t idle_ns; /* of the workers, between batches, while the focus thread did not wait */
	uint64_t missed_ns;  /* of the wait what more prefetching could have hidden */
	size_t workers;	     /* that made batches in the loop */
	uint64_t busy_ns;    /* of the workers, making batches, all together */
	uint64_t workers_ns; /* their time in the loop, all together */
};

/* A wait of the focus thread for input. 0 or -ENOMEM. */
int mix_add_wait(struct why_mix *mix, enum why_act act, uint64_t start, uint64_t end);

/* Of the batches received in (start, end]: the loop begins with the first one. Once the ledger is done. */
int mix_finish(struct why *why, uint64_t start, uint64_t end);
void mix_free(struct why_mix *mix);

static inline size_t mix_count(const struct why_mix *mix)
{
	return mix->parts.size / sizeof(struct why_part);
}

static inline const struct why_part *mix_part(const struct why_mix *mix, size_t i)
{
	return (const struct why_part *)mix->parts.data + i;
}

/* What was charged for an act, by whatever name. */
uint64_t mix_charged(const struct why_mix *mix, enum why_act act);

#endif
