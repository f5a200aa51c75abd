/* Every style: what each kind of byte becomes, and that a small room cuts nothing in two. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

/* A letter, one that turns the direction of the text, quotes, a backslash, marks of other languages, controls, a C1 control, a letter of two bytes, NUL, and bytes
 * that are no UTF-8: alone, cut short at the end. */
static const char text[] = "a\xe2\x80\xae\"'\\,|<>& \n\x1b\x7f\xc2\x9b\xc3\xa9\0\xff-\xe2\x82";
#define TEXT_SIZE (sizeof(text) - 1)

static const struct {
	enum escape_style style;
	const char *expected;
	size_t size; /* 0: to the end of the string */
} cases[] = {
	{ ESCAPE_SHOWN,
	  "a\xe2\x80\xae\"'\\x5c,|<>& \n\x1b\x7f\xc2\x9b\xc3\xa9\\x00\\xff-\\xe2\\x82", 0 },
	{ ESCAPE_CSV,
	  "a\xe2\x80\xae\"\"'\\x5c,|<>& \n\x1b\x7f\xc2\x9b\xc3\xa9\\x00\\xff-\\xe2\\x82", 0 },
	{ ESCAPE_CSV_SHOWN, "a\xe2\x80\xae\"\"'\\,|<>& \n\x1b\x7f\xc2\x9b\xc3\xa9\0\xff-\xe2\x82",
	  TEXT_SIZE + 1 },
	{ ESCAPE_FIELD,
	  "a\\xe2\\x80\\xae\"'\\x5c,|<>&\\x20\\x0a\\x1b\\x7f\\xc2\\x9b\xc3\xa9\\x00\\xff-"
	  "\\xe2\\x82",
	  0 },
	{ ESCAPE_JSON,
	  "a\\u202e\\\"'\\\\,|<>& "
	  "\\u000a\\u001b\\u007f\\u009b\xc3\xa9\\u0000\\\\xff-\\\\xe2\\\\x82",
	  0 },
	{ ESCAPE_JSON_SHOWN,
	  "a\\u202e\\\"'\\\\x5c,|<>& "
	  "\\u000a\\u001b\\u007f\\u009b\xc3\xa9\\\\x00\\\\xff-\\\\xe2\\\\x82",
	  0 },
	{ ESCAPE_TERMINAL,
	  "a\\xe2\\x80\\xae\"'\\,|<>& \\x0a\\x1b\\x7f\\xc2\\x9b\xc3\xa9\\x00\\xff-\\xe2\\x82", 0 },
	{ ESCAPE_XML,
	  "a\\xe2\\x80\\xae&#34;&#39;\\,|&#60;&#62;&#38; "
	  "\\x0a\\x1b\\x7f\\xc2\\x9b\xc3\xa9\\x00\\xff-\\xe2\\x82",
	  0 },
	{ ESCAPE_SCRIPT, "a\xe2\x80\xae\"'\\,|\\u003c>& \n\x1b\x7f\xc2\x9b\xc3\xa9\0\xff-\xe2\x82",
	  TEXT_SIZE + 5 },
	{ ESCAPE_MARKDOWN, "a\xe2\x80\xae\"'\\,\\|<>& \n\x1b\x7f\xc2\x9b\xc3\xa9\0\xff-\xe2\x82",
	  TEXT_SIZE + 1 },
	{ ESCAPE_SHELL, "a\xe2\x80\xae\"'\\''\\,|<>& \n\x1b\x7f\xc2\x9b\xc3\xa9\0\xff-\xe2\x82",
	  TEXT_SIZE + 3 },
	{ ESCAPE_SQL, "a\xe2\x80\xae\"''\\,|<>& \n\x1b\x7f\xc2\x9b\xc3\xa9\0\xff-\xe2\x82",
	  TEXT_SIZE + 1 },
	{ ESCAPE_CSV_TERMINAL,
	  "a\\xe2\\x80\\xae\"\"'\\x5c,|<>& \\x0a\\x1b\\x7f\\xc2\\x9b\xc3\xa9\\x00\\xff-\\xe2\\x82",
	  0 },
	{ ESCAPE_CSV_SHOWN_TERMINAL,
	  "a\\xe2\\x80\\xae\"\"'\\,|<>& \\x0a\\x1b\\x7f\\xc2\\x9b\xc3\xa9\\x00\\xff-\\xe2\\x82",
	  0 },
	{ ESCAPE_MESSAGE,
	  "a\\xe2\\x80\\xae\"'\\,|<>& \n\\x1b\\x7f\\xc2\\x9b\xc3\xa9\\x00\\xff-\\xe2\\x82", 0 },
	{ ESCAPE_JSON_WHOLE,
	  "a\\u202e\"'\\,|<>& \n\\u001b\\u007f\\u009b\xc3\xa9\\u0000\\\\xff-\\\\xe2\\\\x82", 0 },
};

#define CASES (sizeof(cases) / sizeof(*cases))

static size_t expected_size(size_t i)
{
	return cases[i].size ? cases[i].size : strlen(cases[i].expected);
}

