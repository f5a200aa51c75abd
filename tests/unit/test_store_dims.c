/* Files under their ids, threads under their names, facts, and the way to UTC. */
#include "store_help.h"

#include "store/dims.h"

struct world {
	struct buf chunks;
	struct builder *process, *file, *run, *clock;
	struct reader *reader;
	struct dims *dims;
};

static struct world world_begin(void)
{
	return (struct world){ .process = help_builder(TABLE_process),
			       .file = help_builder(TABLE_file),
			       .run = help_builder(TABLE_run),
			       .clock = help_builder(TABLE_clock) };
}

static void world_flush(struct world *world)
{
	help_encode(world->process, &world->chunks);
	help_encode(world->file, &world->chunks);
	help_encode(world->run, &world->chunks);
	help_encode(world->clock, &world->chunks);
}

static void world_open(struct world *world)
{
	struct error e;

	world_flush(world);
	help_trace(&world->chunks, true);
	world->reader = help_open();
	assert_int_equal(dims_open(&world->dims, world->reader, &e), 0);
}

static void world_end(struct world *world)
{
	dims_close(world->dims);
	reader_close(world->reader);
	unlink(help_path);
	buf_free(&world->chunks);
	builder_close(world->process);
	builder_close(world->file);
	builder_close(world->run);
	builder_close(world->clock);
}

static void add_event(struct world *world, int64_t ts, enum event event, int64_t tid,
		      const char *comm)
{
	builder_set(world->process, column_process_ts, ts);
	builder_set(world->process, column_process_event, event);
	builder_set(world->process, column_process_tid, tid);
	builder_set(world->process, column_process_pid, 5);
	if (comm)
		builder_set_text(world->process, column_process_comm, comm, strlen(comm));
	builder_end_row(world->process);
}

static void add_file(struct world *world, int64_t file, const char *path, int64_t inode)
{
	builder_set(world->file, column_file_file, file);
	builder_set_text(world->file, column_file_path, path, strlen(path));
	builder_set_text(world->file, column_file_dev, "8:1", 3);
	builder_set(world->file, column_file_inode, inode);
	builder_set(world->file, column_file_generation, 0);
	builder_set_text(world->file, column_file_fs, "ext4", 4);
	builder_set(world->file, column_file_kind, FILE_KIND_FILE);
	builder_end_row(world->file);
}

static void assert_comm(const struct world *world, int64_t tid, uint64_t ts, const char *expected)
{
	size_t size;
	const char *comm = dims_comm(world->dims, tid, ts, &size);

	if (!expected) {
		assert_null(comm);
		return;
	}
	assert_non_null(comm);
	assert_int_equal(size, strlen(expected));
	assert_memory_equal(comm, expected, size);
}

static void threads_have_their_names_in_time(void **state)
{
	struct world world = world_begin();
	const struct threads *threads;

	(void)state;
	add_event(&world, 5000, EVENT_FORK, 5, "reused"); /* rings are drained in any order */
	add_event(&world, 1000, EVENT_FORK, 5, "bash");
	add_event(&world, 1500, EVENT_EXISTS, 6, "other");
	world_flush(&world);
	add_event(&world, 1600, EVENT_RENAME, 6, "other"); /* no news */
	add_event(&world, 2000, EVENT_EXEC, 5, "python");
	add_event(&world, 3000, EVENT_EXIT, 5, NULL);
	world_open(&world);
	threads = dims_threads(world.dims);
	assert_int_equal(threads_count(threads), 5); /* the idle threads come first */
	assert_int_equal(threads_row(threads, 1)->last_ts, 2000);
	assert_int_equal(threads_row(threads, 2)->first_ts, 2000);
	assert_int_equal(threads_row(threads, 2)->last_ts, 3000);
	assert_int_equal(threads_row(threads, 3)->last_ts, CELL_NULL);
	assert_memory_equal(threads_row(threads, 2)->comm, "python", 6);
	assert_comm(&world, 5, 998, "bash"); /* a little before it was noticed */
	assert_comm(&world, 5, 1000, "bash");
	assert_comm(&world, 5, 1999, "bash");
	assert_comm(&world, 5, 2000, "python");
	assert_comm(&world, 5, 3000, "python");
	assert_comm(&world, 5, 3001, "python"); /* on its way out */
	assert_comm(&world, 5, 4999, "python");
	assert_comm(&world, 5, 5000, "reused");
	assert_comm(&world, 5, 99999, "reused");
	assert_comm(&world, 6, 1500, "other");
	assert_comm(&world, 7, 1500, NULL);
	world_end(&world);
}

