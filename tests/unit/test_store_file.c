/* The trace file as a whole: cut, damaged, of a killed writer, of a newer version, and on a full disk. */
#include "store_help.h"

#include <signal.h>
#include <sys/resource.h>

#include "store/format.h"

/* The bytes of a trace of help_small_chunks, and its rows as text. */
static struct buf small_file(bool complete, struct buf *rows)
{
	struct buf chunks = help_small_chunks(), bytes;
	struct reader *reader;

	help_trace(&chunks, complete);
	bytes = help_read(help_path);
	reader = help_open();
	assert_int_equal(reader_complete(reader), complete);
	assert_null(reader_damage(reader));
	*rows = help_print_all(reader);
	assert_null(reader_damage(reader));
	reader_close(reader);
	unlink(help_path);
	buf_free(&chunks);
	return bytes;
}

/* Reads help_path: its rows must be the first of `rows`. Gives their size, -1 when it does not open,
 * and the text of the damage. */
static ssize_t read_prefix(const struct buf *rows, char damage[256])
{
	struct reader *reader;
	struct error e = { "" };
	struct buf found;
	ssize_t size;

	damage[0] = 0;
	if (reader_open(&reader, help_path, &e)) {
		assert_true(e.text[0]);
		return -1;
	}
	found = help_print_all(reader);
	size = (ssize_t)found.size;
	assert_true(found.size <= rows->size);
	assert_memory_equal(found.data, rows->data, found.size);
	if (found.size)
		assert_int_equal(found.data[found.size - 1], '\n');
	if (reader_damage(reader))
		snprintf(damage, 256, "%s", reader_damage(reader));
	reader_close(reader);
	buf_free(&found);
	return size;
}

static void every_cut_of_a_complete_file_gives_a_prefix(void **state)
{
	struct buf rows, bytes = small_file(true, &rows);
	ssize_t last = 0;
	char damage[256];

	(void)state;
	for (size_t size = 0; size < bytes.size; size++) {
		ssize_t found;

		help_write(bytes.data, size);
		found = read_prefix(&rows, damage);
		assert_int_equal(found < 0, size < FORMAT_HEADER_SIZE);
		if (found >= 0) {
			assert_true(damage[0]);
			assert_true(found >= last);
			last = found;
		}
		unlink(help_path);
	}
	assert_int_equal(last, rows.size);
	buf_free(&rows);
	buf_free(&bytes);
}

/* Where the chunks begin, and the end. */
static size_t chunk_starts(const struct buf *bytes, size_t starts[8])
{
	size_t count = 0, at = FORMAT_HEADER_SIZE;
	struct chunk_header header;

	while (!format_get_chunk(bytes->data + at, bytes->size - at, &header)) {
		starts[count++] = at;
		at += FORMAT_CHUNK_HEADER_SIZE + header.payload;
	}
	starts[count] = at;
	return count;
}

static void every_cut_of_a_killed_writers_file_names_the_cut_chunk(void **state)
{
	struct buf rows, bytes = small_file(false, &rows);
	size_t starts[8], count = chunk_starts(&bytes, starts), chunk = 0;
	char damage[256], expected[64];

	(void)state;
	assert_int_equal(count, 3);
	assert_int_equal(starts[count], bytes.size);
	for (size_t size = FORMAT_HEADER_SIZE; size <= bytes.size; size++) {
		help_write(bytes.data, size);
		assert_true(read_prefix(&rows, damage) >= 0);
		if (size == starts[chunk]) {
			assert_string_equal(damage, "");
			chunk++;
		} else {
			snprintf(expected, sizeof(expected),
				 "chunk %zu at byte %zu: the file ends inside this chunk", chunk,
				 starts[chunk - 1]);
			assert_memory_equal(damage, expected, strlen(expected));
		}
		unlink(help_path);
	}
	buf_free(&rows);
	buf_free(&bytes);
}

