/* /proc/diskstats to iostat's columns. With two files and the hundredths of a second between them as
 * arguments, prints what each device did instead, for a test that lets iostat itself see the same files.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

#include "sampler/proc_disk.h"
#include "sampler_help.h"

#define SECOND 1000000000u
#define MOST   64

static struct disk_counters parse_one(const char *text)
{
	struct disk_counters disk;

	assert_int_equal(disk_parse(text, strlen(text), &disk, 1), 1);
	return disk;
}

static struct disk_usage usage_between(const char *before, const char *after, uint64_t ns)
{
	struct disk_counters first = parse_one(before), second = parse_one(after);

	return disk_compare(&first, &second, ns);
}

static void each_column_is_where_it_belongs(void **state)
{
	struct disk_usage usage = usage_between(
		" 254 0 vda 100 7 1000 50 200 7 3000 60 0 500 700 10 7 9 30 40 7\n",
		" 254 0 vda 110 8 1008 95 230 9 3100 90 5 1000 3700 20 8 99 55 41 8\n", 2 * SECOND);

	(void)state;
	assert_int_equal(usage.reads, 10);
	assert_int_equal(usage.writes, 30);
	assert_int_equal(usage.read_bytes, 8 * 512);
	assert_int_equal(usage.write_bytes, 100 * 512);
	assert_true(usage.util == 25);
	assert_true(usage.queue == 1.5);
	assert_true(usage.await == 2); /* (45 + 30 + 25) ms for 10 + 30 + 10 requests */
}

static void older_kernels_tell_less(void **state)
{
	struct disk_usage usage = usage_between("8 0 sda 1 0 8 1 1 0 8 1 0 1 1\n",
						"8 0 sda 2 0 16 5 2 0 16 5 0 501 9\n", SECOND);

	(void)state;
	assert_true(usage.util == 50);
	assert_true(usage.await == 4);
}

static void without_a_request_there_is_no_time_of_one(void **state)
{
	/* One is outstanding: the device is busy, but nothing has been completed. */
	struct disk_usage usage = usage_between("8 0 sda 1 0 8 1 1 0 8 1 0 1 1\n",
						"8 0 sda 1 0 8 1 1 0 8 1 1 1001 1001\n", SECOND);

	(void)state;
	assert_true(usage.util == 100);
	assert_true(usage.queue == 1);
	assert_true(isnan(usage.await));
}

static void times_wrap_at_32_bits(void **state)
{
	struct disk_usage usage =
		usage_between("8 0 sda 1 0 8 4294967290 1 0 8 4294967295 0 4294967196 4294967295\n",
			      "8 0 sda 2 0 8 4 2 0 8 9 0 400 499\n", SECOND);

	(void)state;
	assert_true(usage.util == 50);
	assert_true(usage.queue == 0.5);
	assert_true(usage.await == 10);
}

static void a_device_that_is_new_or_replaced_counts_from_zero(void **state)
{
	struct disk_counters disk = parse_one("7 0 loop0 10 0 80 20 0 0 0 0 0 100 20\n");
	struct disk_usage usage = disk_compare(NULL, &disk, SECOND);

	(void)state;
	assert_int_equal(usage.reads, 10);
	assert_true(usage.util == 10);
	usage = usage_between("7 0 loop0 500 0 4000 9 9 0 8 1 0 5000 9\n",
			      "7 0 loop0 10 0 80 20 0 0 0 0 0 100 20\n", SECOND);
	assert_int_equal(usage.reads, 10);
	assert_int_equal(usage.writes, 0);
	assert_int_equal(usage.read_bytes, 80 * 512);
	assert_true(usage.util == 10);
	assert_true(usage.await == 2);
}

static void unused_devices_are_told_apart(void **state)
{
	struct disk_counters disk = parse_one("7 0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");

	(void)state;
	assert_false(disk_used(&disk));
	disk = parse_one("7 0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0\n");
	assert_true(disk_used(&disk));
}

