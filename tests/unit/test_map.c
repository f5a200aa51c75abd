/* The map from numbers to numbers, against what was put in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"

static uint64_t key_of(uint64_t i)
{
	return i * 0x100000001ull - 3; /* some share their low bits, one is near the top */
}

static void test_many(void **state)
{
	struct map map = { 0 };
	bool fresh;

	(void)state;
	assert_null(map_find(&map, 7));
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t *value = map_add(&map, key_of(i), &fresh);

		assert_non_null(value);
		assert_true(fresh);
		assert_int_equal(*value, 0);
		*value = i + 1;
	}
	assert_int_equal(map.count, 10000);
	for (uint64_t i = 0; i < 10000; i++) {
		assert_int_equal(*map_find(&map, key_of(i)), i + 1);
		assert_int_equal(*map_add(&map, key_of(i), &fresh), i + 1);
		assert_false(fresh);
	}
	assert_null(map_find(&map, key_of(10000)));
	assert_int_equal(map.count, 10000);
	map_free(&map);
	assert_null(map_find(&map, key_of(1)));
}

/* 0 and 1 are keys like others, wherever the map grows. */
static void test_small_keys(void **state)
{
	struct map map = { 0 };
	uint64_t sum = 0;
	size_t at = 0, count = 0;

	(void)state;
	assert_null(map_next(&map, &at));
	*map_add(&map, 1, NULL) = 11;
	assert_null(map_find(&map, 0));
	*map_add(&map, 0, NULL) = 10;
	assert_int_equal(map.count, 2);
	assert_int_equal(map_reserve(&map, 1000), 0);
	for (uint64_t i = 2; i < 1000; i++)
		*map_add(&map, i, NULL) = 10 + i;
	assert_int_equal(*map_find(&map, 0), 10);
	assert_int_equal(*map_find(&map, 1), 11);
	for (uint64_t *value; (value = map_next(&map, &at)); count++)
		sum += *value;
	assert_int_equal(count, 1000);
	assert_int_equal(sum, 10 * 1000 + 999 * 1000 / 2);
	map_free(&map);
}

/* What is given stays where it is while no more keys come than room was made for. */
static void test_reserve(void **state)
{
	struct map map = { 0 };
	uint64_t *first;

	(void)state;
	assert_int_equal(map_reserve(&map, 100), 0);
	first = map_add(&map, 7, NULL);
	for (uint64_t i = 0; i < 99; i++)
		assert_non_null(map_add(&map, 1000 + i, NULL));
	assert_int_equal(map.count, 100);
	assert_ptr_equal(map_find(&map, 7), first);
	map_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_many),
					    cmocka_unit_test(test_small_keys),
					    cmocka_unit_test(test_reserve) };

	return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
