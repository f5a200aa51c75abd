/* Rows of many chunks in order of time. */
#include "store_help.h"

#include "store/rows.h"

static void add_call(struct builder *io, int64_t ts, int64_t dur, int64_t tid, int64_t fd)
{
	builder_set(io, column_io_ts, ts);
	builder_set(io, column_io_dur, dur);
	builder_set(io, column_io_tid, tid);
	builder_set(io, column_io_fd, fd);
	builder_end_row(io);
}

/* The fd of every row of io from..to, in the order given. */
static size_t read_order(uint64_t from, uint64_t to, int64_t *fds, size_t room)
{
	const uint64_t wanted = 1ull << column_io_fd | 1ull << column_io_ts;
	struct reader *reader = help_open();
	struct rows *rows;
	struct error e;
	int64_t last = INT64_MIN;
	size_t count = 0;
	int err;

	assert_int_equal(rows_open(&rows, reader, TABLE_io, wanted, from, to, &e), 0);
	while ((err = rows_next(rows, &e)) > 0) {
		assert_true(count < room);
		assert_true(rows_cell(rows, column_io_ts) >= last);
		last = rows_cell(rows, column_io_ts);
		assert_int_equal(rows_cell(rows, column_io_dur), CELL_NULL); /* not wanted */
		fds[count++] = rows_cell(rows, column_io_fd);
	}
	assert_int_equal(err, 0);
	assert_int_equal(rows_next(rows, &e), 0);
	rows_close(rows);
	reader_close(reader);
	return count;
}

static void long_calls_that_arrive_late_stand_in_their_place(void **state)
{
	struct builder *io = help_builder(TABLE_io);
	struct buf chunks = { 0 };
	int64_t fds[16];

	(void)state;
	add_call(io, 100, 1, 7, 1);
	add_call(io, 300, 1, 7, 3);
	help_encode(io, &chunks);
	add_call(io, 400, 1, 8, 4);
	add_call(io, 600, 1, 8, 6);
	help_encode(io, &chunks);
	add_call(io, 500, 1, 9, 5); /* its chunk is the last, its first row the second of all */
	add_call(io, 200, 9000, 9, 2);
	help_encode(io, &chunks);
	help_trace(&chunks, true);
	assert_int_equal(read_order(0, UINT64_MAX, fds, 16), 6);
	for (int64_t i = 0; i < 6; i++)
		assert_int_equal(fds[i], i + 1);
	assert_int_equal(read_order(200, 500, fds, 16), 4);
	for (int64_t i = 0; i < 4; i++)
		assert_int_equal(fds[i], i + 2);
	assert_int_equal(read_order(601, UINT64_MAX, fds, 16), 0);
	unlink(help_path);
	buf_free(&chunks);
	builder_close(io);
}

static void a_chunk_is_given_while_a_call_of_it_still_ran(void **state)
{
	struct builder *io = help_builder(TABLE_io);
	struct buf chunks = { 0 };
	struct reader *reader;
	struct chunk *found;
	struct error e;
	size_t count;

	(void)state;
	add_call(io, 200, 9000, 9, 2);
	add_call(io, 500, 1, 9, 5);
	help_encode(io, &chunks);
	help_trace(&chunks, true);
	reader = help_open();
	assert_int_equal(reader_select(reader, TABLE_io, 9000, 9100, &found, &count, &e), 0);
	assert_int_equal(count, 1);
	free(found);
	assert_int_equal(reader_select(reader, TABLE_io, 9201, 9300, &found, &count, &e), 0);
	assert_int_equal(count, 0);
	free(found);
	reader_close(reader);
	unlink(help_path);
	buf_free(&chunks);
	builder_close(io);
}

static void equal_times_keep_file_order(void **state)
{
	struct builder *io = help_builder(TABLE_io);
	struct buf chunks = { 0 };
	int64_t fds[64];

	(void)state;
	for (int64_t chunk = 0; chunk < 5; chunk++) {
		for (int64_t row = 0; row < 10; row++)
			add_call(io, 100 + row / 5, 1, 1, chunk * 10 + row);
		help_encode(io, &chunks);
	}
	help_trace(&chunks, true);
	assert_int_equal(read_order(0, UINT64_MAX, fds, 64), 50);
	for (int64_t i = 0; i < 50; i++)
		assert_int_equal(fds[i], i % 25 / 5 * 10 + i % 5 + i / 25 * 5);
	unlink(help_path);
	buf_free(&chunks);
	builder_close(io);
}

static int compare_cells(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* Random times over the whole 63 bits, chunks that overlap everywhere: against the C library's sort. */
static void random_rows_come_sorted(void **state)
{
	enum { COUNT = 4000 };
	struct builder *io = help_builder(TABLE_io);
	static int64_t times[COUNT], found[COUNT];
	uint64_t random = 42;
	struct buf chunks = { 0 };

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		times[i] = (int64_t)(help_random(&random) >> (1 + i % 50));
		add_call(io, times[i], i, i % 5, times[i]);
		if (i % 333 == 332)
			help_encode(io, &chunks);
	}
	help_encode(io, &chunks);
	help_trace(&chunks, false);
	assert_int_equal(read_order(0, UINT64_MAX, found, COUNT), COUNT);
	qsort(times, COUNT, sizeof(*times), compare_cells);
	assert_memory_equal(times, found, sizeof(times));
	unlink(help_path);
	buf_free(&chunks);
	builder_close(io);
}

static void tables_without_time_keep_file_order(void **state)
{
	static const char *const keys[] = { "host", "command", "kernel" };
	struct builder *run = help_builder(TABLE_run);
	struct buf chunks = { 0 };
	struct reader *reader;
	struct rows *rows;
	struct error e;
	size_t size;

	(void)state;
	for (int i = 0; i < 3; i++) {
		builder_set_text(run, column_run_key, keys[i], strlen(keys[i]));
		if (i != 1)
			builder_set_text(run, column_run_value, "v", 1);
		builder_end_row(run);
		if (i == 1)
			help_encode(run, &chunks);
	}
	help_encode(run, &chunks);
	help_trace(&chunks, true);
	reader = help_open();
	assert_int_equal(rows_open(&rows, reader, TABLE_run, ~0ull, 5, 6, &e), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rows_next(rows, &e), 1);
		assert_memory_equal(rows_text(rows, column_run_key, &size), keys[i],
				    strlen(keys[i]));
		assert_int_equal(size, strlen(keys[i]));
		assert_int_equal(rows_text(rows, column_run_value, &size) == NULL, i == 1);
	}
	assert_int_equal(rows_next(rows, &e), 0);
	rows_close(rows);
	reader_close(reader);
	unlink(help_path);
	buf_free(&chunks);
	builder_close(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_calls_that_arrive_late_stand_in_their_place),
		cmocka_unit_test(a_chunk_is_given_while_a_call_of_it_still_ran),
		cmocka_unit_test(equal_times_keep_file_order),
		cmocka_unit_test(random_rows_come_sorted),
		cmocka_unit_test(tables_without_time_keep_file_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
