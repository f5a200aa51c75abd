/* What changed from one run to another: a list of figures of both, with the noise of each.
 *
 * Two runs do not tell how much a third would differ, so the noise is what the runs themselves show: a sum of
 * times varies by the spread of the single times (the square root of their number times their variance), a
 * mean by its standard error, a phase by the spread of phases of its kind. That leaves out what changes from
 * run to run (caches, other load), so it is a lower bound. Counts and bytes have none. Where a run shows
 * no spread, the noise is not known.
 */
#ifndef STRATA_ANALYZE_DIFF_H
#define STRATA_ANALYZE_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/report.h"

struct why;

#define DIFF_GROUPS(GROUP) \
	GROUP(run)         \
	GROUP(why)         \
	GROUP(phases)      \
	GROUP(steps)       \
	GROUP(roles)       \
	GROUP(operations)  \
	GROUP(devices)     \
	GROUP(directories) \
	GROUP(files)

enum diff_group {
#define GROUP_ID(name) DIFF_##name,
	DIFF_GROUPS(GROUP_ID)
#undef GROUP_ID
		DIFF_GROUP_COUNT
};

extern const char *const diff_groups[DIFF_GROUP_COUNT];

/* Beyond noise: more than three standard deviations. */
enum diff_verdict { DIFF_SAME, DIFF_WITHIN, DIFF_BEYOND, DIFF_UNKNOWN };

extern const char *const diff_verdicts[];

struct diff_item {
	enum diff_group group;
	enum amount unit;
	char what[48];	       /* such as: time in reads */
	struct dims_text name; /* of what: a path, a call; bytes NULL for the run itself */
	double a, b;	       /* NAN: not in that run */
	double change;	       /* b - a; NAN: one of them is not there */
	double share;	       /* the change by a; NAN: there is no a, or it is 0 */
	double noise;	       /* of the change, one standard deviation; NAN: not known */
	enum diff_verdict verdict;
};

struct diff {
	struct diff_item
		*items; /* by group; what is the same last, the greatest change of time first */
	size_t count;
	uint32_t only_a, only_b; /* LAYER_BITs: recorded in one run alone, and not compared */
};

/* The ledgers of both, which then are compared too; NULL where a trace cannot tell. */
struct diff_ledgers {
	const struct why *a, *b;
};

int diff_load(struct diff *diff, const struct report *a, const struct report *b,
	      const struct diff_ledgers *ledgers, struct error *e);
void diff_free(struct diff *diff);

#endif
