/* The picture of the run: the time of each lane, and the events that are kept. */
#include "report_help.h"

#include <math.h>

static double lane_sum(const struct timeline *timeline, size_t lane, enum timeline_kind kind)
{
	double sum = 0;

	for (size_t i = 0; i < TIMELINE_SLICES && timeline->lanes[lane].busy[kind]; i++)
		sum += timeline->lanes[lane].busy[kind][i];
	return sum;
}

static bool about(double found, double expected)
{
	return found > expected * 0.9999 - 1 && found < expected * 1.0001 + 1;
}

static void the_timeline_keeps_the_time_of_each_lane(void **state)
{
	struct fixture *f = *state;
	const struct timeline *timeline;

	f->timeline = true;
	add_run(f, "process,sched,io");
	add_schedule(f);
	add_file(f, 1, "/data/a", FILE_KIND_FILE);
	add_read(f, 1200, 101, 1, 0, 4096, 4096);
	add_read(f, 1600, 100, 1, 0, 1000, 0);
	add_file(f, 2, "pipe:[7]", FILE_KIND_PIPE);
	add_read(f, 1800, 100, 2, -1, 1000, 0); /* not what a page cache is for */
	timeline = help_report(f, NULL, NULL)->timeline;
	assert_int_equal(timeline->lane_count, 2);
	assert_int_equal(procs_get(f->report.context.procs, timeline->lanes[0].proc)->pid, 100);
	assert_true(about(lane_sum(timeline, 0, TIMELINE_cpu), 700.0 * MS));
	assert_true(about(lane_sum(timeline, 1, TIMELINE_cpu), 250.0 * MS));
	assert_true(about(lane_sum(timeline, 1, TIMELINE_read), 1.0 * MS));
	assert_true(about(lane_sum(timeline, 0, TIMELINE_write), 0));
	assert_int_equal(timeline->event_count, 8); /* five stays of the job, three reads */
	assert_int_equal(timeline->seen, 8);
	assert_int_equal(timeline->events[6].ts, 1600 * MS);
	assert_true(timeline->cached_share[409] == 0); /* 1200 ms is in slice 0.2 * 2048 */
	assert_true(timeline->cached_share[1228] == 1);
	assert_true(isnan(timeline->cached_share[1229]));
	assert_true(isnan(timeline->cached_share[1638]));
}

static void opens_are_told_from_other_metadata_calls(void **state)
{
	static const enum syscall calls[] = { SYSCALL_openat, SYSCALL_creat,
					      SYSCALL_io_uring_openat };
	struct fixture *f = *state;
	const struct timeline *timeline;

	f->timeline = true;
	add_run(f, "process,fs");
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	for (int i = 0; i < 3; i++)
		add_fs(f, 1100 + 100 * i, calls[i], 0, 3);
	add_fs(f, 1500, SYSCALL_newfstatat, 0, 0);
	timeline = help_report(f, NULL, NULL)->timeline;
	assert_true(about(lane_sum(timeline, 0, TIMELINE_open), 6.0 * MS));
	assert_true(about(lane_sum(timeline, 0, TIMELINE_metadata), 2.0 * MS));
	assert_int_equal(timeline->events[2].kind, TIMELINE_open);
}

/* Of more events than are kept, the longest stay, and of the others the largest. */
static void a_long_timeline_keeps_the_longest_and_largest(void **state)
{
	struct fixture *f = *state;
	const struct timeline *timeline;
	bool longest = false, largest = false;

	f->timeline = true;
	add_run(f, "process,io");
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_file(f, 1, "/data/a", FILE_KIND_FILE);
	for (int i = 0; i < 60000; i++) /* a chunk holds 65,536 rows */
		add_read(f, 1000 + i % 900, 100, 1, 0, i == 77 ? 1000000 : 100, 0);
	help_write_more(f);
	for (int i = 0; i < 60000; i++)
		add_read(f, 1000 + i % 900, 100, 1, 0, 100, 0);
	help_write_more(f);
	for (int i = 0; i < 60000; i++) {
		/* Not each the same: a file of so few bytes a row is no recording. */
		SET(io, ts, 1500 * MS + (int64_t)((uint64_t)i * i * 2654435761u >> 7) % 99991);
		SET(io, dur, i == 99 ? 400 * MS : 2 * MS);
		SET(io, pid, 100);
		SET(io, tid, 100);
		SET(io, dir, DIRECTION_R);
		SET(io, file, 1);
		SET(io, returned, 100);
		END(io);
	}
	timeline = help_report(f, NULL, NULL)->timeline;
	assert_int_equal(timeline->seen, 180000);
	assert_true(timeline->event_count <= TIMELINE_EVENTS + TIMELINE_LARGEST);
	for (size_t i = 0; i < timeline->event_count; i++) {
		longest |= timeline->events[i].dur == 400 * MS;
		largest |= timeline->events[i].bytes == 1000000;
	}
	assert_true(longest);
	assert_true(largest);
}

static void curves_beyond_the_most_are_counted(void **state)
{
	struct fixture *f = *state;
	const struct timeline *timeline;
	char dev[16];

	f->timeline = true;
	add_run(f, "disk");
	for (int i = 0; i < 2 * 400; i++) {
		snprintf(dev, sizeof(dev), "sd%d", i / 2);
		SET(disk, ts, (1000 + i % 2 * 100) * MS);
		SET(disk, dur, 100 * MS);
		SET_TEXT(disk, dev, dev);
		SET(disk, read_bytes, 4096);
		SET(disk, write_bytes, i < 400 ? 4096 : 0);
		END(disk);
	}
	timeline = help_report(f, NULL, NULL)->timeline;
	assert_int_equal(timeline->series_count, TIMELINE_MOST_SERIES);
	assert_int_equal(timeline->series_left_out, 400 + 200 - TIMELINE_MOST_SERIES);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_timeline_keeps_the_time_of_each_lane),
		TEST(opens_are_told_from_other_metadata_calls),
		TEST(a_long_timeline_keeps_the_longest_and_largest),
		TEST(curves_beyond_the_most_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