static void each_style_has_its_escapes(void **state)
{
	(void)state;
	assert_int_equal(CASES, ESCAPE_STYLE_COUNT);
	for (size_t i = 0; i < CASES; i++) {
		struct buf out = { 0 };

		assert_int_equal(buf_append(&out, ">", 1), 0);
		assert_int_equal(escape_append(&out, cases[i].style, text, TEXT_SIZE), 0);
		assert_int_equal(out.size, 1 + expected_size(i));
		assert_memory_equal(out.data + 1, cases[i].expected, out.size - 1);
		assert_false(escape_is_plain(cases[i].style, text, TEXT_SIZE));
		buf_free(&out);
	}
}

static void a_stream_gets_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		char *memory = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&memory, &size);

		escape_print(out, cases[i].style, text, TEXT_SIZE);
		assert_int_equal(fclose(out), 0);
		assert_int_equal(size, expected_size(i));
		assert_memory_equal(memory, cases[i].expected, size);
		free(memory);
	}
}

/* Whatever the room, the pieces make the whole, and each piece ends between characters and escapes. */
static void a_small_room_cuts_nothing_in_two(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++)
		for (size_t room = ESCAPE_MOST; room < 20; room++) {
			struct escape_text left = { text, TEXT_SIZE };
			char whole[256], *at = whole;

			while (left.size) {
				char *end = escape_some(cases[i].style, &left, at, room);
				struct buf rest = { 0 };

				assert_true(end > at && (size_t)(end - at) <= room);
				assert_int_equal(
					escape_append(&rest, cases[i].style, left.bytes, left.size),
					0);
				assert_int_equal((size_t)(end - whole) + rest.size,
						 expected_size(i));
				at = end;
				buf_free(&rest);
			}
			assert_memory_equal(whole, cases[i].expected, expected_size(i));
		}
}

static void plain_text_stays(void **state)
{
	static const char plain[] = "/data/caf\xc3\xa9/\xe2\x82\xac-1.txt";

	(void)state;
	assert_true(escape_is_plain(ESCAPE_SHOWN, plain, strlen(plain)));
	assert_true(escape_is_plain(ESCAPE_JSON_SHOWN, plain, strlen(plain)));
	assert_true(escape_is_plain(ESCAPE_SHOWN, "", 0));
	assert_false(escape_is_plain(ESCAPE_SHOWN, plain, strlen("/data/caf") + 1));
	assert_false(escape_is_plain(ESCAPE_TERMINAL, "\xc2\x80", 2));
	assert_true(escape_is_plain(ESCAPE_TERMINAL, "\xc2\xa0", 2));
}

static void quotes_are_asked_for_where_they_are_needed(void **state)
{
	(void)state;
	assert_true(escape_needs_quotes(ESCAPE_CSV, "", 0));
	assert_true(escape_needs_quotes(ESCAPE_CSV, "a,b", 3));
	assert_true(escape_needs_quotes(ESCAPE_CSV, "\"", 1));
	assert_false(escape_needs_quotes(ESCAPE_CSV, "a b\\\xff", 5));
	assert_false(escape_needs_quotes(ESCAPE_SHELL, "az-AZ_09=+./,:@%^", 17));
	for (const char *at = " !\"#$&'()*;<>?[\\]`{|}~\x7f\xff\n"; *at; at++)
		assert_true(escape_needs_quotes(ESCAPE_SHELL, at, 1));
	assert_true(escape_needs_quotes(ESCAPE_SHELL, "\0", 1));
}

/* Escapes of a text of one kind of byte are all as long as can be. */
static void the_longest_escapes_have_room(void **state)
{
	char input[1000];

	(void)state;
	for (unsigned style = 0; style < ESCAPE_STYLE_COUNT; style++)
		for (unsigned byte = 0; byte < 256; byte++) {
			struct buf out = { 0 };

			memset(input, (int)byte, sizeof(input));
			assert_int_equal(escape_append(&out, style, input, sizeof(input)), 0);
			assert_true(out.size <= sizeof(input) * ESCAPE_MOST);
			assert_int_equal(out.size % sizeof(input), 0);
			buf_free(&out);
		}
}

static void a_full_buffer_keeps_what_it_held(void **state)
{
	struct buf out = { .limit = 20 };

	(void)state;
	assert_int_equal(buf_append(&out, "held", 4), 0);
	assert_int_equal(escape_append(&out, ESCAPE_SHOWN, "\xff\xff\xff\xff\xff\xff\xff", 7),
			 -ENOMEM);
	assert_int_equal(out.size, 4);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_style_has_its_escapes),
		cmocka_unit_test(a_stream_gets_the_same),
		cmocka_unit_test(a_small_room_cuts_nothing_in_two),
		cmocka_unit_test(plain_text_stays),
		cmocka_unit_test(quotes_are_asked_for_where_they_are_needed),
		cmocka_unit_test(the_longest_escapes_have_room),
		cmocka_unit_test(a_full_buffer_keeps_what_it_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
