/* Every file in tests/data/corrupt once broke a reader, or shows a way a file can be broken. Reading one
 * must end in an error or a damage that says something, never in silence and never worse.
 */
#include "store_help.h"

#include <dirent.h>

#include "store/dims.h"
#include "store/rows.h"

/* Whether something was said against it. */
static bool read_table(struct reader *reader, unsigned table)
{
	struct error e = { "" };
	struct rows *rows;
	int err;

	if (rows_open(&rows, reader, table, ~0ull, 0, UINT64_MAX, &e)) {
		assert_true(e.text[0]);
		return true;
	}
	while ((err = rows_next(rows, &e)) > 0)
		for (unsigned c = 0; c < schema_tables[table].column_count; c++)
			rows_cell(rows, c);
	if (err)
		assert_true(e.text[0]);
	rows_close(rows);
	return err != 0;
}

static bool read_trace(const char *path)
{
	bool objected = false;
	struct error e = { "" };
	struct reader *reader;
	struct dims *dims;

	if (reader_open(&reader, path, &e)) {
		assert_true(e.text[0]);
		return true;
	}
	for (unsigned table = 0; table < TABLE_COUNT; table++)
		objected |= read_table(reader, table);
	if (!dims_open(&dims, reader, &e))
		dims_close(dims);
	objected |= reader_damage(reader) != NULL;
	reader_close(reader);
	return objected;
}

static void corrupt_files_do_no_harm(void **state)
{
	const char *folder = getenv("STRATA_CORRUPT");
	struct dirent *entry;
	unsigned count = 0;
	char path[4096];
	DIR *files;

	(void)state;
	if (!folder)
		folder = "tests/data/corrupt";
	files = opendir(folder);
	assert_non_null(files);
	while ((entry = readdir(files))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (!read_trace(path))
			fail_msg("%s reads as if nothing were wrong", path);
		count++;
	}
	closedir(files);
	assert_true(count > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(corrupt_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
