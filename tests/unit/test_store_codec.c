/* Rows through builder, file and reader: what comes out is what went in, for every table. */
#include "store_help.h"

static const struct {
	const char *bytes;
	size_t size;
} text_pool[] = {
	{ "", 0 },
	{ "a", 1 },
	{ "x\0y", 3 },
	{ "\xff\xfe\x80", 3 },
	{ "/data/train/0001", 16 },
	{ "line\nbreak,\"quoted\"", 19 },
};

enum style { STYLE_EXTREME, STYLE_SMALL, STYLE_RISING, STYLE_CONSTANT, STYLE_WIDE, STYLE_COUNT };

static int64_t random_cell(uint64_t *random, enum style style, uint32_t row)
{
	static const int64_t extremes[] = { INT64_MAX, INT64_MIN, 0,  -1,
					    1,	       INT32_MAX, -4, (int64_t)1 << 40 };
	uint64_t r = help_random(random);

	switch (style) {
	case STYLE_EXTREME: return extremes[r % 8];
	case STYLE_SMALL: return (int64_t)(r % 300) - 20;
	case STYLE_RISING: return (int64_t)(1000000000000ull + row * 1700ull + r % 900);
	case STYLE_CONSTANT: return 77;
	default: return r == (uint64_t)CELL_NULL ? 0 : (int64_t)r;
	}
}

/* Fills a row with random cells and prints it as help_print does. nulls: one in so many. */
static void add_row(struct builder *builder, uint64_t *random, enum style style, unsigned nulls,
		    uint32_t row, struct buf *line)
{
	const struct schema_table *table = builder->table;

	assert_int_equal(buf_printf(line, "%s|", table->name), 0);
	for (unsigned c = 0; c < table->column_count; c++) {
		const struct schema_column *column = &table->columns[c];
		uint64_t pick = help_random(random);

		if (nulls && help_random(random) % nulls == 0) {
			assert_int_equal(buf_printf(line, "null|"), 0);
		} else if (column->type == TYPE_TEXT) {
			pick %= sizeof(text_pool) / sizeof(*text_pool);
			builder_set_text(builder, c, text_pool[pick].bytes, text_pool[pick].size);
			assert_false(
				buf_printf(line, "%zu:", text_pool[pick].size) ||
				buf_append(line, text_pool[pick].bytes, text_pool[pick].size) ||
				buf_printf(line, "|"));
		} else if (column->type == TYPE_NAME) {
			const char *name;

			pick %= column->names->count;
			name = column->names->names[pick];
			builder_set(builder, c, (int64_t)pick);
			if (name)
				assert_int_equal(buf_printf(line, "%zu:%s|", strlen(name), name),
						 0);
			else
				assert_int_equal(buf_printf(line, "null|"), 0);
		} else {
			int64_t cell = random_cell(random, style, row);

			builder_set(builder, c, cell);
			assert_int_equal(buf_printf(line, "%lld|", (long long)cell), 0);
		}
	}
	assert_int_equal(buf_printf(line, "\n"), 0);
	builder_end_row(builder);
}

/* The group of a printed row: its n-th field, texts being free of '|' in these tests. */
static void group_field(const struct buf *line, int group, const char **field, size_t *size)
{
	const char *at = (const char *)line->data, *end = at + line->size;

	for (int i = 0; i <= group; i++)
		at = (const char *)memchr(at, '|', (size_t)(end - at)) + 1;
	*field = at;
	*size = (size_t)((const char *)memchr(at, '|', (size_t)(end - at)) - at);
}

static bool same_group(const struct buf *a, const struct buf *b, int group)
{
	const char *left, *right;
	size_t left_size, right_size;

	group_field(a, group, &left, &left_size);
	group_field(b, group, &right, &right_size);
	return left_size == right_size && !memcmp(left, right, left_size);
}

/* The rows as a chunk keeps them: groups in order of first sight, rows within in order of arrival. */
static struct buf expected_text(struct buf *lines, uint32_t rows, int group)
{
	bool *done = calloc(rows, sizeof(*done));
	struct buf out = { 0 };