static void after_its_end_a_thread_keeps_its_name(void **state)
{
	struct world world = world_begin();

	(void)state;
	add_event(&world, 1000, EVENT_FORK, 5, "bash");
	add_event(&world, 2000, EVENT_EXIT, 5, NULL);
	world_open(&world);
	assert_comm(&world, 5, 2000, "bash");
	assert_comm(&world, 5, 2001, "bash");
	world_end(&world);
}

static void exec_moves_a_thread_to_the_leaders_id(void **state)
{
	struct world world = world_begin();

	(void)state;
	add_event(&world, 1000, EVENT_FORK, 5, "leader");
	add_event(&world, 1100, EVENT_FORK, 9, "worker");
	add_event(&world, 1900, EVENT_EXIT, 5, "leader");
	builder_set(world.process, column_process_old_tid, 9);
	add_event(&world, 2000, EVENT_EXEC, 5, "ls");
	world_open(&world);
	assert_comm(&world, 9, 1500, "worker");
	assert_comm(&world, 5, 1900, "leader");
	assert_comm(&world, 5, 2000, "ls");
	world_end(&world);
}

static void the_recorder_and_idle_have_names(void **state)
{
	struct world world = world_begin();

	(void)state;
	builder_set_text(world.run, column_run_key, "recorder_tids", 13);
	builder_set_text(world.run, column_run_value, "70,72", 5);
	builder_end_row(world.run);
	world_open(&world);
	assert_comm(&world, 0, 5, "swapper");
	assert_comm(&world, 70, 5, "strata");
	assert_comm(&world, 72, 5, "strata");
	assert_comm(&world, 71, 5, NULL);
	world_end(&world);
}

static void a_thread_may_be_known_by_its_exit_alone(void **state)
{
	struct world world = world_begin();

	(void)state;
	add_event(&world, 2000, EVENT_EXIT, 5, "short");
	add_event(&world, 2000, EVENT_EXIT, 6, NULL);
	world_open(&world);
	assert_comm(&world, 5, 1500, "short");
	assert_comm(&world, 5, 2500, "short");
	assert_comm(&world, 6, 1500, NULL);
	world_end(&world);
}

static void many_threads_are_all_found(void **state)
{
	struct world world = world_begin();

	(void)state;
	for (int64_t tid = 1; tid <= 5000; tid++)
		add_event(&world, 1000 + tid, EVENT_FORK, tid * 7, tid % 2 ? "odd" : "even");
	world_open(&world);
	assert_int_equal(threads_count(dims_threads(world.dims)), 5001);
	for (int64_t tid = 1; tid <= 5000; tid++)
		assert_comm(&world, tid * 7, 9000, tid % 2 ? "odd" : "even");
	world_end(&world);
}

