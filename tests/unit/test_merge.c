/* Rows of several tables in one order of time. */
#include "store_help.h"

#include "store/merge.h"

static void add_row(struct builder *builder, int64_t ts)
{
	builder_set(builder, 0, ts);
	builder_set(builder, 1, 5);
	builder_end_row(builder);
}

/* A trace with these times in table io and in table mem, the latter in two chunks. */
static struct reader *make_trace(void)
{
	static const int64_t io[] = { 10, 20, 20, 40 }, mem[] = { 5, 20, 50 };
	struct builder *builder = help_builder(TABLE_io);
	struct buf chunks = { 0 };

	for (unsigned i = 0; i < 4; i++)
		add_row(builder, io[i]);
	help_encode(builder, &chunks);
	builder_close(builder);
	builder = help_builder(TABLE_mem);
	for (unsigned i = 0; i < 3; i++) {
		add_row(builder, mem[i]);
		if (i != 1)
			help_encode(builder, &chunks);
	}
	builder_close(builder);
	help_trace(&chunks, true);
	buf_free(&chunks);
	return help_open();
}

/* The rows as text: i for io, m for mem. */
static void print_rows(struct reader *reader, uint32_t tables, uint64_t from, uint64_t to,
		       char *out)
{
	uint64_t wanted[TABLE_COUNT] = { 0 };
	struct merge merge;
	struct error e;
	int more;

	assert_int_equal(merge_open(&merge, reader, tables, wanted, from, to, &e), 0);
	*out = 0;
	while ((more = merge_next(&merge, &e)) > 0) {
		assert_int_equal(rows_cell(merge.rows, 0), merge.ts);
		sprintf(out + strlen(out), "%c%llu ", merge.table == TABLE_io ? 'i' : 'm',
			(unsigned long long)merge.ts);
	}
	assert_int_equal(more, 0);
	assert_int_equal(merge_next(&merge, &e), 0);
	merge_close(&merge);
}

static void test_order(void **state)
{
	struct reader *reader = make_trace();
	char text[256];

	(void)state;
	print_rows(reader, UINT32_MAX, 0, UINT64_MAX, text);
	assert_string_equal(text, "m5 i10 i20 i20 m20 i40 m50 ");
	print_rows(reader, UINT32_MAX, 20, 40, text);
	assert_string_equal(text, "i20 i20 m20 i40 ");
	print_rows(reader, 1u << TABLE_mem, 0, UINT64_MAX, text);
	assert_string_equal(text, "m5 m20 m50 ");
	print_rows(reader, 1u << TABLE_fs, 0, UINT64_MAX, text);
	assert_string_equal(text, "");
	print_rows(reader, 0, 0, UINT64_MAX, text);
	assert_string_equal(text, "");
	reader_close(reader);
	unlink(help_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_order) };

	return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
