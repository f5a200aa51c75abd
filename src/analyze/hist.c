#include "analyze/hist.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SUB_BITS 5
#define SUB	 (1u << SUB_BITS)
#define BUCKETS	 ((64 - SUB_BITS + 1) * SUB)
#define FEW	 512 /* cells */
#define FIRST	 8   /* values of a log that begins */
#define LATEST	 128 /* of a full one */

struct hist_cell {
	uint16_t bucket;
	uint16_t count;
};

_Static_assert(BUCKETS <= UINT16_MAX, "a bucket's number fits into a cell");

static uint32_t bucket_of(uint64_t value)
{
	unsigned octave;

	if (value < SUB)
		return (uint32_t)value;
	octave = 63u - (unsigned)__builtin_clzll(value);
	return (octave - SUB_BITS + 1) * SUB + (uint32_t)(value >> (octave - SUB_BITS) & (SUB - 1));
}

/* The largest value of the bucket. */
static uint64_t bucket_end(uint32_t bucket)
{
	unsigned shift;

	if (bucket < 2 * SUB)
		return bucket;
	shift = bucket / SUB - 1;
	return (((uint64_t)SUB + bucket % SUB + 1) << shift) - 1;
}

/* ---- all buckets side by side, for a moment ---- */

/* Counts hold where their bit is set. */
struct spread {
	uint64_t present[BUCKETS / 64];
	uint64_t counts[BUCKETS];
};

static void spread_add(struct spread *spread, uint32_t bucket, uint64_t count)
{
	uint64_t bit = 1ull << bucket % 64, *present = &spread->present[bucket / 64];

	spread->counts[bucket] = *present & bit ? spread->counts[bucket] + count : count;
	*present |= bit;
}

static void spread_hist(struct spread *spread, const struct hist *hist)
{
	for (unsigned i = 0; i < hist->used; i++)
		spread_add(spread, hist->cells[i].bucket, hist->cells[i].count);
	for (unsigned i = 0; i < hist->logged; i++)
		spread_add(spread, hist->log[i], 1);
	for (uint32_t i = 0; i < BUCKETS && hist->buckets; i++)
		if (hist->buckets[i])
			spread_add(spread, i, hist->buckets[i]);
}

static void spread_begin(struct spread *spread, const struct hist *hist)
{
	memset(spread->present, 0, sizeof(spread->present));
	spread_hist(spread, hist);
}

/* Runs what follows for each bucket that is not empty, in order. */
#define SPREAD_FOR_EACH(spread, bucket)                                                 \
	for (uint32_t word = 0, bucket; word < BUCKETS / 64; word++)                    \
		for (uint64_t bits = (spread)->present[word];                           \
		     bits && (bucket = word * 64 + (uint32_t)__builtin_ctzll(bits), 1); \
		     bits &= bits - 1)

/* ---- and back ---- */

static int take_buckets(struct hist *hist, const struct spread *spread)
{
	if (!hist->buckets)
		hist->buckets = calloc(BUCKETS, sizeof(*hist->buckets));
	if (!hist->buckets)
		return -ENOMEM;
	SPREAD_FOR_EACH (spread, i)
		hist->buckets[i] = spread->counts[i];
	free(hist->cells);
	free(hist->log);
	hist->cells = NULL;
	hist->log = NULL;
	hist->used = hist->capacity = hist->logged = hist->log_capacity = 0;
	return 0;
}

static int take_cells(struct hist *hist, const struct spread *spread, unsigned needed)
{
	if (needed > hist->capacity) {
		unsigned capacity = needed + needed / 4;
		struct hist_cell *cells = reallocarray(hist->cells, capacity, sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		hist->cells = cells;
		hist->capacity = (uint16_t)capacity;
	}
	hist->used = hist->logged = 0;
	SPREAD_FOR_EACH (spread, i) {
		hist->cells[hist->used++] =
			(struct hist_cell){ (uint16_t)i, (uint16_t)spread->counts[i] };
	}
	return 0;
}

/* What the histogram counts becomes what is spread out. */
static int take_spread(struct hist *hist, const struct spread *spread)
{
	bool many = hist->buckets != NULL;
	unsigned needed = 0;

	SPREAD_FOR_EACH (spread, i) {
		needed++;
		many |= spread->counts[i] > UINT16_MAX;
	}
	return many || needed > FEW ? take_buckets(hist, spread) : take_cells(hist, spread, needed);
}

/* ---- adding ---- */

static int grow_log(struct hist *hist)
{
	unsigned capacity = hist->log_capacity ? hist->log_capacity * 2u : FIRST;
	struct spread spread;
	uint16_t *log;

	if (hist->log_capacity == LATEST) {
		spread_begin(&spread, hist);
		return take_spread(hist, &spread);
	}
	log = reallocarray(hist->log, capacity, sizeof(*log));
	if (!log)
		return -ENOMEM;
	hist->log = log;
	hist->log_capacity = (uint16_t)capacity;
	return 0;
}

static void note_range(struct hist *hist, uint64_t least, uint64_t most)
{
	if (!hist->count || least < hist->least)
		hist->least = least;
	if (!hist->count || most > hist->most)
		hist->most = most;
}

int hist_add(struct hist *hist, uint64_t value)
{
	uint32_t bucket = bucket_of(value);

	if (!hist->buckets && hist->logged == hist->log_capacity && grow_log(hist))
		return -ENOMEM;
	if (hist->buckets)
		hist->buckets[bucket]++;
	else
		hist->log[hist->logged++] = (uint16_t)bucket;
	note_range(hist, value, value);
	hist->count++;
	hist->sum += value;
	hist->squares += (double)value * (double)value;
	return 0;
}

int hist_merge(struct hist *into, const struct hist *from)
{
	struct spread spread;

	if (!from->count)
		return 0;
	spread_begin(&spread, into);
	spread_hist(&spread, from);
	if (take_spread(into, &spread))
		return -ENOMEM;
	note_range(into, from->least, from->most);
	into->count += from->count;
	into->sum += from->sum;
	into->squares += from->squares;
	return 0;
}

/* ---- asking ---- */

uint64_t hist_quantile(const struct hist *hist, double q)
{
	uint64_t left = (uint64_t)(q * (double)hist->count + 0.999999999);
	struct spread spread;

	if (!hist->count)
		return 0;
	spread_begin(&spread, hist);
	SPREAD_FOR_EACH (&spread, i) {
		if (spread.counts[i] >= left)
			return bucket_end(i) < hist->most ? bucket_end(i) : hist->most;
		left -= spread.counts[i];
	}
	return hist->most;
}

double hist_mean(const struct hist *hist)
{
	return hist->count ? (double)hist->sum / (double)hist->count : NAN;
}

double hist_variance(const struct hist *hist)
{
	double count = (double)hist->count, mean, variance;

	if (hist->count < 2)
		return 0;
	mean = (double)hist->sum / count;
	variance = (hist->squares - count * mean * mean) / (count - 1);
	return variance > 0 ? variance : 0;
}

void hist_bins(const struct hist *hist, uint64_t bins[HIST_BINS])
{
	struct spread spread;

	memset(bins, 0, HIST_BINS * sizeof(*bins));
	spread_begin(&spread, hist);
	SPREAD_FOR_EACH (&spread, i) {
		uint64_t end = bucket_end(i);

		bins[end ? 64 - __builtin_clzll(end) : 0] += spread.counts[i];
	}
}

void hist_free(struct hist *hist)
{
	free(hist->log);
	free(hist->cells);
	free(hist->buckets);
	*hist = (struct hist){ 0 };
}
