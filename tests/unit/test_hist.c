/* Histograms, covered ranges and numbered keys: the small parts that the models are made of. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/extents.h"
#include "analyze/hist.h"
#include "base/numbering.h"

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static uint64_t random_value(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> (*state % 64);
}

static void quantiles_are_near_and_never_below(void **state)
{
	enum { COUNT = 5000 };
	uint64_t *values = calloc(COUNT, sizeof(*values)), seed = 88172645463325252ull, sum = 0;
	struct hist hist = { 0 };

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		values[i] = random_value(&seed) >> 8;
		sum += values[i];
		assert_int_equal(hist_add(&hist, values[i]), 0);
	}
	qsort(values, COUNT, sizeof(*values), compare);
	assert_int_equal(hist.count, COUNT);
	assert_int_equal(hist.sum, sum);
	assert_int_equal(hist.least, values[0]);
	assert_int_equal(hist.most, values[COUNT - 1]);
	for (int rank = 1; rank <= COUNT; rank++) {
		uint64_t exact = values[rank - 1];
		uint64_t found = hist_quantile(&hist, (double)rank / COUNT);

		assert_true(found >= exact && found <= exact + exact / 32 + 1);
	}
	hist_free(&hist);
	free(values);
}

static void small_values_are_exact_and_bins_are_powers_of_two(void **state)
{
	uint64_t bins[HIST_BINS];
	struct hist hist = { 0 }, other = { 0 };

	(void)state;
	assert_int_equal(hist_quantile(&hist, 0.5), 0);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(hist_add(&hist, i), 0);
	assert_int_equal(hist_quantile(&hist, 0.5), 4);
	assert_int_equal(hist_add(&other, UINT64_MAX), 0);
	assert_int_equal(hist_merge(&hist, &other), 0);
	assert_int_equal(hist.count, 11);
	assert_int_equal(hist_quantile(&hist, 1), UINT64_MAX);
	hist_bins(&hist, bins);
	assert_int_equal(bins[0], 1); /* 0 */
	assert_int_equal(bins[1], 1); /* 1 */
	assert_int_equal(bins[2], 2); /* 2, 3 */
	assert_int_equal(bins[3], 4);
	assert_int_equal(bins[4], 2); /* 8, 9 */
	assert_int_equal(bins[64], 1);
	hist_free(&hist);
	hist_free(&other);
}

/* However many values there are: a log, cells, or all buckets; and one bucket with more than a cell counts. */
static void merged_histograms_are_those_of_all_values(void **state)
{
	static const int sizes[] = { 0, 1, 7, 8, 9, 63, 64, 65, 300, 5000 };
	uint64_t seed = 88172645463325252ull;

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		for (unsigned j = 0; j < 10; j++) {
			struct hist parts[2] = { 0 }, all = { 0 };
			uint64_t bins[2][HIST_BINS];

			for (int k = 0; k < sizes[i] + sizes[j]; k++) {
				uint64_t value = random_value(&seed) >> 8;

				assert_int_equal(hist_add(&parts[k < sizes[i]], value), 0);
				assert_int_equal(hist_add(&all, value), 0);
			}
			assert_int_equal(hist_merge(&parts[0], &parts[1]), 0);
			hist_bins(&parts[0], bins[0]);
			hist_bins(&all, bins[1]);
			assert_memory_equal(bins[0], bins[1], sizeof(bins[0]));
			for (int k = 0; k <= 100; k++)
				assert_int_equal(hist_quantile(&parts[0], k / 100.0),
						 hist_quantile(&all, k / 100.0));
			assert_int_equal(parts[0].count, all.count);
			assert_int_equal(parts[0].least, all.least);
			assert_int_equal(parts[0].most, all.most);
			hist_free(&parts[0]);
			hist_free(&parts[1]);
			hist_free(&all);
		}
}

static void one_value_many_times(void **state)
{
	struct hist hist = { 0 };
	uint64_t bins[HIST_BINS];

	(void)state;
	for (int i = 0; i < 200000; i++)
		assert_int_equal(hist_add(&hist, i == 77 ? 1000 : 5), 0);
	hist_bins(&hist, bins);
	assert_int_equal(bins[3], 199999);
	assert_int_equal(hist_quantile(&hist, 0.5), 5);
	assert_int_equal(hist_quantile(&hist, 1), 1000);
	hist_free(&hist);
}

/* Against a map of single bytes. */
static void ranges_tell_what_was_there(void **state)
{
	struct extents extents = { 0 };
	uint8_t there[1000] = { 0 };
	uint64_t seed = 88172645463325252ull;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		uint64_t from = random_value(&seed) % 900, size = random_value(&seed) % 20,
			 again = 0;
		uint64_t found;

		if (i % 100 == 0) {
			extents_free(&extents);
			memset(there, 0, sizeof(there));
		}
		for (uint64_t j = from; j < from + size; j++) {
			again += there[j];
			there[j] = 1;
		}
		assert_int_equal(extents_add(&extents, from, from + size, &found), 0);
		assert_int_equal(found, again);
	}
	extents_free(&extents);
}

static void scattered_ranges_give_up(void **state)
{
	struct extents extents = { 0 };
	uint64_t again;

	(void)state;
	for (uint64_t i = 0; i <= EXTENTS_MOST; i++)
		assert_int_equal(extents_add(&extents, i * 10, i * 10 + 1, &again), 0);
	assert_true(extents.gave_up);
	extents_free(&extents);
}

static void keys_are_numbered_in_order(void **state)
{
	struct numbering map = { 0 };
	uint32_t number;

	(void)state;
	assert_false(numbering_find(&map, 7, &number));
	for (uint64_t i = 0; i < 10000; i++) {
		assert_int_equal(numbering_add(&map, i * 0x100000001ull, &number), 1);
		assert_int_equal(number, i);
	}
	assert_int_equal(numbering_add(&map, 5 * 0x100000001ull, &number), 0);
	assert_int_equal(number, 5);
	assert_true(numbering_find(&map, 9999 * 0x100000001ull, &number));
	assert_int_equal(number, 9999);
	assert_false(numbering_find(&map, 3, &number));
	numbering_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_near_and_never_below),
		cmocka_unit_test(small_values_are_exact_and_bins_are_powers_of_two),
		cmocka_unit_test(merged_histograms_are_those_of_all_values),
		cmocka_unit_test(one_value_many_times),
		cmocka_unit_test(ranges_tell_what_was_there),
		cmocka_unit_test(scattered_ranges_give_up),
		cmocka_unit_test(keys_are_numbered_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
