/* Why B is slower: the ledger of one loop against the other's, act by act. */
#include <math.h>
#include <string.h>

#include "analyze/diff_load.h"
#include "analyze/why.h"

static uint64_t act_ns(const struct why *why, enum why_act act)
{
	for (size_t i = 0; i < why->ledger.sum_count; i++)
		if (why->ledger.sums[i].act == act)
			return verdict_in_loop(&why->verdict, why->ledger.sums[i].by_context);
	return 0;
}

void diff_add_why(struct diff_making *making, const struct why *a, const struct why *b)
{
	static const struct dims_text nameless;

	diff_add(making, DIFF_why, AMOUNT_ns, nameless, "the loop", (double)a->verdict.of_ns,
		 (double)b->verdict.of_ns, NAN);
	for (unsigned i = 0; i < WHY_ACT_COUNT; i++) {
		const char *says = why_acts[i].says;

		diff_add(making, DIFF_why, AMOUNT_ns, (struct dims_text){ says, strlen(says) },
			 why_cause_names[why_acts[i].cause], (double)act_ns(a, i),
			 (double)act_ns(b, i), NAN);
	}
}
