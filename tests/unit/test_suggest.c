/* A misspelt name is answered with the names it may have meant. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/suggest.h"

static const char *const names[] = { "process", "sched", "io", "fs", "disk", "gpu", "gpu_op" };

static void assert_answer(const char *wrong, const char *expected)
{
	char out[256];

	assert_string_equal(suggest_names(out, sizeof(out), wrong, names, 7), expected);
}

static void the_nearest_comes_first(void **state)
{
	(void)state;
	assert_answer("proces", "did you mean 'process'?");
	assert_answer("oi", "did you mean 'io'?"); /* a swap is one edit */
	assert_answer("gpuop", "did you mean 'gpu_op' or 'gpu'?");
	assert_answer("proc", "did you mean 'process'?"); /* its beginning is near */
}

static void nothing_near_lists_all(void **state)
{
	(void)state;
	assert_answer("bandwidth", "one of: process, sched, io, fs, disk, gpu, gpu_op");
	assert_answer("", "one of: process, sched, io, fs, disk, gpu, gpu_op");
}

static void no_more_than_three(void **state)
{
	static const char *const alike[] = { "aaaa", "aaab", "aaac", "aaad" };
	char out[256];

	(void)state;
	assert_string_equal(suggest_names(out, sizeof(out), "aaad", alike, 4),
			    "did you mean 'aaad', 'aaaa' or 'aaab'?");
}

static void a_short_buffer_is_not_overrun(void **state)
{
	char out[16];

	(void)state;
	memset(out, '#', sizeof(out));
	suggest_names(out, 10, "bandwidth", names, 7);
	assert_string_equal(out, "one of: p");
	assert_int_equal(out[10], '#');
}

static void a_very_long_name_is_near_to_nothing(void **state)
{
	char wrong[300];

	(void)state;
	memset(wrong, 'i', sizeof(wrong) - 1);
	wrong[sizeof(wrong) - 1] = 0;
	assert_answer(wrong, "one of: process, sched, io, fs, disk, gpu, gpu_op");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_comes_first),
		cmocka_unit_test(nothing_near_lists_all),
		cmocka_unit_test(no_more_than_three),
		cmocka_unit_test(a_short_buffer_is_not_overrun),
		cmocka_unit_test(a_very_long_name_is_near_to_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
