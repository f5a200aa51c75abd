/* What the tests of the trace file share: files in a scratch folder, and a chunk's rows as one text, so
 * that two readings compare with one call.
 */
#ifndef STRATA_TESTS_STORE_HELP_H
#define STRATA_TESTS_STORE_HELP_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "schema/schema.h"
#include "store/builder.h"
#include "store/reader.h"
#include "store/writer.h"

#define HELP __attribute__((unused)) static

HELP char help_path[64];

/* A new empty file at help_path. */
HELP int help_file(void)
{
	int fd;

	strcpy(help_path, "/tmp/strata-test.XXXXXX");
	fd = mkstemp(help_path);
	assert_true(fd >= 0);
	return fd;
}

HELP void help_write(const void *bytes, size_t size)
{
	int fd = help_file();

	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

HELP struct buf help_read(const char *path)
{
	struct buf bytes = { 0 };
	int fd = open(path, O_RDONLY);
	ssize_t size;

	assert_true(fd >= 0);
	do {
		void *room = buf_reserve(&bytes, 65536);

		assert_non_null(room);
		size = read(fd, room, 65536);
		assert_true(size >= 0);
		bytes.size += (size_t)size;
	} while (size);
	close(fd);
	return bytes;
}

HELP struct builder *help_builder(unsigned table)
{
	struct builder *builder;
	struct error e;

	assert_int_equal(builder_open(&builder, &schema_tables[table], &e), 0);
	return builder;
}

/* Encodes what the builder holds behind `out`. */
HELP void help_encode(struct builder *builder, struct buf *out)
{
	struct error e;

	assert_int_equal(builder_encode(builder, out, &e), 0);
}

/* Writes the chunks into a file at help_path, complete or as a killed writer leaves it. */
HELP void help_trace(const struct buf *chunks, bool complete)
{
	struct writer *writer;
	struct error e;
	int fd = help_file();

	assert_int_equal(writer_open(&writer, fd, &e), 0);
	assert_int_equal(writer_append(writer, chunks, &e), 0);
	if (complete) {
		assert_int_equal(writer_close(writer, &e), 0);
	} else {
		struct buf bytes = help_read(help_path);

		assert_int_equal(writer_close(writer, &e), 0);
		unlink(help_path);
		help_write(bytes.data, bytes.size);
		buf_free(&bytes);
	}
}

HELP struct reader *help_open(void)
{
	struct reader *reader = NULL;
	struct error e = { "" };

	if (reader_open(&reader, help_path, &e))
		fail_msg("%s", e.text);
	return reader;
}

HELP void help_print_cell(struct buf *out, const struct schema_column *schema,
			  const struct column *column, uint32_t row)
{
	int64_t cell = column->cells[row];
	size_t size;
	const char *text = column_text(column, cell, &size);

	if (cell == CELL_NULL)
		assert_int_equal(buf_printf(out, "null|"), 0);
	else if (schema->type == TYPE_TEXT || schema->type == TYPE_NAME)
		assert_true(text && !buf_printf(out, "%zu:", size) &&
			    !buf_append(out, text, size) && !buf_printf(out, "|"));
	else
		assert_int_equal(buf_printf(out, "%lld|", (long long)cell), 0);
}

/* All rows of the chunk as text; -errno when it does not decode. */
HELP int help_print(const struct reader *reader, const struct chunk *chunk, struct buf *out)
{
	const struct schema_table *table = &schema_tables[chunk->table];
	struct column columns[TABLE_MAX_COLUMNS] = { 0 };
	struct error e;
	int err = 0;

	for (unsigned c = 0; c < table->column_count && !err; c++)
		err = reader_decode(reader, chunk, c, &columns[c], &e);
	for (uint32_t row = 0; row < chunk->rows && !err; row++) {
		assert_int_equal(buf_printf(out, "%s|", table->name), 0);
		for (unsigned c = 0; c < table->column_count; c++)
			help_print_cell(out, &table->columns[c], &columns[c], row);
		assert_int_equal(buf_printf(out, "\n"), 0);
	}
	for (unsigned c = 0; c < table->column_count; c++)
		column_free(&columns[c]);
	return err;
}

/* All rows of the file in file order, up to the damage. */
HELP struct buf help_print_all(struct reader *reader)
{
	struct chunk *chunks = NULL;
	struct buf out = { 0 };
	struct error e;
	size_t count;

	assert_int_equal(reader_select(reader, TABLE_COUNT, 0, UINT64_MAX, &chunks, &count, &e), 0);
	for (size_t i = 0; i < count; i++)
		if (help_print(reader, &chunks[i], &out))
			break;
	free(chunks);
	return out;
}

HELP uint64_t help_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Three chunks: io, fs with texts, io. */
HELP struct buf help_small_chunks(void)
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

/* One chunk of three rows, one nanosecond apart. */
HELP struct buf help_clock_chunk(int64_t ts)
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

#endif
