/* base/strings.h: numbers, bytes of any value, growth, emptying. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/strings.h"

static void numbers_are_dense_and_stable(void **state)
{
	struct strings set = { 0 };
	uint32_t number;

	(void)state;
	assert_int_equal(strings_add(&set, "POSIX", 5, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(strings_add(&set, "open", 4, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(strings_add(&set, "POSIX", 5, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(set.count, 2);
	strings_free(&set);
}

static void any_byte_counts(void **state)
{
	static const char with_nul[] = "a\0b", with_other[] = "a\0c";
	struct strings set = { 0 };
	uint32_t numbers[4];
	size_t size;

	(void)state;
	assert_int_equal(strings_add(&set, with_nul, 3, &numbers[0]), 0);
	assert_int_equal(strings_add(&set, with_other, 3, &numbers[1]), 0);
	assert_int_equal(strings_add(&set, "a", 1, &numbers[2]), 0);
	assert_int_equal(strings_add(&set, "", 0, &numbers[3]), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(numbers[i], i);
	assert_memory_equal(strings_get(&set, 1, &size), with_other, 3);
	assert_int_equal(size, 3);
	strings_get(&set, 3, &size);
	assert_int_equal(size, 0);
	strings_free(&set);
}

static void many_survive_growth_and_clear_empties(void **state)
{
	struct strings set = { 0 };
	char text[32];
	uint32_t number;
	size_t size;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 10000; i++) {
			int length = snprintf(text, sizeof(text), "/data/%u", i * 7919);

			assert_int_equal(strings_add(&set, text, (size_t)length, &number), 0);
			assert_int_equal(number, i);
		}
		for (uint32_t i = 0; i < 10000; i++) {
			int length = snprintf(text, sizeof(text), "/data/%u", i * 7919);

			assert_memory_equal(strings_get(&set, i, &size), text, (size_t)length);
			assert_int_equal(size, length);
		}
		strings_clear(&set);
		assert_int_equal(set.count, 0);
	}
	strings_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_dense_and_stable),
		cmocka_unit_test(any_byte_counts),
		cmocka_unit_test(many_survive_growth_and_clear_empties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
