/* Words quoted for a shell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/quote.h"

static void assert_quoted(const char *word, size_t size, const char *expected)
{
	struct buf out = { 0 };

	assert_int_equal(quote_word(&out, word, size), 0);
	assert_int_equal(out.size, strlen(expected));
	assert_memory_equal(out.data, expected, out.size);
	buf_free(&out);
}

static void plain_words_stay(void **state)
{
	(void)state;
	assert_quoted("train.py", 8, "train.py");
	assert_quoted("--lr=1e-3", 9, "--lr=1e-3");
}

static void others_are_quoted(void **state)
{
	(void)state;
	assert_quoted("", 0, "''");
	assert_quoted("a b", 3, "'a b'");
	assert_quoted("$HOME", 5, "'$HOME'");
	assert_quoted("it's", 4, "'it'\\''s'");
	assert_quoted("back\\slash", 10, "'back\\slash'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_words_stay),
		cmocka_unit_test(others_are_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
