/* How values are spread: their number, sum, least, most, quantiles and counts by power of two.
 *
 * Values below 32 are counted exactly, larger ones in 32 buckets to a power of two, so that a quantile is
 * at most 1/32 above the true one and never above the largest value.
 *
 *     log      [b][b][b]...          the buckets of the latest values, unsorted
 *     cells    [b, n][b, n]...       those of the values before, sorted, while there are few
 *     buckets  [n][n][n]...          all of them, once there are many
 *
 * A run may have a histogram for each of a million files, and its reads jump from file to file: adding a value
 * touches the struct and the end of the log, and what few values need is small. A zeroed struct is empty;
 * hist_free() releases it.
 */
#ifndef STRATA_ANALYZE_HIST_H
#define STRATA_ANALYZE_HIST_H

#include <stdint.h>

#define HIST_BINS 65

struct hist {
	uint64_t count, sum, least, most;
	double squares; /* sum of the values' squares */
	uint16_t *log;
	struct hist_cell *cells;
	uint64_t *buckets;
	uint16_t logged, log_capacity;
	uint16_t used, capacity; /* of cells */
};

int hist_add(struct hist *hist, uint64_t value); /* 0 or -ENOMEM */
int hist_merge(struct hist *into, const struct hist *from);

/* The least bucket's end below or at which the share q (0 to 1) of all values lies; 0 when empty. */
uint64_t hist_quantile(const struct hist *hist, double q);

double hist_mean(const struct hist *hist); /* NAN when empty */

/* The values' variance; 0 for fewer than two. */
double hist_variance(const struct hist *hist);

/* Bin 0 counts zeros, bin n the values from 2^(n-1) up to, not including, 2^n. */
void hist_bins(const struct hist *hist, uint64_t bins[HIST_BINS]);

void hist_free(struct hist *hist);

#endif
