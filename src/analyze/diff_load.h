/* Inside the difference of two runs: how items get into its list, and the noise of what they tell. */
#ifndef STRATA_ANALYZE_DIFF_LOAD_H
#define STRATA_ANALYZE_DIFF_LOAD_H

#include "analyze/diff.h"
#include "base/buf.h"

/* The items on their way into the list. Without memory the rest is left out, and err says so. */
struct diff_making {
	struct buf list;
	int err;
};

/* What is in neither run, or 0 in both, is left out. */
void diff_add(struct diff_making *making, enum diff_group group, enum amount unit,
	      struct dims_text name, const char *what, double a, double b, double noise);

/* One standard deviation of the difference of the sums, or of the means, of all values of two runs; NAN: not known. */
double diff_sum_noise(const struct hist *a, const struct hist *b);
double diff_mean_noise(const struct hist *a, const struct hist *b);

void diff_add_why(struct diff_making *making, const struct why *a, const struct why *b);
void diff_add_ops(struct diff_making *making, const struct files *a, const struct files *b);
void diff_add_devices(struct diff_making *making, const struct devices *a, const struct devices *b);
void diff_add_dirs(struct diff_making *making, const struct files *a, const struct files *b);
void diff_add_files(struct diff_making *making, const struct files *a, const struct files *b);

#endif