	for (uint32_t i = 0; i < rows; i++)
		for (uint32_t j = i; j < rows; j++) {
			if (done[j] || (group < 0 && j > i) ||
			    (group >= 0 && !same_group(&lines[i], &lines[j], group)) || done[i])
				continue;
			if (j > i)
				done[j] = true;
			assert_int_equal(buf_append(&out, lines[j].data, lines[j].size), 0);
		}
	free(done);
	return out;
}

static void round_trip(unsigned table, enum style style, unsigned nulls, uint32_t rows)
{
	struct builder *builder = help_builder(table);
	struct buf *lines = calloc(rows, sizeof(*lines));
	struct buf chunk = { 0 }, expected, found;
	uint64_t random = 88172645463325252ull + table * 31 + style * 7 + nulls + rows;
	struct reader *reader;

	for (uint32_t row = 0; row < rows; row++)
		add_row(builder, &random, style, nulls, row, &lines[row]);
	help_encode(builder, &chunk);
	help_trace(&chunk, true);
	reader = help_open();
	expected = expected_text(lines, rows, builder->table->group);
	found = help_print_all(reader);
	assert_null(reader_damage(reader));
	assert_int_equal(found.size, expected.size);
	assert_memory_equal(found.data, expected.data, expected.size);
	reader_close(reader);
	unlink(help_path);
	for (uint32_t row = 0; row < rows; row++)
		buf_free(&lines[row]);
	free(lines);
	buf_free(&chunk);
	buf_free(&expected);
	buf_free(&found);
	builder_close(builder);
}

static void every_table_round_trips(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 7, 8, 9, 100, 333 };
	static const unsigned nulls[] = { 0, 2, 20 };

	(void)state;
	for (unsigned table = 0; table < TABLE_COUNT; table++)
		for (unsigned style = 0; style < STYLE_COUNT; style++)
			for (unsigned n = 0; n < 3; n++)
				for (unsigned s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
					round_trip(table, style, nulls[n], sizes[s]);
}

static void a_row_of_nulls_alone_is_kept(void **state)
{
	(void)state;
	for (unsigned table = 0; table < TABLE_COUNT; table++)
		round_trip(table, STYLE_SMALL, 1, 5);
}

static void a_full_builder_round_trips(void **state)
{
	struct builder *io = help_builder(TABLE_io);
	struct column ts = { 0 }, tid = { 0 };
	struct buf chunk = { 0 };
	struct chunk *chunks;
	struct reader *reader;
	struct error e;
	size_t count;

	(void)state;
	for (uint32_t row = 0; row < BUILDER_MAX_ROWS; row++) {
		assert_false(builder_full(io));
		builder_set(io, column_io_ts, 5000 + row);
		builder_set(io, column_io_tid, row % 3000);
		builder_end_row(io);
	}
	assert_true(builder_full(io));
	help_encode(io, &chunk);
	assert_int_equal(io->rows, 0);
	help_trace(&chunk, true);
	reader = help_open();
	assert_int_equal(reader_select(reader, TABLE_io, 0, UINT64_MAX, &chunks, &count, &e), 0);
	assert_int_equal(count, 1);
	assert_int_equal(reader_decode(reader, chunks, column_io_ts, &ts, &e), 0);
	assert_int_equal(reader_decode(reader, chunks, column_io_tid, &tid, &e), 0);
	assert_int_equal(ts.rows, BUILDER_MAX_ROWS);
	for (uint32_t row = 0; row < BUILDER_MAX_ROWS; row++) {
		assert_int_equal((ts.cells[row] - 5000) % 3000, tid.cells[row]);
		if (row && tid.cells[row] == tid.cells[row - 1])
			assert_int_equal(ts.cells[row], ts.cells[row - 1] + 3000);
	}
	column_free(&ts);
	column_free(&tid);
	free(chunks);
	reader_close(reader);
	unlink(help_path);
	buf_free(&chunk);
	builder_close(io);
}

static void an_empty_builder_appends_nothing(void **state)
{
	struct builder *io = help_builder(TABLE_io);
	struct buf chunk = { 0 };

	(void)state;
	help_encode(io, &chunk);
	assert_int_equal(chunk.size, 0);
	builder_close(io);
}

