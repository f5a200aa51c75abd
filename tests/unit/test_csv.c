/* CSV: what is written reads back as what was meant, whatever bytes a name holds. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "render/csv.h"

struct fixture {
	struct csv csv;
	FILE *file;
	char *written;
};

static int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->file = tmpfile();
	assert_non_null(f->file);
	assert_int_equal(csv_open(&f->csv, fileno(f->file)), 0);
	*state = f;
	return 0;
}

static int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	csv_free(&f->csv);
	fclose(f->file);
	free(f->written);
	free(f);
	return 0;
}

/* What was written since the last call, with its length. */
static const char *flushed(struct fixture *f, size_t *size)
{
	ssize_t got;
	long end;

	assert_int_equal(csv_flush(&f->csv), 0);
	end = lseek(f->csv.fd, 0, SEEK_END);
	free(f->written);
	f->written = calloc(1, (size_t)end + 1);
	got = pread(f->csv.fd, f->written, (size_t)end, 0);
	assert_int_equal(got, end);
	assert_int_equal(ftruncate(f->csv.fd, 0), 0);
	lseek(f->csv.fd, 0, SEEK_SET);
	*size = (size_t)got;
	return f->written;
}

static void assert_text(struct fixture *f, const char *bytes, size_t size, const char *expected)
{
	size_t length;

	csv_text(&f->csv, bytes, size);
	csv_end_row(&f->csv);
	flushed(f, &length);
	assert_int_equal(f->written[length - 1], '\n');
	f->written[length - 1] = 0;
	assert_string_equal(f->written, expected);
}

static void numbers_and_nulls(void **state)
{
	struct fixture *f = *state;
	size_t size;

	csv_uint(&f->csv, 0);
	csv_uint(&f->csv, UINT64_MAX);
	csv_int(&f->csv, INT64_MIN);
	csv_int(&f->csv, -4);
	csv_null(&f->csv);
	csv_bool(&f->csv, true);
	csv_bool(&f->csv, false);
	csv_null(&f->csv);
	csv_end_row(&f->csv);
	csv_int(&f->csv, 109);
	csv_end_row(&f->csv);
	assert_string_equal(flushed(f, &size),
			    "0,18446744073709551615,-9223372036854775808,-4,,true,false,\n109\n");
}

static void reals_are_short_and_exact(void **state)
{
	static const double values[] = { 0, 0.1, 1.0 / 3, 12.5, DBL_MAX, DBL_MIN, 5e-324, -99.99 };
	struct fixture *f = *state;
	size_t size;

	csv_real(&f->csv, 0.1);
	csv_real(&f->csv, 100);
	csv_end_row(&f->csv);
	assert_string_equal(flushed(f, &size), "0.1,100\n");
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		csv_real(&f->csv, values[i]);
		csv_end_row(&f->csv);
		assert_true(strtod(flushed(f, &size), NULL) == values[i]);
	}
}

static void text_is_quoted_only_when_it_must_be(void **state)
{
	struct fixture *f = *state;

	assert_text(f, "/data/x y", 9, "/data/x y");
	assert_text(f, "", 0, "\"\"");
	assert_text(f, "a,b", 3, "\"a,b\"");
	assert_text(f, "a\"b", 3, "\"a\"\"b\"");
	assert_text(f, "a\nb\r", 4, "\"a\nb\r\"");
	assert_text(f, "a\tb\033", 4, "a\tb\033");
}

static void bytes_that_are_not_text_are_shown(void **state)
{
	struct fixture *f = *state;

	assert_text(f, "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 14,
		    "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	assert_text(f, "a\\b", 3, "a\\x5cb");
	assert_text(f, "a\0b", 3, "a\\x00b");
	assert_text(f, "\xff\xfe,", 3, "\"\\xff\\xfe,\"");
	assert_text(f, "\xc3", 1, "\\xc3");			       /* cut short */
	assert_text(f, "\xc0\xaf", 2, "\\xc0\\xaf");		       /* overlong */
	assert_text(f, "\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf");	       /* overlong */
	assert_text(f, "\xed\xa0\x80", 3, "\\xed\\xa0\\x80");	       /* a surrogate */
	assert_text(f, "\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"); /* past U+10FFFF */
}

static void cells_longer_than_the_buffer_arrive_whole(void **state)
{
	struct fixture *f = *state;
	size_t size = 1000000, written;
	char *text = malloc(size);

	for (size_t i = 0; i < size; i++)
		text[i] = (char)('a' + i % 26);
	for (int i = 0; i < 3; i++)
		csv_text(&f->csv, text, size);
	csv_end_row(&f->csv);
	flushed(f, &written);
	assert_int_equal(written, 3 * size + 3);
	assert_memory_equal(f->written, text, size);
	assert_memory_equal(f->written + 2 * (size + 1), text, size);
	free(text);
}

static void a_failed_write_is_kept(void **state)
{
	int fd = open("/dev/full", O_WRONLY);
	struct csv csv;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(csv_open(&csv, fd), 0);
	csv_uint(&csv, 1);
	assert_int_equal(csv_flush(&csv), -ENOSPC);
	csv_uint(&csv, 2);
	assert_int_equal(csv_flush(&csv), -ENOSPC);
	csv_free(&csv);
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(numbers_and_nulls),
		TEST(reals_are_short_and_exact),
		TEST(text_is_quoted_only_when_it_must_be),
		TEST(bytes_that_are_not_text_are_shown),
		TEST(cells_longer_than_the_buffer_arrive_whole),
		cmocka_unit_test(a_failed_write_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
