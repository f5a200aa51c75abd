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

enum diff_unit { DIFF_NS, DIFF_BYTES, DIFF_COUNT };

#define DIFF_GROUPS(GROUP) \
	GROUP(run)         \
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

enum diff_verdict { DIFF_SAME, DIFF_WITHIN, DIFF_BEYOND, DIFF_UNKNOWN };

struct diff_item {
	enum diff_group group;
	enum diff_unit unit;
	char what[48];	       /* such as: time in reads */
	struct dims_text name; /* of what: a path, a call; bytes NULL for the run itself */
	double a, b;	       /* NAN: not in that run */
	double noise;	       /* of the difference, one standard deviation; NAN: not known */
};

struct diff {
	struct diff_item *items; /* by group, then the greatest change of time first */
	size_t count;
};

int diff_load(struct diff *diff, const struct report *a, const struct report *b, struct error *e);
void diff_free(struct diff *diff);

/* Beyond noise: more than three standard deviations. */
enum diff_verdict diff_judge(const struct diff_item *item);

#endif
