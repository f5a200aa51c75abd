/* The trace file whole, cut, damaged, of a killed writer, and of a newer strata. */
#include "store_help.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/cursor.h"
#include "store/codec.h"
#include "store/format.h"

/* Three chunks: io, fs with texts, io. */
static struct buf small_chunks(void)
{
	struct builder *io = help_builder(TABLE_io), *fs = help_builder(TABLE_fs);
	struct buf chunks = { 0 };

	for (int64_t round = 0; round < 2; round++) {
		for (int64_t row = 0; row < 12; row++) {
			builder_set(io, column_io_ts, 1000 * round + row * 37);
			builder_set(io, column_io_dur, 5 + row * row);
			builder_set(io, column_io_tid, 40 + row % 3);
			builder_set(io, column_io_op, 1 + row % 2);
			builder_set(io, column_io_requested, 4096);
			builder_set(io, column_io_returned, row == 5 ? -11 : 4096);
			if (row % 4)
				builder_set(io, column_io_file, 9 + row);
			builder_end_row(io);
		}
		help_encode(io, &chunks);
		if (round)
			break;
		for (int64_t row = 0; row < 5; row++) {
			char path[32];
			int size = snprintf(path, sizeof(path), "/data/%lld", (long long)row);

			builder_set(fs, column_fs_ts, 600 + row);
			builder_set_text(fs, column_fs_arg_path, path, (size_t)size);
			builder_end_row(fs);
		}
		help_encode(fs, &chunks);
	}
	builder_close(io);
	builder_close(fs);
	return chunks;
}

/* The bytes of a trace of small_chunks, and its rows as text. */
static struct buf small_file(bool complete, struct buf *rows)
{
	struct buf chunks = small_chunks(), bytes;
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

static struct buf clock_chunk(int64_t ts)
{
	struct builder *clock = help_builder(TABLE_clock);
	struct buf chunk = { 0 };

	for (int64_t row = 0; row < 3; row++) {
		builder_set(clock, column_clock_ts, ts + row);
		builder_set(clock, column_clock_realtime, 5 * row);
		builder_set(clock, column_clock_monotonic, 7 * row);
		builder_end_row(clock);
	}
	help_encode(clock, &chunk);
	builder_close(clock);
	return chunk;
}

/* Puts the header back in order after a chunk was changed by hand. */
static void reseal(struct buf *chunk, uint16_t table)
{
	struct chunk_header header;

	assert_null(format_get_chunk(chunk->data, chunk->size, &header));
	header.table = table;
	header.checksum = format_checksum(chunk->data + FORMAT_CHUNK_HEADER_SIZE, header.payload);
	format_put_chunk(chunk->data, &header);
}

static void unknown_tables_are_skipped(void **state)
{
	struct buf chunks = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct buf chunk = clock_chunk(100 * i);

		reseal(&chunk, i == 1 ? 999 : schema_tables[TABLE_clock].number);
		assert_int_equal(buf_append(&chunks, chunk.data, chunk.size), 0);
		buf_free(&chunk);
	}
	for (int complete = 0; complete < 2; complete++) {
		struct reader *reader;
		struct buf found;

		help_trace(&chunks, complete);
		reader = help_open();
		found = help_print_all(reader);
		assert_null(reader_damage(reader));
		assert_int_equal(buf_append(&found, "", 1), 0);
		assert_string_equal((char *)found.data,
				    "clock|0|0|0|\nclock|1|5|7|\nclock|2|10|14|\n"
				    "clock|200|0|0|\nclock|201|5|7|\n"
				    "clock|202|10|14|\n");
		reader_close(reader);
		unlink(help_path);
		buf_free(&found);
	}
	buf_free(&chunks);
}

/* A column of a newer schema, of a type and encoding that do not exist yet. */
static void unknown_columns_are_skipped(void **state)
{
	struct buf chunk = clock_chunk(100), found;
	struct reader *reader;

	(void)state;
	/* The second entry: three bytes and a size below 128 precede it. */
	assert_int_equal(chunk.data[FORMAT_CHUNK_HEADER_SIZE + 4], 2);
	chunk.data[FORMAT_CHUNK_HEADER_SIZE + 4] = 200;
	chunk.data[FORMAT_CHUNK_HEADER_SIZE + 5] = 0xff;
	chunk.data[FORMAT_CHUNK_HEADER_SIZE + 6] = 0xff;
	reseal(&chunk, schema_tables[TABLE_clock].number);
	help_trace(&chunk, true);
	reader = help_open();
	found = help_print_all(reader);
	assert_int_equal(buf_append(&found, "", 1), 0);
	assert_string_equal((char *)found.data,
			    "clock|100|null|0|\nclock|101|null|7|\nclock|102|null|14|\n");
	reader_close(reader);
	unlink(help_path);
	buf_free(&found);
	buf_free(&chunk);
}

