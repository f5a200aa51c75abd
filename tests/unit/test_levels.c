/* What ran inside what: bytes and time at each level, on a recording made by hand. */
#include "report_help.h"

static void add_call(struct fixture *f, int64_t ms, int64_t dur, const char *func,
		     const char *module, int64_t bytes)
{
	SET(call, ts, ms * MS);
	if (dur >= 0)
		SET(call, dur, dur * MS);
	SET(call, pid, 100);
	SET(call, tid, 100);
	SET_TEXT(call, func, func);
	SET_TEXT(call, module, module);
	if (bytes >= 0)
		SET(call, bytes, bytes);
	END(call);
}

static void add_io(struct fixture *f, int64_t ms, int64_t dur, int op, int64_t returned,
		   int64_t missed, int64_t blocked)
{
	SET(io, ts, ms * MS);
	SET(io, dur, dur * MS);
	SET(io, pid, 100);
	SET(io, tid, 100);
	SET(io, op, op);
	SET(io, dir, DIRECTION_R);
	SET(io, returned, returned);
	SET(io, missed, missed);
	if (blocked >= 0)
		SET(io, blocked, blocked * MS);
	END(io);
}

static void add_request(struct fixture *f, int64_t ms, int64_t dur, int op, bool sync,
			int64_t bytes)
{
	SET(block, ts, ms * MS);
	SET(block, dur, (dur - 1) * MS);
	SET(block, queued, MS);
	SET(block, pid, 100);
	SET(block, tid, 100);
	SET_TEXT(block, dev, "sda");
	SET(block, op, op);
	SET(block, sync, sync);
	SET(block, bytes, bytes);
	END(block);
}

/* A node by the names from the outermost operation on, separated by slashes. */
static const struct level_node *at(const struct levels *levels, const char *path)
{
	uint32_t parent = LEVELS_NO_PARENT;
	const struct level_node *found = NULL;

	while (*path) {
		size_t size = strcspn(path, "/");

		found = NULL;
		for (uint32_t i = 0; i < levels->count && !found; i++)
			if (levels->nodes[i].parent == parent &&
			    levels->nodes[i].name_size == size &&
			    !memcmp(levels->nodes[i].name, path, size)) {
				found = &levels->nodes[i];
				parent = i;
			}
		if (!found)
			fail_msg("nothing at '%s'", path);
		path += size + (path[size] != 0);
	}
	return found;
}

static void assert_node(const struct levels *levels, const char *path, unsigned level,
			uint64_t calls, int64_t bytes, int64_t time_ms, int64_t own_ms)
{
	const struct level_node *node = at(levels, path);

	assert_int_equal(node->level, level);
	assert_int_equal(node->calls, calls);
	assert_int_equal(node->bytes, bytes);
	assert_int_equal(node->time_ns, time_ms < 0 ? CELL_NULL : time_ms * MS);
	assert_int_equal(node->own_ns, own_ms < 0 ? CELL_NULL : own_ms * MS);
}

/* Two freads, of which the first reads 4 KiB, for which 128 KiB are fetched. */
static void add_freads(struct fixture *f, int64_t blocked)
{
	add_run(f, "call,io,block,sched");
	add_call(f, 1000, 50, "fread", "libc.so.6", 512);
	add_io(f, 1010, 30, SYSCALL_read, 4096, 131072, blocked);
	add_request(f, 1015, 40, BLOCK_OP_R, true, 131072); /* done after the call */
	add_call(f, 1060, 5, "fread", "libc.so.6", 512);
}

static void each_level_has_what_is_inside_it(void **state)
{
	struct fixture *f = *state;
	const struct levels *levels;

	add_freads(f, 20);
	levels = &help_report(f, NULL, NULL)->levels;
	assert_int_equal(levels->count, 4);
	assert_node(levels, "fread", LEVEL_library, 2, 1024, 55, 25);
	assert_node(levels, "fread/read", LEVEL_call, 1, 4096, 30, 10);
	assert_node(levels, "fread/read/fill", LEVEL_cache, 1, 131072, -1, -1);
	assert_node(levels, "fread/read/fill/sda R", LEVEL_block, 1, 131072, 40, 20);
	assert_true(at(levels, "fread/read")->growth == 4.0);
	assert_true(at(levels, "fread/read/fill")->growth == 32.0);
	assert_true(at(levels, "fread")->bytes_a_call == 512.0);
	assert_int_equal(levels->own_ns[LEVEL_library] + levels->own_ns[LEVEL_call] +
				 levels->own_ns[LEVEL_block],
			 55 * MS);
}