static void every_flipped_byte_is_noticed(void **state)
{
	static const uint8_t flips[] = { 0x01, 0x80, 0xff };
	struct buf rows, bytes = small_file(true, &rows);
	char damage[256];

	(void)state;
	for (size_t at = 0; at < bytes.size; at++)
		for (unsigned i = 0; i < sizeof(flips); i++) {
			ssize_t found;

			bytes.data[at] ^= flips[i];
			help_write(bytes.data, bytes.size);
			found = read_prefix(&rows, damage);
			assert_int_equal(found < 0, at < FORMAT_HEADER_SIZE);
			if (found >= 0)
				assert_true(damage[0]);
			unlink(help_path);
			bytes.data[at] ^= flips[i];
		}
	buf_free(&rows);
	buf_free(&bytes);
}

/* Damage in one table's chunk also ends what other tables give, once it is known. */
static void a_damaged_payload_ends_the_file_for_all_tables(void **state)
{
	struct buf rows, bytes = small_file(true, &rows);
	size_t starts[8], count;
	struct reader *reader;
	struct chunk *chunks;
	struct error e;

	(void)state;
	chunk_starts(&bytes, starts);
	bytes.data[starts[1] + FORMAT_CHUNK_HEADER_SIZE + 20] ^= 4;
	help_write(bytes.data, bytes.size);
	reader = help_open();
	assert_null(reader_damage(reader));
	assert_int_equal(reader_select(reader, TABLE_io, 0, UINT64_MAX, &chunks, &count, &e), 0);
	assert_int_equal(count, 2);
	free(chunks);
	assert_int_equal(reader_select(reader, TABLE_fs, 0, UINT64_MAX, &chunks, &count, &e), 0);
	assert_int_equal(count, 0);
	free(chunks);
	assert_non_null(strstr(reader_damage(reader), "chunk 2 at byte "));
	assert_non_null(strstr(reader_damage(reader), "checksum differs (file cut or damaged)"));
	assert_int_equal(reader_select(reader, TABLE_io, 0, UINT64_MAX, &chunks, &count, &e), 0);
	assert_int_equal(count, 1);
	free(chunks);
	reader_close(reader);
	unlink(help_path);
	buf_free(&rows);
	buf_free(&bytes);
}

static void a_newer_version_is_named(void **state)
{
	const struct file_header header = { .version = 7 };
	uint8_t bytes[FORMAT_HEADER_SIZE];
	struct reader *reader;
	struct error e;

	(void)state;
	format_put_header(bytes, &header);
	help_write(bytes, sizeof(bytes));
	assert_int_equal(reader_open(&reader, help_path, &e), -ENOTSUP);
	assert_non_null(strstr(e.text, "version 7"));
	assert_non_null(strstr(e.text, "newer strata"));
	unlink(help_path);
}

static void other_files_are_refused(void **state)
{
	struct reader *reader;
	struct error e;

	(void)state;
	help_write("#!/bin/sh\necho this is no trace, but it is long enough to be looked at\n", 70);
	assert_int_equal(reader_open(&reader, help_path, &e), -EINVAL);
	assert_string_equal(e.text, "not a strata trace");
	unlink(help_path);
	assert_int_equal(reader_open(&reader, help_path, &e), -ENOENT);
	assert_int_equal(reader_open(&reader, "/tmp", &e), -EINVAL);
	help_write("", 0);
	assert_int_equal(reader_open(&reader, help_path, &e), -ENODATA);
	unlink(help_path);
}

static void only_chunks_that_touch_the_time_are_given(void **state)
{
	struct buf chunks = { 0 };
	struct reader *reader;
	struct chunk *found;
	struct error e;
	size_t count;

	(void)state;
	for (int64_t ts = 1000; ts <= 3000; ts += 1000) {
		struct buf chunk = help_clock_chunk(ts);

		assert_int_equal(buf_append(&chunks, chunk.data, chunk.size), 0);
		buf_free(&chunk);
	}
	help_trace(&chunks, true);
	reader = help_open();
	assert_int_equal(reader_select(reader, TABLE_clock, 1002, 1999, &found, &count, &e), 0);
	assert_int_equal(count, 1);
	assert_int_equal(found[0].first_ts, 1000);
	assert_int_equal(found[0].last_end, 1002);
	free(found);
	assert_int_equal(reader_select(reader, TABLE_clock, 1003, 1999, &found, &count, &e), 0);
	assert_int_equal(count, 0);
	free(found);
	assert_int_equal(reader_select(reader, TABLE_clock, 1500, 3000, &found, &count, &e), 0);
	assert_int_equal(count, 2);
	free(found);
	reader_close(reader);
	unlink(help_path);
	buf_free(&chunks);
}

