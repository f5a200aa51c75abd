/* The path that a row of table fs is about, found through a real trace's dimensions. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/builder.h"
#include "store/dims.h"
#include "store/paths.h"
#include "store/reader.h"
#include "store/writer.h"

enum { DATA = 1, ROOT, PIPE, UNKNOWN };

struct fixture {
	struct reader *reader;
	struct dims *dims;
	struct buf scratch;
	char path[32];
};

static void add_file(struct builder *files, int64_t id, const char *path)
{
	builder_set(files, column_file_file, id);
	builder_set_text(files, column_file_path, path, strlen(path));
	builder_set(files, column_file_inode, id);
	builder_end_row(files);
}

static int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct buf chunk = { 0 };
	struct builder *files;
	struct writer *writer;
	struct error e;

	strcpy(f->path, "/tmp/strata-paths-XXXXXX");
	assert_int_equal(writer_open(&writer, mkstemp(f->path), &e), 0);
	assert_int_equal(builder_open(&files, &schema_tables[TABLE_file], &e), 0);
	add_file(files, DATA, "/data");
	add_file(files, ROOT, "/");
	add_file(files, PIPE, "pipe:[7]");
	assert_int_equal(builder_encode(files, &chunk, &e), 0);
	assert_int_equal(writer_append(writer, &chunk, &e), 0);
	assert_int_equal(writer_close(writer, &e), 0);
	builder_close(files);
	buf_free(&chunk);
	assert_int_equal(reader_open(&f->reader, f->path, &e), 0);
	assert_int_equal(dims_open(&f->dims, f->reader, &e), 0);
	*state = f;
	return 0;
}

static int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	dims_close(f->dims);
	reader_close(f->reader);
	buf_free(&f->scratch);
	unlink(f->path);
	free(f);
	return 0;
}

static struct dims_text text_of(const char *string)
{
	return (struct dims_text){ string, string ? strlen(string) : 0 };
}

static struct fs_names row_of(enum syscall op, int64_t dir, const char *arg_path)
{
	return (struct fs_names){ .op = op,
				  .file = CELL_NULL,
				  .dir = dir,
				  .dir2 = CELL_NULL,
				  .arg_path = text_of(arg_path) };
}

static void assert_path(struct fixture *f, const struct fs_names *row, const char *expected)
{
	struct dims_text path;

	assert_int_equal(path_of_fs_names(f->dims, row, &f->scratch, &path), 0);
	if (!expected) {
		assert_null(path.bytes);
		return;
	}
	assert_non_null(path.bytes);
	assert_int_equal(path.size, strlen(expected));
	assert_memory_equal(path.bytes, expected, path.size);
}

static void the_file_comes_first(void **state)
{
	struct fs_names row = row_of(SYSCALL_openat, ROOT, "elsewhere");

	row.file = DATA;
	assert_path(*state, &row, "/data");
	row.file = UNKNOWN;
	assert_path(*state, &row, "/elsewhere");
}

static void arguments_are_joined_and_not_resolved(void **state)
{
	struct fs_names row;

	row = row_of(SYSCALL_openat, DATA, "a/../b");
	assert_path(*state, &row, "/data/a/../b");
	row = row_of(SYSCALL_openat, ROOT, "etc"); /* no second slash */
	assert_path(*state, &row, "/etc");
	row = row_of(SYSCALL_openat, DATA, "/abs");
	assert_path(*state, &row, "/abs");
	row = row_of(SYSCALL_newfstatat, DATA, "");
	assert_path(*state, &row, "/data");
	row = row_of(SYSCALL_newfstatat, PIPE, "");
	assert_path(*state, &row, "pipe:[7]");
}

static void what_is_not_known_is_null(void **state)
{
	struct fs_names row;

	row = row_of(SYSCALL_stat, CELL_NULL, "relative");
	assert_path(*state, &row, NULL);
	row = row_of(SYSCALL_openat, UNKNOWN, "relative");
	assert_path(*state, &row, NULL);
	row = row_of(SYSCALL_openat, PIPE, "relative");
	assert_path(*state, &row, NULL);
	row = row_of(SYSCALL_close, CELL_NULL, NULL);
	assert_path(*state, &row, NULL);
}

static void of_a_symlink_it_is_the_link(void **state)
{
	struct fs_names row = row_of(SYSCALL_symlinkat, CELL_NULL, "/target");

	assert_path(*state, &row, NULL);
	row.arg_path2 = text_of("link");
	assert_path(*state, &row, NULL);
	row.dir2 = DATA;
	assert_path(*state, &row, "/data/link");
	row.op = SYSCALL_symlink;
	row.arg_path2 = text_of("/abs/link");
	assert_path(*state, &row, "/abs/link");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_comes_first),
		cmocka_unit_test(arguments_are_joined_and_not_resolved),
		cmocka_unit_test(what_is_not_known_is_null),
		cmocka_unit_test(of_a_symlink_it_is_the_link),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
