/* Names that are told again in each file of a recording in many: also those that come late, and those of threads that
 * change around the border.
 */
#include "store_help.h"

#include "store/dims.h"
#include "store/kept.h"
#include "store/sink.h"

static struct error e;

/* Two files, and a sink that writes to the first and then to the second. */
struct two {
	struct kept *kept;
	struct sink sink;
	char paths[2][64];
	struct writer *writers[2];
};

static struct two two_open(void)
{
	struct two two = { 0 };

	assert_int_equal(kept_open(&two.kept, &e), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(writer_open(&two.writers[i], help_file(), &e), 0);
		strcpy(two.paths[i], help_path);
	}
	sink_init(&two.sink, two.writers[0]);
	two.sink.kept = two.kept;
	return two;
}

/* The border between the files, at ts 1000. */
static void two_switch(struct two *two)
{
	sink_flush(&two->sink, 0);
	two->sink.writer = two->writers[1];
	kept_begin(two->kept, 1000, &two->sink);
	sink_flush(&two->sink, 0);
}

static void two_settle(struct two *two)
{
	struct buf chunks = { 0 };

	sink_flush(&two->sink, 0);
	assert_int_equal(two->sink.failed, 0);
	assert_int_equal(kept_settle(two->kept, &chunks, &e), 0);
	if (chunks.size)
		assert_int_equal(writer_append(two->writers[0], &chunks, &e), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(writer_close(two->writers[i], &e), 0);
	buf_free(&chunks);
}

static void two_close(struct two *two)
{
	assert_int_equal(kept_forgotten(two->kept), 0);
	sink_free(&two->sink);
	kept_close(two->kept);
	for (int i = 0; i < 2; i++)
		unlink(two->paths[i]);
}

static void add_file(struct two *two, int64_t id, const char *path)
{
	struct builder *row = sink_table(&two->sink, TABLE_file);

	builder_set(row, column_file_file, id);
	builder_set(row, column_file_inode, 100 + id);
	builder_set(row, column_file_kind, FILE_KIND_FILE);
	builder_set_text(row, column_file_path, path, strlen(path));
	builder_set_text(row, column_file_dev, "8:1", 3);
	sink_end_row(&two->sink, TABLE_file);
}

static void add_read(struct two *two, int64_t ts, int64_t tid, int64_t file)
{
	struct builder *row = sink_table(&two->sink, TABLE_io);

	builder_set(row, column_io_ts, ts);
	builder_set(row, column_io_tid, tid);
	builder_set(row, column_io_file, file);
	sink_end_row(&two->sink, TABLE_io);
}

static void add_event(struct two *two, int64_t ts, int64_t tid, int event, const char *comm)
{
	struct builder *row = sink_table(&two->sink, TABLE_process);

	builder_set(row, column_process_ts, ts);
	builder_set(row, column_process_event, event);
	builder_set(row, column_process_tid, tid);
	builder_set(row, column_process_pid, 7);
	builder_set_text(row, column_process_comm, comm, strlen(comm));
	sink_end_row(&two->sink, TABLE_process);
}

struct opened {
	struct reader *reader;
	struct dims *dims;
};

static struct opened open_dims(const struct two *two, int i)
{
	struct opened opened;

	assert_int_equal(reader_open(&opened.reader, two->paths[i], &e), 0);
	assert_int_equal(dims_open(&opened.dims, opened.reader, &e), 0);
	return opened;
}

static void close_dims(struct opened *opened)
{
	dims_close(opened->dims);
	reader_close(opened->reader);
}

/* What the file says of an id; "" when it says nothing. */
static const char *path_in(const struct two *two, int i, int64_t id)
{
	struct opened opened = open_dims(two, i);
	static char text[64];
	const char *path;
	size_t size;

	path = dims_path(opened.dims, id, &size);
	snprintf(text, sizeof(text), "%.*s", (int)size, path ? path : "");
	close_dims(&opened);
	return text;
}

static const char *comm_in(const struct two *two, int i, int64_t tid, uint64_t ts)
{
	struct opened opened = open_dims(two, i);
	static char text[64];
	const char *comm;
	size_t size;

	comm = dims_comm(opened.dims, tid, ts, &size);
	snprintf(text, sizeof(text), "%.*s", (int)size, comm ? comm : "");
	close_dims(&opened);
	return text;
}

static size_t rows_in(const struct two *two, int i, unsigned table)
{
	struct reader *reader;
	struct chunk *chunks;
	size_t count, rows = 0;

	assert_int_equal(reader_open(&reader, two->paths[i], &e), 0);
	assert_int_equal(reader_select(reader, table, 0, UINT64_MAX, &chunks, &count, &e), 0);
	for (size_t c = 0; c < count; c++)
		rows += chunks[c].rows;
	free(chunks);
	reader_close(reader);
	return rows;
}

static void files_in_use_are_told_again(void **state)
{
	struct two two = two_open();

	(void)state;
	add_file(&two, 1, "/used/before");
	add_file(&two, 2, "/used/in/both");
	add_read(&two, 10, 5, 1);
	add_read(&two, 11, 5, 2);
	two_switch(&two);
	add_read(&two, 1010, 5, 2);
	add_read(&two, 1011, 5, 2);
	add_file(&two, 3, "/new");
	add_read(&two, 1012, 5, 3);
	two_settle(&two);
	assert_string_equal(path_in(&two, 0, 1), "/used/before");
	assert_string_equal(path_in(&two, 0, 2), "/used/in/both");
	assert_string_equal(path_in(&two, 1, 1), "");
	assert_string_equal(path_in(&two, 1, 2), "/used/in/both");
	assert_string_equal(path_in(&two, 1, 3), "/new");
	assert_int_equal(rows_in(&two, 0, TABLE_file), 2); /* each once */
	assert_int_equal(rows_in(&two, 1, TABLE_file), 2);
	two_close(&two);
}

/* The name comes by another CPU's ring, after the file with the row has ended. */
static void a_name_that_comes_late(void **state)
{
	struct two two = two_open();

	(void)state;
	add_read(&two, 990, 5, 9);
	two_switch(&two);
	add_file(&two, 9, "/late");
	two_settle(&two);
	assert_string_equal(path_in(&two, 0, 9), "/late");
	assert_string_equal(path_in(&two, 1, 9), "/late");
	two_close(&two);
}

static void threads_are_told_again(void **state)
{
	struct two two = two_open();

	(void)state;
	add_event(&two, 10, 5, EVENT_EXISTS, "old");
	add_event(&two, 20, 6, EVENT_FORK, "first");
	add_event(&two, 30, 6, EVENT_RENAME, "second");
	add_event(&two, 40, 8, EVENT_FORK, "short");
	add_event(&two, 50, 8, EVENT_EXIT, "short");
	two_switch(&two);
	add_event(&two, 1500, 5, EVENT_RENAME, "new");
	two_settle(&two);
	assert_string_equal(comm_in(&two, 0, 6, 25), "first");
	assert_string_equal(comm_in(&two, 1, 6, 1001), "second");
	assert_string_equal(comm_in(&two, 1, 6, 900), "second"); /* a call that began before */
	assert_string_equal(comm_in(&two, 1, 5, 1200), "old");
	assert_string_equal(comm_in(&two, 1, 5, 1600), "new");
	two_close(&two);
}

/* Rings are emptied one after the other: a rename may be read before the fork. */
static void threads_whose_records_come_in_no_order(void **state)
{
	struct two two = two_open();

	(void)state;
	add_event(&two, 30, 6, EVENT_RENAME, "second");
	add_event(&two, 20, 6, EVENT_FORK, "first");
	add_event(&two, 900, 8, EVENT_EXIT, "gone");
	add_event(&two, 800, 8, EVENT_FORK, "gone");
	sink_flush(&two.sink, 0);
	two.sink.writer = two.writers[1];
	kept_begin(two.kept, 6000000, &two.sink); /* long after the end of thread 8 */
	two_settle(&two);
	assert_string_equal(comm_in(&two, 1, 6, 6000001), "second");
	assert_string_equal(comm_in(&two, 1, 8, 6000001), "");
	two_close(&two);
}

/* The fork comes by another CPU's ring, after the file with the child's rows has ended. */
static void a_fork_that_comes_late(void **state)
{
	struct two two = two_open();

	(void)state;
	add_read(&two, 995, 12, 1);
	two_switch(&two);
	add_event(&two, 990, 12, EVENT_FORK, "child");
	add_event(&two, 1200, 13, EVENT_FORK, "other");
	two_settle(&two);
	assert_string_equal(comm_in(&two, 0, 12, 995), "child");
	assert_string_equal(comm_in(&two, 0, 13, 995), "");
	assert_string_equal(comm_in(&two, 1, 12, 1100), "child");
	two_close(&two);
}

/* Threads that have ended long ago are forgotten, or a recording of days would tell of all of them. */
static void threads_that_ended_are_forgotten(void **state)
{
	struct two two = two_open();

	(void)state;
	for (int tid = 100; tid < 200; tid++) {
		add_event(&two, 10, tid, EVENT_FORK, "gone");
		add_event(&two, 20, tid, EVENT_EXIT, "gone");
	}
	add_event(&two, 10, 5, EVENT_FORK, "lives");
	sink_flush(&two.sink, 0);
	two.sink.writer = two.writers[1];
	kept_begin(two.kept, 5000000000, &two.sink);
	two_settle(&two);
	assert_int_equal(rows_in(&two, 1, TABLE_process), 1);
	assert_string_equal(comm_in(&two, 1, 5, 5000000001), "lives");
	two_close(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_in_use_are_told_again),
		cmocka_unit_test(a_name_that_comes_late),
		cmocka_unit_test(threads_are_told_again),
		cmocka_unit_test(threads_whose_records_come_in_no_order),
		cmocka_unit_test(a_fork_that_comes_late),
		cmocka_unit_test(threads_that_ended_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
