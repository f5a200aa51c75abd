#include "analyze/hist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUB_BITS     5
#define SUB	     (1u << SUB_BITS)
#define BUCKETS	     ((64 - SUB_BITS + 1) * SUB)
#define FEW	     512
#define FIRST_MEMORY 4

struct hist_cell {
	uint32_t bucket;
	uint32_t count;
};

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

static int spread_out(struct hist *hist)
{
	hist->buckets = calloc(BUCKETS, sizeof(*hist->buckets));
	if (!hist->buckets)
		return -ENOMEM;
	for (unsigned i = 0; i < hist->used; i++)
		hist->buckets[hist->cells[i].bucket] = hist->cells[i].count;
	free(hist->cells);
	hist->cells = NULL;
	return 0;
}

static int insert_cell(struct hist *hist, unsigned at, struct hist_cell cell)
{
	if (hist->used == hist->capacity) {
		unsigned capacity = hist->capacity ? hist->capacity * 2u : FIRST_MEMORY;
		struct hist_cell *cells = reallocarray(hist->cells, capacity, sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		hist->cells = cells;
		hist->capacity = (uint16_t)capacity;
	}
	memmove(hist->cells + at + 1, hist->cells + at, (hist->used - at) * sizeof(*hist->cells));
	hist->cells[at] = cell;
	hist->used++;
	return 0;
}

static int add_to_bucket(struct hist *hist, uint32_t bucket, uint64_t count)
{
	unsigned low = 0, high = hist->used;

	if (!hist->buckets && (hist->used == FEW || hist->count + count > UINT32_MAX) &&
	    spread_out(hist))
		return -ENOMEM;
	if (hist->buckets) {
		hist->buckets[bucket] += count;
		return 0;
	}
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (hist->cells[middle].bucket < bucket)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < hist->used && hist->cells[low].bucket == bucket) {
		hist->cells[low].count += (uint32_t)count;
		return 0;
	}
	return insert_cell(hist, low, (struct hist_cell){ bucket, (uint32_t)count });
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
	if (add_to_bucket(hist, bucket_of(value), 1))
		return -ENOMEM;
	note_range(hist, value, value);
	hist->count++;
	hist->sum += value;
	hist->squares += (double)value * (double)value;
	return 0;
}

/* Calls `visit` for each bucket that is not empty, in order, until it returns false. */
static void visit_buckets(const struct hist *hist,
			  _Bool (*visit)(void *, uint32_t bucket, uint64_t count), void *state)
{
	if (!hist->buckets) {
		for (unsigned i = 0; i < hist->used; i++)
			if (!visit(state, hist->cells[i].bucket, hist->cells[i].count))
				return;
		return;
	}
	for (uint32_t i = 0; i < BUCKETS; i++)
		if (hist->buckets[i] && !visit(state, i, hist->buckets[i]))
			return;
}

struct merging {
	struct hist *into;
	int err;
};

static _Bool merge_bucket(void *state, uint32_t bucket, uint64_t count)
{
	struct merging *merging = state;

	merging->err = add_to_bucket(merging->into, bucket, count);
	return !merging->err;
}

int hist_merge(struct hist *into, const struct hist *from)
{
	struct merging merging = { .into = into };

	if (!from->count)
		return 0;
	visit_buckets(from, merge_bucket, &merging);
	note_range(into, from->least, from->most);
	into->count += from->count;
	into->sum += from->sum;
	into->squares += from->squares;
	return merging.err;
}

struct seeking {
	uint64_t left, end;
};

static _Bool seek_bucket(void *state, uint32_t bucket, uint64_t count)
{
	struct seeking *seeking = state;

	seeking->end = bucket_end(bucket);
	if (count >= seeking->left)
		return 0;
	seeking->left -= count;
	return 1;
}

uint64_t hist_quantile(const struct hist *hist, double q)
{
	struct seeking seeking = { .left = (uint64_t)(q * (double)hist->count + 0.999999999) };

	if (!hist->count)
		return 0;
	if (!seeking.left)
		seeking.left = 1;
	visit_buckets(hist, seek_bucket, &seeking);
	return seeking.end < hist->most ? seeking.end : hist->most;
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

static _Bool bin_bucket(void *state, uint32_t bucket, uint64_t count)
{
	uint64_t end = bucket_end(bucket), *bins = state;

	bins[end ? 64 - __builtin_clzll(end) : 0] += count;
	return 1;
}

void hist_bins(const struct hist *hist, uint64_t bins[HIST_BINS])
{
	memset(bins, 0, HIST_BINS * sizeof(*bins));
	visit_buckets(hist, bin_bucket, bins);
}

void hist_free(struct hist *hist)
{
	free(hist->cells);
	free(hist->buckets);
	*hist = (struct hist){ 0 };
}
