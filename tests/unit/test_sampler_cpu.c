/* /proc/stat to mpstat's columns. With two files as arguments, prints the shares between them instead, for
 * a test that lets mpstat itself see the same files.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

#include "sampler/proc_cpu.h"
#include "sampler_help.h"

#define CPUS 4

static size_t shares_between(const char *before, const char *after, struct cpu_shares *rows)
{
	struct cpu_times first[CPUS], second[CPUS];

	cpu_parse(before, strlen(before), first, CPUS);
	cpu_parse(after, strlen(after), second, CPUS);
	return cpu_compare(first, second, CPUS, rows);
}

static void each_column_is_its_own_share(void **state)
{
	struct cpu_shares rows[CPUS + 1];

	(void)state;
	assert_int_equal(shares_between("cpu  9 9 9 9 9 9 9 9 9 9\n"
					"cpu0 100 100 100 100 100 100 100 100 100 100\n",
					"cpu  9 9 9 9 9 9 9 9 9 9\n"
					"cpu0 130 120 103 137 102 104 101 103 110 105\n"
					"intr 1 2 3\n",
					rows),
			 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rows[i].cpu, i - 1);
		assert_true(rows[i].usr == 20); /* guest is in user, and shown apart */
		assert_true(rows[i].nice == 15);
		assert_true(rows[i].sys == 3);
		assert_true(rows[i].idle == 37);
		assert_true(rows[i].iowait == 2);
		assert_true(rows[i].irq == 4);
		assert_true(rows[i].soft == 1);
		assert_true(rows[i].steal == 3);
		assert_true(rows[i].guest == 10);
		assert_true(rows[i].gnice == 5);
	}
}

static void ticks_are_each_cpus_own(void **state)
{
	struct cpu_shares rows[CPUS + 1];

	(void)state;
	/* CPU 1 counted half as many ticks: its share is of those, and the sum weighs them alike. */
	assert_int_equal(shares_between("cpu0 10 0 0 10\ncpu1 10 0 0 10\n",
					"cpu0 10 0 0 110\ncpu1 60 0 0 10\n", rows),
			 3);
	assert_true(rows[1].idle == 100 && rows[1].usr == 0);
	assert_true(rows[2].idle == 0 && rows[2].usr == 100);
	assert_true(rows[0].usr == 50 / 150.0 * 100);
}

static void a_cpu_without_ticks_is_idle_and_no_ticks_at_all_are_no_row(void **state)
{
	struct cpu_shares rows[CPUS + 1];

	(void)state;
	assert_int_equal(shares_between("cpu0 1 1 1 1\ncpu1 1 1 1 1\n",
					"cpu0 1 1 1 1\ncpu1 2 1 1 1\n", rows),
			 3);
	assert_true(rows[1].idle == 100);
	assert_true(rows[0].usr == 100);
	assert_int_equal(shares_between("cpu0 1 1 1 1\n", "cpu0 1 1 1 1\n", rows), 0);
}

static void taken_back_iowait_counts_nothing(void **state)
{
	struct cpu_shares rows[CPUS + 1];

	(void)state;
	assert_int_equal(shares_between("cpu0 100 0 0 100 50\n", "cpu0 120 0 0 180 48\n", rows), 2);
	assert_true(rows[1].iowait == 0);
	assert_true(rows[1].usr == 20 && rows[1].idle == 80);
	/* also on a CPU that was never idle */
	assert_int_equal(shares_between("cpu0 100 0 0 100 50\n", "cpu0 120 0 0 100 48\n", rows), 2);
	assert_true(rows[1].iowait == 0 && rows[1].usr == 100);
}

static void guest_time_ahead_of_user_time_is_no_negative_share(void **state)
{
	struct cpu_shares rows[CPUS + 1];

	(void)state;
	assert_int_equal(shares_between("cpu0 100 0 0 100 0 0 0 0 50 0\n",
					"cpu0 110 0 0 180 0 0 0 0 65 0\n", rows),
			 2);
	assert_true(rows[1].usr == 0);
	assert_true(rows[1].guest == 15 / 95.0 * 100);
	assert_true(rows[1].idle == 80 / 95.0 * 100);
}

static void a_counter_that_falls_has_no_share_and_spoils_no_other(void **state)
{
	struct cpu_shares rows[CPUS + 1];

	(void)state;
	assert_int_equal(shares_between("cpu0 100 0 0 100 0 0 0 500\n",
					"cpu0 130 0 0 170 0 0 0 400\n", rows),
			 2);
	assert_true(isnan(rows[1].steal) && isnan(rows[0].steal));
	assert_true(rows[1].usr == 30 && rows[1].idle == 70);
}

