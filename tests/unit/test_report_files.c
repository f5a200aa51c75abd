/* What the report tells of files and devices, and the steps that it finds in marks and reads. */
#include "report_help.h"

#include <math.h>

static void add_reads(struct fixture *f)
{
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_process(f, 1100, FORK, 101, 101, 100, "python");
	add_file(f, 1, "/data/a", FILE_KIND_FILE);
	add_file(f, 2, "/data/b<script>", FILE_KIND_FILE);
	add_file(f, 3, "pipe:[7]", FILE_KIND_PIPE);
	add_read(f, 1200, 101, 1, 0, 4096, 16384); /* missed: 12288 of it ahead */
	add_read(f, 1210, 101, 1, 4096, 4096, 0);  /* sequential */
	add_read(f, 1220, 101, 1, 0, 8192, 0);	   /* random; all of it again */
	add_read(f, 1230, 101, 1, 50000, 100, 0);  /* random, small */
	add_read(f, 1240, 101, 1, 50100, 0, 0);	   /* empty */
	add_read(f, 1250, 100, 1, 4096, 4096,
		 0); /* again, by another process: nothing to compare */
	add_read(f, 1260, 100, 2, 0, 1000000, 1000000);
	add_read(f, 1270, 100, 3, -1, 4, -1);
	add_read(f, 1280, 100, 2, 0, -5, 0); /* EIO */
}

static void reads_are_told_by_file_directory_and_process(void **state)
{
	struct fixture *f = *state;
	const struct report *report;
	const struct files *files;

	add_run(f, "process,io");
	add_reads(f);
	report = help_report(f, NULL, NULL);
	files = &report->files;
	assert_int_equal(report->total.reads, 9);
	assert_int_equal(report->total.read_bytes, 1020584);
	assert_int_equal(report->total.read_ns, 9 * MS);
	assert_int_equal(files->regular.read.calls, 8);
	assert_int_equal(files->regular.read.bytes, 1020580);
	assert_int_equal(files->regular.read_files, 2);
	assert_int_equal(files->regular.small_reads, 1);
	assert_int_equal(files->regular.empty_reads, 1);
	assert_int_equal(files->regular.compared, 3);
	assert_int_equal(files->regular.sequential, 1);
	assert_int_equal(files->regular.again_bytes, 8192 + 4096);
	assert_int_equal(files->regular.again_files, 1);
	assert_int_equal(files->regular.missed_bytes, 4096 + 1000000);
	assert_int_equal(files->regular.ahead_bytes, 12288);
	assert_int_equal(files->regular.cached_bytes, 1020580 - 1004096);
	assert_int_equal(files->other.read.bytes, 4);
	assert_int_equal(files->file_count, 3);
	assert_int_equal(files->files[0].file, 2);
	assert_int_equal(files->files[0].read.calls, 2);
	assert_int_equal(files->files[1].latency.count, 6);
	assert_int_equal(files->files[1].size.most, 8192);
	assert_int_equal(files->dir_count, 1);
	assert_memory_equal(files->dirs[0].path.bytes, "/data", files->dirs[0].path.size);
	assert_int_equal(files->dirs[0].read.bytes, 1020580);
	assert_int_equal(files->process_count, 2);
	assert_int_equal(report->by_role[PROC_ROLE_WORKER].read.bytes, 16484);
	assert_int_equal(report->by_role[PROC_ROLE_MAIN].read.bytes, 1004100);
	assert_int_equal(files->op_count, 1);
	assert_int_equal(files->ops[0].calls, 9);
	assert_int_equal(files->ops[0].errors, 1);
	assert_int_equal(files->ops[0].blocked_ns, 9 * MS / 2);
	assert_false(files->has_fs || files->fs_known);
	assert_true(files->io_known);
	assert_true(files->regular.small_share == 1.0 / 8 && files->regular.empty_share == 1.0 / 8);
	assert_true(files->regular.sequential_share == 1.0 / 3);
	assert_true(fabs(files->regular.cached_share - 16484.0 / 1020580) < 1e-12);
	assert_true(files->top_dir == &files->dirs[0]);
	assert_int_equal(files->regular_count, 2);
	assert_true(isnan(files->failed_open_share));
}