static void lost_memory_is_said_once_and_the_builder_goes_on(void **state)
{
	struct builder *io = help_builder(TABLE_io);
	struct buf chunk = { 0 };
	struct error e;

	(void)state;
	builder_set(io, column_io_ts, 1);
	builder_end_row(io);
	io->failed = true;
	assert_int_equal(builder_encode(io, &chunk, &e), -ENOMEM);
	assert_int_equal(chunk.size, 0);
	builder_set(io, column_io_ts, 1);
	builder_end_row(io);
	help_encode(io, &chunk);
	assert_true(chunk.size > 0);
	buf_free(&chunk);
	builder_close(io);
}

static size_t size_of_stays(bool with_wakes)
{
	struct builder *sched = help_builder(TABLE_sched);
	struct buf chunk = { 0 };
	uint64_t random = 7;
	size_t size;

	for (int64_t row = 0; row < 10000; row++) {
		int64_t ts = 5000000 + row * 7000, wait = (int64_t)(help_random(&random) % 5000);

		builder_set(sched, column_sched_ts, ts);
		builder_set(sched, column_sched_dur, 4000);
		builder_set(sched, column_sched_wait, wait);
		if (with_wakes)
			builder_set(sched, column_sched_wake_ts, ts - wait - (row == 70 ? 900 : 0));
		builder_end_row(sched);
	}
	help_encode(sched, &chunk);
	size = chunk.size;
	buf_free(&chunk);
	builder_close(sched);
	return size;
}

/* It is when the thread was ready, in nearly all rows: 20 kB if it were stored by itself. */
static void the_time_of_a_wake_costs_next_to_nothing(void **state)
{
	size_t without = size_of_stays(false), with = size_of_stays(true);

	(void)state;
	assert_true(with > without);
	assert_in_range(with - without, 1, 100);
}

/* Many large texts fill a builder before its rows do, so that a dictionary stays within bounds. */
static void texts_fill_a_builder(void **state)
{
	struct builder *fs = help_builder(TABLE_fs);
	static char text[300000];
	uint32_t rows = 0;

	(void)state;
	while (!builder_full(fs)) {
		text[rows] = 1;
		builder_set_text(fs, column_fs_arg_path, text, sizeof(text));
		builder_end_row(fs);
		rows++;
	}
	assert_int_equal(rows, BUILDER_MAX_TEXT / sizeof(text) + 1);
	builder_close(fs);
}

/* A hundred rows of io with twelve live columns: header, directory and block heads stay small. */
static void a_small_chunk_is_cheap(void **state)
{
	struct builder *io = help_builder(TABLE_io);
	struct buf chunk = { 0 };

	(void)state;
	for (int64_t row = 0; row < 100; row++) {
		static const unsigned columns[] = { column_io_cpu,   column_io_pid,
						    column_io_tid,   column_io_fd,
						    column_io_file,  column_io_requested,
						    column_io_missed };

		builder_set(io, column_io_ts, 1000000000000000 + row * 1000);
		builder_set(io, column_io_dur, 500);
		for (unsigned i = 0; i < 7; i++)
			builder_set(io, columns[i], 3000);
		builder_set(io, column_io_op, 1);
		builder_set(io, column_io_pos, row * 3000);
		builder_set(io, column_io_returned, 3000);
		builder_end_row(io);
	}
	help_encode(io, &chunk);
	assert_in_range(chunk.size, 48, 150);
	print_message("100 regular rows of io: %zu bytes\n", chunk.size);
	buf_free(&chunk);
	builder_close(io);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_table_round_trips),
		cmocka_unit_test(a_row_of_nulls_alone_is_kept),
		cmocka_unit_test(a_full_builder_round_trips),
		cmocka_unit_test(an_empty_builder_appends_nothing),
		cmocka_unit_test(lost_memory_is_said_once_and_the_builder_goes_on),
		cmocka_unit_test(the_time_of_a_wake_costs_next_to_nothing),
		cmocka_unit_test(texts_fill_a_builder),
		cmocka_unit_test(a_small_chunk_is_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