static void one_file_has_one_id(void **state)
{
	struct world world = world_begin();
	size_t size;

	(void)state;
	add_file(&world, 30, "/a", 11);
	add_file(&world, 10, "/b", 12);
	world_flush(&world);
	add_file(&world, 20, "/a", 11);	 /* met again */
	add_file(&world, 21, "/a2", 11); /* the same inode under another name is another file */
	add_file(&world, 40, "/x", CELL_NULL);
	add_file(&world, 41, "/x", CELL_NULL); /* nothing tells that these are one */
	world_open(&world);
	assert_int_equal(dims_file(world.dims, 30), 20);
	assert_int_equal(dims_file(world.dims, 20), 20);
	assert_int_equal(dims_file(world.dims, 21), 21);
	assert_int_equal(dims_file(world.dims, 41), 41);
	assert_int_equal(dims_file(world.dims, 99), 99);
	assert_int_equal(dims_file(world.dims, CELL_NULL), CELL_NULL);
	assert_memory_equal(dims_path(world.dims, 30, &size), "/a", 2);
	assert_int_equal(size, 2);
	assert_memory_equal(dims_path(world.dims, 21, &size), "/a2", 3);
	assert_null(dims_path(world.dims, 99, &size));
	assert_int_equal(dims_file_count(world.dims), 5);
	assert_int_equal(dims_file_row(world.dims, 0)->file, 10);
	assert_int_equal(dims_file_row(world.dims, 1)->file, 20);
	assert_memory_equal(dims_file_row(world.dims, 1)->kind.bytes, "file", 4);
	assert_memory_equal(dims_file_row(world.dims, 1)->dev.bytes, "8:1", 3);
	world_end(&world);
}

static void the_last_fact_holds(void **state)
{
	struct world world = world_begin();

	(void)state;
	for (int i = 0; i < 2; i++) {
		builder_set_text(world.run, column_run_key, "host", 4);
		builder_set_text(world.run, column_run_value, i ? "n2" : "n1", 2);
		builder_end_row(world.run);
		world_flush(&world);
	}
	world_open(&world);
	assert_string_equal(dims_run(world.dims, "host"), "n2");
	assert_null(dims_run(world.dims, "hos"));
	world_end(&world);
}

static void utc_follows_the_readings(void **state)
{
	struct world world = world_begin();
	uint64_t realtime;

	(void)state;
	/* The clock runs 1 % fast, then is set back by a second. */
	static const int64_t readings[][2] = { { 1000000, 50000000000 },
					       { 2000000, 50001010000 },
					       { 3000000, 49002020000 } };
	for (int i = 0; i < 3; i++) {
		builder_set(world.clock, column_clock_ts, readings[i][0]);
		builder_set(world.clock, column_clock_realtime, readings[i][1]);
		builder_end_row(world.clock);
	}
	world_open(&world);
	assert_int_equal(dims_utc(world.dims, 1500000, &realtime), 0);
	assert_int_equal(realtime, 50000505000);
	assert_int_equal(dims_utc(world.dims, 2500000, &realtime), 0);
	assert_int_equal(realtime, 50001510000); /* not yet set, as far as anybody knows */
	assert_int_equal(dims_utc(world.dims, 2999999, &realtime), 0);
	assert_int_equal(realtime, 50002009999);
	assert_int_equal(dims_utc(world.dims, 999000, &realtime), 0);
	assert_int_equal(realtime, 49999999000);
	assert_int_equal(dims_utc(world.dims, 3000000, &realtime), 0);
	assert_int_equal(realtime, 49002020000);
	assert_int_equal(dims_utc(world.dims, 3000500, &realtime), 0);
	assert_int_equal(realtime, 49002020500);
	world_end(&world);
}

static void without_a_reading_there_is_no_utc(void **state)
{
	struct world world = world_begin();
	uint64_t realtime;

	(void)state;
	add_event(&world, 1, EVENT_EXISTS, 1, "init");
	world_open(&world);
	assert_int_equal(dims_utc(world.dims, 5, &realtime), -ENODATA);
	world_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_have_their_names_in_time),
		cmocka_unit_test(after_its_end_a_thread_keeps_its_name),
		cmocka_unit_test(exec_moves_a_thread_to_the_leaders_id),
		cmocka_unit_test(the_recorder_and_idle_have_names),
		cmocka_unit_test(a_thread_may_be_known_by_its_exit_alone),
		cmocka_unit_test(many_threads_are_all_found),
		cmocka_unit_test(one_file_has_one_id),
		cmocka_unit_test(the_last_fact_holds),
		cmocka_unit_test(utc_follows_the_readings),
		cmocka_unit_test(without_a_reading_there_is_no_utc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
