/* Times, sizes and counts: what people write is what strata understands, to the nanosecond. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/units.h"

static void durations_are_exact(void **state)
{
	uint64_t ns = 0;

	(void)state;
	assert_int_equal(units_parse_duration("1.5", &ns), 0);
	assert_int_equal(ns, 1500000000);
	assert_int_equal(units_parse_duration("0.1s", &ns), 0);
	assert_int_equal(ns, 100000000);
	assert_int_equal(units_parse_duration("123456789.123456789", &ns), 0);
	assert_int_equal(ns, 123456789123456789);
	assert_int_equal(units_parse_duration("500ms", &ns), 0);
	assert_int_equal(ns, 500000000);
	assert_int_equal(units_parse_duration("2m", &ns), 0);
	assert_int_equal(ns, 120000000000);
	assert_int_equal(units_parse_duration("1h", &ns), 0);
	assert_int_equal(ns, 3600000000000);
	assert_int_equal(units_parse_duration("7ns", &ns), 0);
	assert_int_equal(ns, 7);
}

static void bad_durations_are_refused_and_leave_the_value(void **state)
{
	static const char *const bad[] = { "",
					   "s",
					   "-1",
					   "1x",
					   "1.s",
					   ".5",
					   "1e3",
					   "1s ",
					   "+1",
					   "99999999999999999999",
					   "20000000000s" };
	uint64_t ns = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_not_equal(units_parse_duration(bad[i], &ns), 0);
	assert_int_equal(ns, 42);
}

static void sizes_are_powers_of_two(void **state)
{
	uint64_t bytes = 0;

	(void)state;
	assert_int_equal(units_parse_size("512", &bytes), 0);
	assert_int_equal(bytes, 512);
	assert_int_equal(units_parse_size("64K", &bytes), 0);
	assert_int_equal(bytes, 65536);
	assert_int_equal(units_parse_size("8MiB", &bytes), 0);
	assert_int_equal(bytes, 8 << 20);
	assert_int_equal(units_parse_size("1.5G", &bytes), 0);
	assert_int_equal(bytes, 3ull << 29);
	assert_int_not_equal(units_parse_size("1KB", &bytes), 0); /* 1000 or 1024? */
	assert_int_not_equal(units_parse_size("17000000T", &bytes), 0);
	assert_int_equal(bytes, 3ull << 29);
}

static void counts_are_whole(void **state)
{
	uint64_t count = 0;

	(void)state;
	assert_int_equal(units_parse_count("18446744073709551615", &count), 0);
	assert_true(count == UINT64_MAX);
	assert_int_not_equal(units_parse_count("18446744073709551616", &count), 0);
	assert_int_not_equal(units_parse_count("1.0", &count), 0);
	assert_int_not_equal(units_parse_count("-1", &count), 0);
	assert_int_not_equal(units_parse_count("1 ", &count), 0);
	assert_true(count == UINT64_MAX);
}

static void utc_goes_there_and_back(void **state)
{
	uint64_t realtime = 0;
	char text[40];

	(void)state;
	assert_int_equal(units_parse_utc("2026-11-15T03:57:25.5Z", &realtime), 0);
	assert_int_equal(realtime, 1794715045500000000);
	assert_string_equal(units_format_utc(text, sizeof(text), realtime),
			    "2026-11-15T03:57:25.500000000Z");
	assert_int_equal(units_parse_utc("2028-02-29T00:00:00Z", &realtime), 0);
	assert_int_not_equal(units_parse_utc("2026-02-29T00:00:00Z", &realtime), 0);
	assert_int_not_equal(units_parse_utc("2026-11-15T24:00:00Z", &realtime), 0);
	assert_int_not_equal(units_parse_utc("2026-11-15T03:57:60Z", &realtime), 0);
	assert_int_not_equal(units_parse_utc("2026-11-15T03:57:25", &realtime), 0);
	assert_int_not_equal(units_parse_utc("2026-11-15", &realtime), 0);
}

static void assert_duration(uint64_t ns, const char *expected)
{
	char text[32];

	assert_string_equal(units_format_duration(text, sizeof(text), ns), expected);
}

static void durations_read_well(void **state)
{
	(void)state;
	assert_duration(0, "0 ns");
	assert_duration(789, "789 ns");
	assert_duration(1000, "1.00 us");
	assert_duration(45600000, "45.6 ms");
	assert_duration(1234567890, "1.23 s");
	assert_duration(999999, "1.00 ms"); /* not 1000 us */
	assert_duration(9996000, "10.0 ms");
	assert_duration(59400000000, "59.4 s");
	assert_duration(59600000000, "1 min 0 s");
	assert_duration(725000000000, "12 min 5 s");
	assert_duration(3599600000000, "1 h 0 min");
	assert_duration(90000 * NS_PER_SECOND, "25 h 0 min");
}

static void assert_bytes(uint64_t bytes, const char *expected)
{
	char text[32];

	assert_string_equal(units_format_bytes(text, sizeof(text), bytes), expected);
}

static void sizes_and_counts_read_well(void **state)
{
	char text[32];

	(void)state;
	assert_bytes(512, "512 B");
	assert_bytes(1024, "1.0 KiB");
	assert_bytes(1258291, "1.2 MiB");
	assert_bytes(123 << 20, "123 MiB");
	assert_bytes(312786, "305 KiB");	/* 305.455: not rounded to 305.5 and then to 306 */
	assert_bytes(1047800, "1023 KiB");	/* 1023.24 */
	assert_bytes((1 << 20) - 1, "1.0 MiB"); /* not 1024 KiB */
	assert_bytes(UINT64_MAX, "16.0 EiB");
	assert_string_equal(units_format_count(text, sizeof(text), 1234567), "1,234,567");
	assert_string_equal(units_format_count(text, sizeof(text), 999), "999");
	assert_string_equal(units_format_count(text, sizeof(text), UINT64_MAX),
			    "18,446,744,073,709,551,615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_exact),
		cmocka_unit_test(bad_durations_are_refused_and_leave_the_value),
		cmocka_unit_test(sizes_are_powers_of_two),
		cmocka_unit_test(counts_are_whole),
		cmocka_unit_test(utc_goes_there_and_back),
		cmocka_unit_test(durations_read_well),
		cmocka_unit_test(sizes_and_counts_read_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