static void lines_that_are_no_devices_are_passed_over(void **state)
{
	static const char text[] =
		"8 0 sda 1 2 3 4 5 6 7 8 9 10\n" /* a column too few */
		"8 0\n"
		"\n"
		"x 0 sdb 1 2 3 4 5 6 7 8 9 10 11\n"
		"8 1 a-name-of-more-than-thirty-one-bytes 1 2 3 4 5 6 7 8 9 10 11\n"
		"8 2 sdc 1 2 3 4 5 6 7 8 9 10 -11\n"
		"8 3 sdd 18446744073709551615 2 3 4 5 6 7 8 9 10 11 99999999999999999999\n"
		"8 4 cciss/c0d0 1 2 3 4 5 6 7 8 9 10 11\n"
		"8 5 sde 1 2 3 4 5 6 7 8 9 10 11"; /* cut */
	struct disk_counters disks[MOST];

	(void)state;
	assert_int_equal(disk_parse(text, strlen(text), disks, MOST), 2);
	assert_string_equal(disks[0].name, "sdd");
	assert_true(disks[0].reads == UINT64_MAX);
	assert_string_equal(disks[1].name, "cciss/c0d0");
	assert_int_equal(disk_parse(text, strlen(text), disks, 1), 1);
}

static void parse_any(const char *text, size_t size)
{
	struct disk_counters disks[MOST];
	size_t count = disk_parse(text, size, disks, MOST);

	for (size_t i = 0; i < count; i++) {
		assert_true(strlen(disks[i].name) < DISK_NAME_SIZE);
		disk_compare(&disks[0], &disks[i], 0);
	}
}

static void hostile_text_is_survived(void **state)
{
	(void)state;
	hostile_variants(" 254 0 vda 100 7 1000 50 200 7 3000 60 0 500 700 10 7 9 30 40 7\n"
			 "7 0 loop0 18446744073709551615 0 4294967296 9 9 0 8 1 0 5000 9\n",
			 parse_any);
}

static const struct disk_counters *find(const struct disk_counters *disks, size_t count,
					const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(disks[i].name, name))
			return &disks[i];
	return NULL;
}

static int print_usage(const char *before_path, const char *after_path, const char *hundredths)
{
	static struct disk_counters before[1024], after[1024];
	size_t before_size, after_size, before_count, after_count;
	char *before_text = read_file(before_path, &before_size);
	char *after_text = read_file(after_path, &after_size);
	uint64_t ns = strtoull(hundredths, NULL, 10) * (SECOND / 100);

	before_count = disk_parse(before_text, before_size, before, 1024);
	after_count = disk_parse(after_text, after_size, after, 1024);
	for (size_t i = 0; i < after_count; i++) {
		struct disk_usage usage =
			disk_compare(find(before, before_count, after[i].name), &after[i], ns);

		if (disk_used(&after[i]))
			printf("%s %llu %llu %llu %llu %.2f %.2f %.2f\n", after[i].name,
			       (unsigned long long)usage.reads, (unsigned long long)usage.writes,
			       (unsigned long long)usage.read_bytes,
			       (unsigned long long)usage.write_bytes, usage.util, usage.queue,
			       isnan(usage.await) ? 0 : usage.await);
	}
	free(before_text);
	free(after_text);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_column_is_where_it_belongs),
		cmocka_unit_test(older_kernels_tell_less),
		cmocka_unit_test(without_a_request_there_is_no_time_of_one),
		cmocka_unit_test(times_wrap_at_32_bits),
		cmocka_unit_test(a_device_that_is_new_or_replaced_counts_from_zero),
		cmocka_unit_test(unused_devices_are_told_apart),
		cmocka_unit_test(lines_that_are_no_devices_are_passed_over),
		cmocka_unit_test(hostile_text_is_survived),
	};

	if (argc == 4)
		return print_usage(argv[1], argv[2], argv[3]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