static void without_the_scheduler_a_wait_is_the_calls_own(void **state)
{
	struct fixture *f = *state;
	const struct levels *levels;

	add_freads(f, -1);
	levels = &help_report(f, NULL, NULL)->levels;
	assert_node(levels, "fread/read", LEVEL_call, 1, 4096, 30, 30);
	assert_node(levels, "fread/read/fill/sda R", LEVEL_block, 1, 131072, 40, -1);
}

static void a_wait_goes_on_in_the_next_call_and_counts_once(void **state)
{
	struct fixture *f = *state;
	const struct levels *levels;

	add_run(f, "io,block,sched");
	add_io(f, 1000, 10, SYSCALL_read, 4096, 8192, 0); /* fetches ahead, and does not wait */
	add_request(f, 1005, 100, BLOCK_OP_R, false, 4096);
	add_request(f, 1006, 50, BLOCK_OP_R, false, 4096); /* beside it */
	add_io(f, 1020, 90, SYSCALL_pread64, 4096, 0, 85); /* to 1110: waits until 1105 */
	levels = &help_report(f, NULL, NULL)->levels;
	assert_node(levels, "read", LEVEL_call, 1, 4096, 10, 10);
	assert_node(levels, "read/fill/sda R", LEVEL_block, 2, 8192, 150, -1);
	assert_node(levels, "pread64", LEVEL_call, 1, 4096, 90, 5);
	assert_node(levels, "pread64/sda R", LEVEL_block, 0, CELL_NULL, -1, 85);
}

static void recursion_counts_where_it_was_first(void **state)
{
	struct fixture *f = *state;
	const struct levels *levels;

	add_run(f, "call");
	add_call(f, 1000, 100, "walk", "app", -1);
	add_call(f, 1010, 50, "visit", "app", -1);
	add_call(f, 1020, 30, "walk", "app", -1);
	add_call(f, 1025, 10, "visit", "app", -1);
	levels = &help_report(f, NULL, NULL)->levels;
	assert_int_equal(levels->count, 2);
	assert_node(levels, "walk", LEVEL_library, 2, CELL_NULL, 100, 70);
	assert_node(levels, "walk/visit", LEVEL_library, 2, CELL_NULL, 50, 30);
}

static void what_the_kernel_writes_later_is_inside_nothing(void **state)
{
	struct fixture *f = *state;
	const struct levels *levels;

	add_run(f, "call,io,block");
	add_call(f, 1000, 100, "train", "app", -1);
	add_request(f, 1010, 20, BLOCK_OP_W, false, 4096);
	add_call(f, 1020, -1, "unseen", "app", -1); /* without a length */
	add_call(f, 1030, 10, "vfs_read", "kernel", 100);
	add_io(f, 1040, 20, SYSCALL_io_uring_read, 512, 0, -1);
	levels = &help_report(f, NULL, NULL)->levels;
	assert_node(levels, "sda W", LEVEL_block, 1, 4096, 20, -1);
	assert_node(levels, "train", LEVEL_library, 1, CELL_NULL, 100, 90);
	assert_node(levels, "train/unseen", LEVEL_library, 1, CELL_NULL, -1, -1);
	assert_int_equal(at(levels, "train/unseen")->untimed, 1);
	assert_node(levels, "train/vfs_read", LEVEL_kernel, 1, 100, 10, 10);
	assert_node(levels, "io_uring_read", LEVEL_call, 1, 512, 20, -1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_level_has_what_is_inside_it),
		TEST(without_the_scheduler_a_wait_is_the_calls_own),
		TEST(a_wait_goes_on_in_the_next_call_and_counts_once),
		TEST(recursion_counts_where_it_was_first),
		TEST(what_the_kernel_writes_later_is_inside_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
