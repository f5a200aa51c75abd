/* Chunks that are whole but strange: of a newer strata, or of somebody who knows how to make checksums. */
#include "store_help.h"

#include "base/cursor.h"
#include "store/format.h"
#include "store/rows.h"

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
		struct buf chunk = help_clock_chunk(100 * i);

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
	struct buf chunk = help_clock_chunk(100), found;
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
	struct buf chunk = help_clock_chunk(100);
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
	struct buf all = help_small_chunks(), chunk = { 0 };
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
	struct buf all = help_small_chunks(), chunk = { 0 };
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

/* Names are numbers in memory, whatever number they have in their chunk; one of a newer schema is a text only. */
static void names_have_the_numbers_of_the_schema(void **state)
{
	static const int64_t calls[] = { SYSCALL_splice, SYSCALL_read, CELL_NULL, SYSCALL_write };
	static const int expected[] = { -1, SYSCALL_read, -1, SYSCALL_write };
	static const char *const texts[] = { "splicf", "read", NULL, "write" };
	struct builder *io = help_builder(TABLE_io);
	struct buf chunk = { 0 };
	struct reader *reader;
	struct rows *rows;
	struct error e;
	char *name;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		builder_set(io, column_io_ts, i);
		builder_set(io, column_io_op, calls[i]);
		builder_end_row(io);
	}
	help_encode(io, &chunk);
	name = memmem(chunk.data, chunk.size, "splice", 6);
	assert_non_null(name);
	name[5] = 'f';
	reseal(&chunk, schema_tables[TABLE_io].number);
	help_trace(&chunk, true);
	reader = help_open();
	assert_int_equal(rows_open(&rows, reader, TABLE_io, ~0ull, 0, UINT64_MAX, &e), 0);
	for (unsigned i = 0; i < 4; i++) {
		size_t size;
		const char *text;

		assert_int_equal(rows_next(rows, &e), 1);
		assert_int_equal(rows_name(rows, column_io_op), expected[i]);
		text = rows_text(rows, column_io_op, &size);
		assert_int_equal(size, texts[i] ? strlen(texts[i]) : 0);
		assert_memory_equal(text ? text : "", texts[i] ? texts[i] : "", size);
	}
	rows_close(rows);
	reader_close(reader);
	unlink(help_path);
	buf_free(&chunk);
	builder_close(io);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_tables_are_skipped),
		cmocka_unit_test(unknown_columns_are_skipped),
		cmocka_unit_test(unknown_encodings_are_refused),
		cmocka_unit_test(a_sealed_lie_does_no_harm),
		cmocka_unit_test(a_column_stored_against_itself_is_refused),
		cmocka_unit_test(names_have_the_numbers_of_the_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