static void the_writer_counts(void **state)
{
	struct buf chunks = help_small_chunks();
	struct writer *writer;
	struct error e;

	(void)state;
	assert_int_equal(writer_open(&writer, help_file(), &e), 0);
	assert_int_equal(writer_append(writer, &chunks, &e), 0);
	assert_int_equal(writer_append(writer, &chunks, &e), 0);
	assert_int_equal(writer_size(writer), FORMAT_HEADER_SIZE + 2 * chunks.size);
	assert_int_equal(writer_rows(writer, TABLE_io), 48);
	assert_int_equal(writer_rows(writer, TABLE_fs), 10);
	assert_int_equal(writer_rows(writer, TABLE_block), 0);
	chunks.size--;
	assert_int_equal(writer_append(writer, &chunks, &e), -EINVAL);
	assert_int_equal(writer_close(writer, &e), 0);
	unlink(help_path);
	buf_free(&chunks);
}

/* A disk that fills up: the file keeps its whole chunks, and every later append fails alike. */
static void a_failed_write_leaves_whole_chunks(void **state)
{
	struct rlimit before, limit;
	struct buf chunks = help_small_chunks(), found;
	struct reader *reader;
	struct writer *writer;
	struct error e;
	int err;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = FORMAT_HEADER_SIZE + chunks.size + chunks.size / 2;
	assert_int_equal(writer_open(&writer, help_file(), &e), 0);
	assert_int_equal(writer_append(writer, &chunks, &e), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	err = writer_append(writer, &chunks, &e);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err, -EFBIG);
	assert_non_null(strstr(e.text, "cannot write the trace"));
	assert_int_equal(writer_append(writer, &chunks, &e), -EFBIG);
	assert_int_equal(writer_size(writer), FORMAT_HEADER_SIZE + chunks.size);
	assert_int_equal(writer_close(writer, &e), -EFBIG);
	reader = help_open();
	assert_false(reader_complete(reader));
	assert_null(reader_damage(reader));
	assert_int_equal(reader_file_size(reader), FORMAT_HEADER_SIZE + chunks.size);
	found = help_print_all(reader);
	assert_true(found.size > 0);
	reader_close(reader);
	unlink(help_path);
	buf_free(&found);
	buf_free(&chunks);
}

/* The index written, the header not yet: nothing is missing, and nothing is damaged. */
static void a_writer_killed_at_the_very_end_loses_nothing(void **state)
{
	struct buf rows, bytes = small_file(true, &rows);
	struct file_header header;
	char damage[256];
	struct error e;

	(void)state;
	assert_int_equal(format_get_header(bytes.data, bytes.size, &header, &e), 0);
	header.flags |= FORMAT_INCOMPLETE;
	format_put_header(bytes.data, &header);
	for (size_t cut = 0; cut < 60; cut++) {
		help_write(bytes.data, bytes.size - cut);
		assert_int_equal(read_prefix(&rows, damage), rows.size);
		assert_string_equal(damage, "");
		unlink(help_path);
	}
	buf_free(&rows);
	buf_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cut_of_a_complete_file_gives_a_prefix),
		cmocka_unit_test(every_cut_of_a_killed_writers_file_names_the_cut_chunk),
		cmocka_unit_test(every_flipped_byte_is_noticed),
		cmocka_unit_test(a_damaged_payload_ends_the_file_for_all_tables),
		cmocka_unit_test(a_newer_version_is_named),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(only_chunks_that_touch_the_time_are_given),
		cmocka_unit_test(the_writer_counts),
		cmocka_unit_test(a_failed_write_leaves_whole_chunks),
		cmocka_unit_test(a_writer_killed_at_the_very_end_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
