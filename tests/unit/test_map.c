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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_many) };

	return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
