/* JSON: nesting and commas are right, and any bytes give a valid document. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "render/json.h"

static void nesting_and_commas(void **state)
{
	char *text = NULL;
	size_t size = 0;
	struct json json = { .out = open_memstream(&text, &size) };

	(void)state;
	json_open(&json, NULL, '{');
	json_uint(&json, "a", UINT64_MAX);
	json_open(&json, "empty", '[');
	json_close(&json);
	json_open(&json, "list", '[');
	json_int(&json, NULL, -1);
	json_real(&json, NULL, 0.1);
	json_real(&json, NULL, NAN);
	json_close(&json);
	json_bool(&json, "b", true);
	json_string(&json, "s", NULL);
	json_close(&json);
	fclose(json.out);
	assert_string_equal(text, "{\n"
				  "  \"a\": 18446744073709551615,\n"
				  "  \"empty\": [],\n"
				  "  \"list\": [\n"
				  "    -1,\n"
				  "    0.1,\n"
				  "    null\n"
				  "  ],\n"
				  "  \"b\": true,\n"
				  "  \"s\": null\n"
				  "}\n");
	free(text);
}

static void assert_quoted(const char *bytes, size_t length, const char *expected)
{
	char *text = NULL;
	size_t size = 0;
	struct json json = { .out = open_memstream(&text, &size) };

	json_text(&json, NULL, bytes, length);
	fclose(json.out);
	assert_string_equal(text, expected);
	free(text);
}

static void any_byte_is_escaped(void **state)
{
	(void)state;
	assert_quoted("plain \xe2\x82\xac", 9, "\"plain \xe2\x82\xac\"");
	assert_quoted("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
	assert_quoted("\0\n\033\177", 4, "\"\\u0000\\u000a\\u001b\\u007f\"");
	assert_quoted("\xff", 1, "\"\\\\xff\"");
	assert_quoted("\xed\xa0\x80", 3, "\"\\\\xed\\\\xa0\\\\x80\"");
	assert_quoted("", 0, "\"\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nesting_and_commas),
		cmocka_unit_test(any_byte_is_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
