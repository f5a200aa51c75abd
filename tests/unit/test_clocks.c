/* From boot time to UTC and back, over drift and steps of the wall clock. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/clocks.h"

#define S 1000000000ull

static struct clocks given(const struct clock_reading *readings, size_t count)
{
	struct clocks clocks = { 0 };

	assert_int_equal(buf_append(&clocks.readings, readings, count * sizeof(*readings)), 0);
	return clocks;
}

static uint64_t utc(const struct clocks *clocks, uint64_t ts)
{
	uint64_t realtime;

	assert_int_equal(clocks_utc(clocks, ts, &realtime), 0);
	return realtime;
}

static uint64_t boot(const struct clocks *clocks, uint64_t realtime)
{
	uint64_t ts;

	assert_int_equal(clocks_boot(clocks, realtime, &ts), 0);
	return ts;
}

/* A recorder that is told of the step writes what the clock would have shown, and what it shows. */
static void a_step_forward_is_one_nanosecond_long(void **state)
{
	static const struct clock_reading readings[] = { { 10 * S, 1000 * S },
							 { 12 * S - 1, 1002 * S - 1 },
							 { 12 * S, 1005 * S },
							 { 13 * S, 1006 * S } };
	struct clocks clocks = given(readings, 4);

	(void)state;
	assert_int_equal(utc(&clocks, 11 * S), 1001 * S);
	assert_int_equal(utc(&clocks, 12 * S - 2), 1002 * S - 2);
	assert_int_equal(utc(&clocks, 12 * S), 1005 * S);
	assert_int_equal(utc(&clocks, 12 * S + 5), 1005 * S + 5);
	assert_int_equal(boot(&clocks, 1001 * S), 11 * S);
	assert_int_equal(boot(&clocks, 1004 * S), 12 * S); /* never shown: the first to be more */
	assert_int_equal(boot(&clocks, 1006 * S), 13 * S);
	buf_free(&clocks.readings);
}

static void after_a_step_back_times_come_twice(void **state)
{
	static const struct clock_reading readings[] = { { 10 * S, 1000 * S },
							 { 12 * S - 1, 1002 * S - 1 },
							 { 12 * S, 1000 * S },
							 { 20 * S, 1008 * S } };
	struct clocks clocks = given(readings, 4);

	(void)state;
	assert_int_equal(utc(&clocks, 12 * S - 1), 1002 * S - 1);
	assert_int_equal(utc(&clocks, 12 * S + 1), 1000 * S + 1);
	assert_int_equal(boot(&clocks, 1001 * S), 11 * S); /* the first time */
	assert_int_equal(boot(&clocks, 1003 * S), 15 * S);
	assert_int_equal(boot(&clocks, 1009 * S), 21 * S);
	buf_free(&clocks.readings);
}

/* Without the pair the first offset holds until the reading that shows the step. */
static void a_step_between_two_readings_bends_nothing(void **state)
{
	static const struct clock_reading readings[] = { { 10 * S, 1000 * S },
							 { 11 * S, 998 * S },
							 { 12 * S, 1009 * S } };
	struct clocks clocks = given(readings, 3);

	(void)state;
	assert_int_equal(utc(&clocks, 10 * S + S / 2), 1000 * S + S / 2);
	assert_int_equal(utc(&clocks, 11 * S - 1), 1001 * S - 1);
	assert_int_equal(utc(&clocks, 11 * S), 998 * S);
	assert_int_equal(utc(&clocks, 12 * S - 1), 999 * S - 1);
	assert_int_equal(boot(&clocks, 1000 * S + S / 4), 10 * S + S / 4);
	buf_free(&clocks.readings);
}

static void a_slewed_clock_runs_on_a_line(void **state)
{
	static const struct clock_reading readings[] = { { 10 * S, 1000 * S },
							 { 20 * S, 1011 * S } };
	struct clocks clocks = given(readings, 2);

	(void)state;
	assert_false(clocks_step(&readings[0], &readings[1]));
	assert_int_equal(utc(&clocks, 15 * S), 1005 * S + S / 2);
	assert_int_equal(boot(&clocks, 1005 * S + S / 2), 15 * S);
	buf_free(&clocks.readings);
}

static void without_a_reading_nothing_is_known(void **state)
{
	struct clocks clocks = { 0 };
	uint64_t out;

	(void)state;
	assert_int_equal(clocks_utc(&clocks, 1, &out), -ENODATA);
	assert_int_equal(clocks_boot(&clocks, 1, &out), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_forward_is_one_nanosecond_long),
		cmocka_unit_test(after_a_step_back_times_come_twice),
		cmocka_unit_test(a_step_between_two_readings_bends_nothing),
		cmocka_unit_test(a_slewed_clock_runs_on_a_line),
		cmocka_unit_test(without_a_reading_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