static void cpus_go_offline_and_come_back(void **state)
{
	const char *texts[] = {
		"cpu0 100 0 0 100\ncpu2 100 0 0 100\n", "cpu0 150 0 0 150\n", /* 2 goes */
		"cpu0 200 0 0 200\ncpu1 5 0 0 5\n", /* 1 is new: nothing to compare with */
		"cpu0 250 0 0 250\ncpu1 10 0 0 5\ncpu2 110 0 0 30\n", /* 2 comes; its idle began anew */
	};
	struct cpu_times times[2][CPUS];
	struct cpu_shares rows[CPUS + 1];

	(void)state;
	cpu_parse(texts[0], strlen(texts[0]), times[0], CPUS);
	cpu_parse(texts[1], strlen(texts[1]), times[1], CPUS);
	assert_int_equal(cpu_compare(times[0], times[1], CPUS, rows), 2);
	assert_int_equal(rows[1].cpu, 0);
	assert_true(rows[0].usr == 50);
	cpu_parse(texts[2], strlen(texts[2]), times[0], CPUS);
	assert_int_equal(cpu_compare(times[1], times[0], CPUS, rows), 2);
	assert_int_equal(rows[1].cpu, 0);
	cpu_parse(texts[3], strlen(texts[3]), times[1], CPUS);
	assert_int_equal(cpu_compare(times[0], times[1], CPUS, rows), 4);
	assert_int_equal(rows[3].cpu, 2);
	assert_true(rows[2].usr == 100);
	assert_true(rows[3].usr == 25 && rows[3].idle == 75);
	assert_true(rows[0].usr == 65 / 145.0 * 100);
}

static void lines_that_are_no_cpus_are_passed_over(void **state)
{
	static const char text[] = "cpu 1 2 3 4\n"
				   "cpux 1 2 3 4\n"
				   "cpu4 1 2 3 4\n" /* more than there may be */
				   "cpu99999999999999999999 1 2 3 4\n"
				   "cpu1 1 2 3\n"
				   "cpu2 1 2 3 -4\n"
				   "cpufreq 1 2 3 4\n"
				   "\n"
				   "cpu3 1 2 3 4 5 6 7 8 9 10 11 12\n"
				   "cpu0 1 2 3 4"; /* cut */
	struct cpu_times times[CPUS];

	(void)state;
	assert_int_equal(cpu_parse(text, strlen(text), times, CPUS), 1);
	assert_int_equal(times[3].guest_nice, 10);
	assert_int_equal(times[0].user + times[1].user + times[2].user, 0);
}

static void parse_any(const char *text, size_t size)
{
	struct cpu_times before[CPUS] = { { .user = 5, .idle = 5 } }, after[CPUS];
	struct cpu_shares rows[CPUS + 1];
	size_t count;

	assert_true(cpu_parse(text, size, after, CPUS) <= 8);
	count = cpu_compare(before, after, CPUS, rows);
	assert_true(count <= CPUS + 1);
}

static void hostile_text_is_survived(void **state)
{
	(void)state;
	hostile_variants("cpu  9 9 9\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu3 18446744073709551615 1 2 3\n",
			 parse_any);
}

static int print_shares(const char *before_path, const char *after_path)
{
	static struct cpu_times before[1024], after[1024];
	static struct cpu_shares rows[1025];
	size_t before_size, after_size, count;
	char *before_text = read_file(before_path, &before_size);
	char *after_text = read_file(after_path, &after_size);

	cpu_parse(before_text, before_size, before, 1024);
	cpu_parse(after_text, after_size, after, 1024);
	count = cpu_compare(before, after, 1024, rows);
	for (size_t i = 0; i < count; i++)
		printf("%d %.2f %.2f %.2f %.2f %.2f %.2f %.2f %.2f %.2f %.2f\n", rows[i].cpu,
		       rows[i].usr, rows[i].nice, rows[i].sys, rows[i].iowait, rows[i].irq,
		       rows[i].soft, rows[i].steal, rows[i].guest, rows[i].gnice, rows[i].idle);
	free(before_text);
	free(after_text);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_column_is_its_own_share),
		cmocka_unit_test(ticks_are_each_cpus_own),
		cmocka_unit_test(a_cpu_without_ticks_is_idle_and_no_ticks_at_all_are_no_row),
		cmocka_unit_test(taken_back_iowait_counts_nothing),
		cmocka_unit_test(guest_time_ahead_of_user_time_is_no_negative_share),
		cmocka_unit_test(a_counter_that_falls_has_no_share_and_spoils_no_other),
		cmocka_unit_test(cpus_go_offline_and_come_back),
		cmocka_unit_test(lines_that_are_no_cpus_are_passed_over),
		cmocka_unit_test(hostile_text_is_survived),
	};

	if (argc == 3)
		return print_shares(argv[1], argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