static void opens_stats_and_devices_count(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,io,fs,block");
	add_reads(f);
	add_fs(f, 1100, SYSCALL_openat, 1, 3);
	add_fs(f, 1110, SYSCALL_openat, 0, -2);
	add_fs(f, 1120, SYSCALL_newfstatat, 0, 0);
	add_fs(f, 1130, SYSCALL_fsync, 1, 0);
	for (int i = 0; i < 2; i++) {
		SET(block, ts, (1200 + i) * MS);
		SET(block, dur, (3 + i) * MS);
		SET(block, queued, MS);
		SET(block, pid, 101);
		SET_TEXT(block, dev, "sda");
		SET(block, op, 0);
		SET(block, ahead, i);
		SET(block, bytes, 65536);
		SET(block, file, 1);
		END(block);
	}
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->files.opens, 2);
	assert_int_equal(report->files.failed_opens, 1);
	assert_true(report->files.failed_open_share == 0.5);
	assert_true(report->files.opens_a_read == 2.0 / 8);
	assert_int_equal(report->files.stats, 1);
	assert_int_equal(report->files.syncs, 1);
	assert_int_equal(report->files.metadata_ns, 8 * MS);
	assert_int_equal(report->total.opens, 2);
	assert_int_equal(report->devices.count, 1);
	assert_int_equal(report->devices.list[0].read_bytes, 131072);
	assert_int_equal(report->devices.list[0].ahead_bytes, 65536);
	assert_int_equal(report->devices.list[0].job_bytes, 131072);
	assert_int_equal(report->devices.list[0].read.sum, 9 * MS);
	assert_int_equal(report->files.files[1].device_ns, 7 * MS);
	assert_int_equal(report->files.files[1].device_read_bytes, 131072);
	assert_int_equal(report->files.files[1].opens, 1);
}

/* However a call is made: by its own number, or handed over in a queue. */
static void every_way_to_open_stat_close_and_sync_counts(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,fs");
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_file(f, 1, "/data/a", FILE_KIND_FILE);
	add_fs(f, 1100, SYSCALL_open, 1, 3);
	add_fs(f, 1110, SYSCALL_creat, 1, 3);
	add_fs(f, 1120, SYSCALL_io_uring_openat, 1, 3);
	add_fs(f, 1130, SYSCALL_io_uring_openat2, 0, -2);
	add_fs(f, 1140, SYSCALL_io_uring_statx, 0, 0);
	add_fs(f, 1150, SYSCALL_faccessat2, 0, -2);
	add_fs(f, 1160, SYSCALL_io_uring_close, 1, 0);
	add_fs(f, 1170, SYSCALL_aio_fdsync, 1, 0);
	add_fs(f, 1180, SYSCALL_getdents64, 1, 0);
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->files.opens, 4);
	assert_int_equal(report->files.failed_opens, 1);
	assert_int_equal(report->total.opens, 4);
	assert_int_equal(report->files.files[0].opens, 3);
	assert_int_equal(report->files.processes[0].opens, 4);
	assert_int_equal(report->files.stats, 2);
	assert_int_equal(report->files.failed_stats, 1);
	assert_int_equal(report->files.closes, 1);
	assert_int_equal(report->files.syncs, 1);
	assert_int_equal(report->files.metadata_calls, 9);
	assert_int_equal(report->files.op_count, 9);
}

static void steps_come_from_marks_or_are_guessed_from_handoffs(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,io");
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_process(f, 1100, FORK, 101, 101, 100, "python");
	add_file(f, 3, "pipe:[7]", FILE_KIND_PIPE);
	SET(io, ts, 1150 * MS);
	SET(io, pid, 101);
	SET(io, tid, 102);
	SET(io, dir, DIRECTION_W);
	SET(io, op, SYSCALL_write);
	SET(io, file, 3);
	SET(io, returned, 442);
	END(io);
	for (int i = 0; i < 8; i++) { /* a length, then the message; 50 ms apart, the last 400 */
		int64_t at = 1200 + i * 50 + (i == 7 ? 350 : 0);

		add_read(f, at, 100, 3, -1, 4, -1);
		add_read(f, at + 1, 100, 3, -1, 438, -1);
	}
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->steps.source, STEPS_HANDOFFS);
	assert_int_equal(report->steps.count, 7);
	assert_int_equal(report->steps.loops, 1);
	assert_int_equal(report->steps.durations.most, 400 * MS);
	assert_true(report->steps.confidence > 6.0 / 7 - 1e-9 && report->steps.confidence < 0.9);
}

static void marked_steps_are_certain(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,io");
	for (int i = 0; i < 3; i++)
		add_mark(f, 1100 + 100 * i, 80, "nvtx", "step", NULL);
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->steps.source, STEPS_NVTX);
	assert_int_equal(report->steps.count, 3);
	assert_true(report->steps.confidence == 1);
	assert_int_equal(report->steps.durations.sum, 240 * MS);
	assert_int_equal(report->phases.source, PHASES_NONE);
}

static void without_rhythm_there_are_no_steps(void **state)
{
	struct fixture *f = *state;

	add_run(f, "process,io");
	add_reads(f);
	assert_int_equal(help_report(f, NULL, NULL)->steps.source, STEPS_NONE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(reads_are_told_by_file_directory_and_process),
		TEST(opens_stats_and_devices_count),
		TEST(every_way_to_open_stat_close_and_sync_counts),
		TEST(steps_come_from_marks_or_are_guessed_from_handoffs),
		TEST(marked_steps_are_certain),
		TEST(without_rhythm_there_are_no_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
