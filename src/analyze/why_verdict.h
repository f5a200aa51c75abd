/* The verdict: which causes took most of the loop, what lies at the end of each, and how short the loop could be without it.
 *
 * The loop is training and the turns between passes; a recording without steps is judged whole. What data workers did is taken from the mix
 * (why_mix.h), which tells what the awaited batches were made of, and only where there are no batches from the walk.
 */
#ifndef STRATA_ANALYZE_WHY_VERDICT_H
#define STRATA_ANALYZE_WHY_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/why_acts.h"

#define WHY_MOST_CLAIMS 3

struct why;

/* What keeps the loop from being shorter than the bound. */
#define WHY_LIMITS(LIMIT)                         \
	LIMIT(LOOP, "the loop's own work")        \
	LIMIT(WORKERS, "the busiest data worker") \
	LIMIT(GPU, "the GPU")

enum why_limit {
#define WHY_LIMIT_ID(id, says) WHY_LIMIT_##id,
	WHY_LIMITS(WHY_LIMIT_ID)
#undef WHY_LIMIT_ID
		WHY_LIMIT_COUNT
};

extern const char *const why_limit_says[WHY_LIMIT_COUNT];

/* What would help a loop that waits for data workers, beside less work for them. */
#define WHY_ADVICES(ADVICE)                                                                    \
	ADVICE(NONE, "none", "")                                                               \
	ADVICE(PREFETCH, "prefetch",                                                           \
	       "Workers were idle while the loop computed: let them prefetch more.")           \
	ADVICE(WORKERS, "workers",                                                             \
	       "Workers were busy nearly all of the time: more of them would share the work.") \
	ADVICE(CPUS, "cpus", "Workers had to wait for a CPU: more of them would not help.")

enum why_advice {
#define WHY_ADVICE_ID(id, name, says) WHY_ADVICE_##id,
	WHY_ADVICES(WHY_ADVICE_ID)
#undef WHY_ADVICE_ID
		WHY_ADVICE_COUNT
};

extern const char *const why_advice_names[WHY_ADVICE_COUNT],
	*const why_advice_says[WHY_ADVICE_COUNT];

struct why_claim {
	enum why_cause cause;
	uint64_t ns; /* of the loop */
	double share;
	enum why_act act; /* the greatest of the cause */
	uint64_t act_ns;
	uint32_t name;	   /* of what it is about, in why_calls.names; UINT32_MAX: none */
	int64_t file;	   /* that cost most; CELL_NULL: none */
	uint64_t bound_ns; /* without the act the loop cannot take less, all else being equal */
	enum why_limit limit;
};

struct why_verdict {
	const char *refused; /* why there is none; NULL: there is one */
	bool loop;	     /* it is about the loop; else about the whole life */
	uint64_t start, end; /* of it */
	uint64_t of_ns;	     /* its time */
	struct why_claim claims[WHY_MOST_CLAIMS]; /* the greatest first */
	size_t claim_count;
	enum why_advice advice;
};

/* What of a count by context is in the loop; all of it where there are no steps. */
uint64_t verdict_in_loop(const struct why_verdict *verdict, const uint64_t *by_context);

/* Where the loop begins and ends; then the causes, once the ledger and the mix are done. -ENOMEM. */
void verdict_find_loop(struct why *why);
int verdict_reach(struct why *why);

#endif