/* A known column in an unknown encoding is an error, not a guess. */
static void unknown_encodings_are_refused(void **state)
{
	struct buf chunk = clock_chunk(100);
	struct column column = { 0 };
	struct chunk *chunks;
	struct reader *reader;
	struct error e;
	size_t count;

	(void)state;
	chunk.data[FORMAT_CHUNK_HEADER_SIZE + 5] |= 0xf0;
	reseal(&chunk, schema_tables[TABLE_clock].number);
	help_trace(&chunk, true);
	reader = help_open();
	assert_int_equal(reader_select(reader, TABLE_clock, 0, UINT64_MAX, &chunks, &count, &e), 0);
	assert_int_equal(reader_decode(reader, chunks, column_clock_ts, &column, &e), 0);
	assert_int_equal(reader_decode(reader, chunks, column_clock_realtime, &column, &e),
			 -ENOTSUP);
	assert_non_null(strstr(e.text, "chunk 1 at byte 64: column 'realtime' of table 'clock'"));
	column_free(&column);
	free(chunks);
	reader_close(reader);
	unlink(help_path);
	buf_free(&chunk);
}

/* Decodes all columns of the one chunk; gives how many are refused. */
static unsigned count_refused(const struct buf *chunk, unsigned table)
{
	struct column column = { 0 };
	struct chunk *chunks;
	struct reader *reader;
	unsigned refused = 0;
	struct error e;
	size_t count;

	help_trace(chunk, true);
	reader = help_open();
	assert_int_equal(reader_select(reader, table, 0, UINT64_MAX, &chunks, &count, &e), 0);
	assert_int_equal(count, 1);
	for (unsigned c = 0; c < schema_tables[table].column_count; c++)
		refused += reader_decode(reader, chunks, c, &column, &e) != 0;
	column_free(&column);
	free(chunks);
	reader_close(reader);
	unlink(help_path);
	return refused;
}

/* A liar who knows how to make checksums: every byte of the payload takes telling values. */
static void a_sealed_lie_does_no_harm(void **state)
{
	static const uint8_t lies[] = { 0, 1, 2, 9, 15, 64, 127, 128, 255 };
	struct buf all = small_chunks(), chunk = { 0 };
	struct chunk_header header;
	unsigned refused = 0;

	(void)state;
	assert_null(format_get_chunk(all.data, all.size, &header));
	assert_int_equal(buf_append(&chunk, all.data, FORMAT_CHUNK_HEADER_SIZE + header.payload),
			 0);
	for (size_t at = FORMAT_CHUNK_HEADER_SIZE; at < chunk.size; at++)
		for (unsigned i = 0; i < sizeof(lies); i++) {
			uint8_t kept = chunk.data[at];

			chunk.data[at] = lies[i];
			reseal(&chunk, header.table);
			refused += count_refused(&chunk, TABLE_io);
			chunk.data[at] = kept;
		}
	assert_true(refused > 100);
	buf_free(&all);
	buf_free(&chunk);
}

/* ts stored against itself: following the references would never end. */
static void a_column_stored_against_itself_is_refused(void **state)
{
	struct buf all = small_chunks(), chunk = { 0 };
	struct chunk_header header;
	struct cursor cursor;
	size_t streams;

	(void)state;
	assert_null(format_get_chunk(all.data, all.size, &header));
	assert_int_equal(buf_append(&chunk, all.data, FORMAT_CHUNK_HEADER_SIZE + header.payload),
			 0);
	assert_int_equal(count_refused(&chunk, TABLE_io), 0);
	cursor = cursor_over(chunk.data + FORMAT_CHUNK_HEADER_SIZE, header.payload);
	for (unsigned i = 0; i < header.columns; i++) {
		cursor_take(&cursor, 3);
		cursor_varint(&cursor);
	}
	streams = (size_t)(cursor.at - chunk.data);
	assert_int_equal(chunk.data[streams], 2); /* ts comes first, stored against dur */
	chunk.data[streams] = 1;
	reseal(&chunk, header.table);
	assert_int_equal(count_refused(&chunk, TABLE_io), 1);
	buf_free(&all);
	buf_free(&chunk);
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
		struct buf chunk = clock_chunk(ts);

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
	struct buf chunks = small_chunks();
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
	struct buf chunks = small_chunks(), found;
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

static void a_cursor_stays_inside(void **state)
{
	static const uint8_t bytes[] = { 0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0x02, 0x05 };
	struct cursor cursor = cursor_over(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(cursor_varint(&cursor), 128);
	assert_int_equal(cursor_varint(&cursor), 0); /* more than 64 bits */
	assert_true(cursor.failed);
	assert_int_equal(cursor_u8(&cursor), 0);
	cursor = cursor_over(bytes, 3);
	assert_int_equal(cursor_u32(&cursor), 0);
	assert_true(cursor.failed);
	assert_null(cursor_take(&cursor, 1));
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
		cmocka_unit_test(unknown_tables_are_skipped),
		cmocka_unit_test(unknown_columns_are_skipped),
		cmocka_unit_test(unknown_encodings_are_refused),
		cmocka_unit_test(a_sealed_lie_does_no_harm),
		cmocka_unit_test(a_column_stored_against_itself_is_refused),
		cmocka_unit_test(only_chunks_that_touch_the_time_are_given),
		cmocka_unit_test(the_writer_counts),
		cmocka_unit_test(a_failed_write_leaves_whole_chunks),
		cmocka_unit_test(a_writer_killed_at_the_very_end_loses_nothing),
		cmocka_unit_test(a_cursor_stays_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
