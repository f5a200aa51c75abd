/* The schema: numbers of the file format are unique and stay, names are found, and each id has its
 * name beside it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "schema/syscalls.h"
#include "schema/schema.h"
#include "schema/shown.h"

static void tables_are_found_by_name_and_number(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		const struct schema_table *table = &schema_tables[i];

		assert_ptr_equal(schema_table_by_name(table->name), table);
		assert_ptr_equal(schema_table_by_number(table->number), table);
		assert_true(table->column_count > 0);
		assert_true(table->column_count <= TABLE_MAX_COLUMNS);
		assert_true(table->group < (int)table->column_count);
	}
	assert_null(schema_table_by_name("nonsense"));
	assert_null(schema_table_by_number(0));
}

static void columns_are_found_by_name_and_number(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		const struct schema_table *table = &schema_tables[i];

		for (unsigned j = 0; j < table->column_count; j++) {
			const struct schema_column *column = &table->columns[j];

			assert_int_equal(schema_column_by_name(table, column->name), j);
			assert_ptr_equal(schema_column_by_number(table, column->number), column);
			assert_int_equal(column->type == TYPE_NAME, column->names != NULL);
			assert_true(strlen(column->doc) > 0);
		}
		assert_int_equal(schema_column_by_name(table, "nonsense"), -1);
	}
}

/* Numbers are part of the file format: a change here makes old traces unreadable. */
static void numbers_of_the_file_format_stay(void **state)
{
	(void)state;
	assert_int_equal(schema_tables[TABLE_process].number, 1);
	assert_int_equal(schema_tables[TABLE_io].number, 3);
	assert_int_equal(schema_tables[TABLE_fs].number, 4);
	assert_int_equal(schema_tables[TABLE_run].number, 20);
	assert_int_equal(schema_tables[TABLE_io].columns[column_io_returned].number, 15);
	assert_int_equal(schema_tables[TABLE_fs].columns[column_fs_arg_path].number, 11);
}

static void enums_and_lists_agree(void **state)
{
	(void)state;
	assert_string_equal(schema_tables[TABLE_io].columns[column_io_dur].name, "dur");
	assert_string_equal(schema_tables[TABLE_gpu_op].columns[column_gpu_op_stream].name,
			    "stream");
	assert_string_equal(syscall_names.names[SYSCALL_pread64], "pread64");
	assert_string_equal(syscall_names.names[SYSCALL_newfstatat], "newfstatat");
	assert_null(syscall_names.names[SYSCALL_none]);
	assert_string_equal(direction_names.names[DIRECTION_C], "C");
	assert_string_equal(block_op_names.names[BLOCK_OP_D], "D");
	assert_string_equal(task_state_names.names[END_STATE_D], "D");
	assert_string_equal(event_names.names[EVENT_EXISTS], "exists");
	assert_string_equal(file_kind_names.names[FILE_KIND_SOCKET], "socket");
	assert_int_equal(schema_tables[TABLE_io].group, column_io_tid);
	assert_int_equal(schema_tables[TABLE_clock].group, -1);
}

static unsigned shown_at(unsigned table, const char *name)
{
	struct shown_column shown[SHOWN_MAX_COLUMNS];
	unsigned count = shown_columns(&schema_tables[table], shown);

	for (unsigned i = 0; i < count; i++)
		if (!strcmp(shown[i].name, name))
			return i;
	return UINT32_MAX;
}

static void names_stand_beside_their_ids(void **state)
{
	(void)state;
	assert_int_equal(shown_at(TABLE_io, "comm"), shown_at(TABLE_io, "tid") + 1);
	assert_int_equal(shown_at(TABLE_io, "path"), shown_at(TABLE_io, "file") + 1);
	assert_int_equal(shown_at(TABLE_io, "out_path"), shown_at(TABLE_io, "out_file") + 1);
	assert_int_equal(shown_at(TABLE_fs, "path"), shown_at(TABLE_fs, "file") + 1);
	assert_int_equal(shown_at(TABLE_clock, "comm"), UINT32_MAX);
	assert_int_equal(shown_at(TABLE_clock, "path"), UINT32_MAX);
}

static void no_column_is_shown_twice(void **state)
{
	struct shown_column shown[SHOWN_MAX_COLUMNS];

	(void)state;
	for (unsigned t = 0; t < TABLE_COUNT; t++) {
		unsigned count = shown_columns(&schema_tables[t], shown);

		assert_true(count >= schema_tables[t].column_count);
		for (unsigned i = 0; i < count; i++)
			for (unsigned j = 0; j < i; j++)
				assert_string_not_equal(shown[i].name, shown[j].name);
	}
}

/* Windows, merges and the order of rows rest on this. */
static void all_rows_have_a_time_but_files_and_facts(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		const struct schema_table *table = &schema_tables[i];

		assert_int_equal(schema_is_timed(table), i != TABLE_file && i != TABLE_run);
		if (table->kind != KIND_DIMENSION) {
			assert_string_equal(table->columns[0].name, "ts");
			assert_string_equal(table->columns[0].unit, "ns");
		}
		for (unsigned c = 1; c < table->column_count; c++)
			assert_int_not_equal(table->columns[c].role, ROLE_TIME);
	}
}

/* See src/store/codec.h: what an encoding is told against must be there. */
static void encodings_find_what_they_refer_to(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		const struct schema_table *table = &schema_tables[i];

		for (unsigned c = 0; c < table->column_count; c++) {
			uint8_t encoding = table->columns[c].encoding;

			if (encoding == ENCODING_AFTER)
				assert_true(schema_column_by_role(table, ROLE_LENGTH) > 0);
			if (encoding == ENCODING_FOLLOW) {
				assert_true(schema_column_by_role(table, ROLE_RESULT) > 0);
				assert_true(schema_column_by_role(table, ROLE_FILE) > 0);
			}
			if (encoding == ENCODING_MINUS)
				assert_true(schema_column_by_role(table,
								  table->columns[c].role == ROLE_PID
									  ? ROLE_TID
									  : ROLE_REQUEST) > 0);
			if (encoding == ENCODING_BEFORE)
				assert_true(schema_column_by_role(table, ROLE_WAIT) > 0);
		}
	}
}

static void titles_fall_back_to_labels_and_names(void **state)
{
	(void)state;
	assert_string_equal(schema_title(&schema_tables[TABLE_block]), "Block requests");
	assert_string_equal(schema_title(&schema_tables[TABLE_fault]), "FAULT");
	assert_string_equal(schema_title(&schema_tables[TABLE_clock]), "clock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_found_by_name_and_number),
		cmocka_unit_test(columns_are_found_by_name_and_number),
		cmocka_unit_test(numbers_of_the_file_format_stay),
		cmocka_unit_test(enums_and_lists_agree),
		cmocka_unit_test(names_stand_beside_their_ids),
		cmocka_unit_test(no_column_is_shown_twice),
		cmocka_unit_test(all_rows_have_a_time_but_files_and_facts),
		cmocka_unit_test(encodings_find_what_they_refer_to),
		cmocka_unit_test(titles_fall_back_to_labels_and_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
