/* Presets: what is shipped can be read, what is said in them holds, and what is wrong is named by its line. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "symbols/pattern.h"
#include "symbols/presets.h"

static struct presets presets;

static int empty(void **state)
{
	(void)state;
	presets_close(&presets);
	presets = (struct presets){ 0 };
	return 0;
}

static int parse(const char *text, struct error *e)
{
	return presets_parse(&presets, text, strlen(text), "own", e);
}

static const struct preset_line *about(const char *module, const char *function,
				       enum preset_kind kind)
{
	for (size_t i = 0; i < presets_count(&presets); i++)
		if (presets_get(&presets, i)->kind == kind &&
		    preset_is_about(presets_get(&presets, i), module, function))
			return presets_get(&presets, i);
	return NULL;
}

static void the_shipped_ones_are_read(void **state)
{
	static const char *const names[] = { "posix", "stdio", "malloc", "mpi",	 "hdf5", "python",
					     "cuda",  "nccl",  "vfs",	 "ext4", "xfs" };
	struct error e = { "" };

	(void)state;
	if (presets_open(&presets, NULL, &e))
		fail_msg("%s", e.text);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		bool there = false;

		for (size_t j = 0; j < presets_count(&presets); j++)
			there |= presets_get(&presets, j)->name &&
				 !strcmp(presets_get(&presets, j)->name, names[i]);
		if (!there)
			fail_msg("@%s is missing", names[i]);
	}
	assert_int_equal(about("libc.so.6", "fread", PRESET_CALLS)->traits.bytes[0].from,
			 FROM_ARG0 + 1);
	assert_int_equal(about("libc.so.6", "fread", PRESET_CALLS)->traits.bytes[1].from,
			 FROM_RETURNED);
	assert_non_null(about("libc.so.6", "qsort", PRESET_CALLBACKS));
	assert_null(about("libm.so.6", "qsort", PRESET_CALLBACKS));
	assert_non_null(about("any", "_setjmp", PRESET_NEVER_RETURN));
	assert_non_null(about("any", "_start", PRESET_NEVER_RETURN));
	assert_null(about("libc.so.6", "read", PRESET_NEVER_RETURN));
}

static void an_own_file_adds_to_them(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(
		parse("# mine\n@mine libx.so*,liby.so*\n  xread xw* bytes=ARG2 # as said\n\n"
		      "callbacks libx.so*\nxwalk\n",
		      &e),
		0);
	assert_int_equal(presets_count(&presets), 2);
	assert_string_equal(presets_get(&presets, 0)->name, "mine");
	assert_int_equal(about("liby.so.1", "xwrite", PRESET_CALLS)->traits.bytes[0].from,
			 FROM_ARG0 + 2);
	assert_int_equal(about("liby.so.1", "xwrite@V1", PRESET_CALLS)->traits.bytes[1].from,
			 FROM_NONE);
	assert_non_null(about("libx.so", "xwalk", PRESET_CALLBACKS));
}

static void assert_source(const struct function_source *source, unsigned from, unsigned as,
			  bool behind, unsigned value)
{
	assert_int_equal(source->from, from);
	assert_int_equal(source->as, as);
	assert_int_equal(source->behind, behind);
	assert_int_equal(source->value, value);
}

static void what_arguments_say_is_read(void **state)
{
	const struct function_traits *traits;
	struct function_traits both = { 0 };
	struct error e;

	(void)state;
	assert_int_equal(
		parse("@mine libx.so\nxsend xs* bytes=ARG1:int*ARG2[24] count=ARG1:int\trank=ARG3  "
		      "path=ARG0\nfunctions libx.so\nxsend bytes=4*ARG5 fd=RETURNED[112]\n",
		      &e),
		0);
	traits = &about("libx.so", "xsend", PRESET_CALLS)->traits;
	assert_string_equal(about("libx.so", "xsend", PRESET_CALLS)->patterns, "xsend xs*");
	assert_source(&traits->bytes[0], FROM_ARG0 + 1, AS_INT, false, 0);
	assert_source(&traits->bytes[1], FROM_ARG0 + 2, AS_WORD, true, 24);
	assert_source(&traits->count, FROM_ARG0 + 1, AS_INT, false, 0);
	assert_source(&traits->rank, FROM_ARG0 + 3, AS_INT, false, 0);
	assert_source(&traits->path, FROM_ARG0, AS_WORD, false, 0);
	traits_take(&both, traits);
	traits_take(&both, &about("libx.so", "xsend", PRESET_TRAITS)->traits);
	assert_source(&both.bytes[0], FROM_NUMBER, AS_WORD, false, 4);
	assert_source(&both.bytes[1], FROM_ARG5, AS_WORD, false, 0);
	assert_source(&both.fd, FROM_RETURNED, AS_INT, true, 112);
	assert_source(&both.rank, FROM_ARG0 + 3, AS_INT, false, 0);
}

static void what_is_wrong_is_named_by_its_line(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(parse("@mine libx.so\nread bytes=ARG9\n", &e), -EINVAL);
	assert_string_equal(e.text,
			    "own, line 2: 'bytes=ARG9': RETURNED, ARG0 to ARG5, a number, or of "
			    "bytes a product of two; then [OFFSET] and :int, :nccl_type or "
			    ":nccl_op");
	assert_int_equal(parse("@mine libx.so\nread size=ARG1\n", &e), -EINVAL);
	assert_string_equal(e.text,
			    "own, line 2: 'size=ARG1': only bytes, count, rank, op, fd, file and "
			    "path are told");
	assert_int_equal(parse("@mine libx.so\nread rank=ARG1*ARG2\n", &e), -EINVAL);
	assert_int_equal(parse("@mine libx.so\nread fd=ARG1[70000]\n", &e), -EINVAL);
	assert_int_equal(parse("@mine libx.so\nread fd=7[1]\n", &e), -EINVAL);
	assert_int_equal(parse("@mine\n", &e), -EINVAL);
	assert_string_equal(e.text, "own, line 1: '@mine' needs the name of a module");
	assert_int_equal(parse("\nread write\n", &e), -EINVAL);
	assert_string_equal(e.text, "own, line 2: 'read' begins no section: @NAME, functions, "
				    "callbacks, never-return or returns");
}

static bool matches(const char *text, const char *name)
{
	struct pattern pattern;
	struct error e;
	bool matched;

	assert_int_equal(pattern_open(&pattern, text, &e), 0);
	matched = pattern_matches(&pattern, name);
	pattern_close(&pattern);
	return matched;
}

static void patterns_are_globs_or_regular_expressions(void **state)
{
	struct pattern pattern;
	struct error e;

	(void)state;
	assert_true(matches("f*", "fread"));
	assert_false(matches("f", "fread"));
	assert_true(matches("/^f(read|write)$/", "fwrite"));
	assert_false(matches("/^f(read|write)$/", "fwrite_unlocked"));
	assert_true(matches("memcpy", "memcpy@GLIBC_2.2.5"));
	assert_false(matches("memcpy@GLIBC_2.14", "memcpy@GLIBC_2.2.5"));
	assert_false(matches("memcpy@*", "memcpy"));
	assert_int_equal(pattern_open(&pattern, "/(/", &e), -EINVAL);
	assert_int_equal(pattern_open(&pattern, "", &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_shipped_ones_are_read, empty),
		cmocka_unit_test_teardown(an_own_file_adds_to_them, empty),
		cmocka_unit_test_teardown(what_arguments_say_is_read, empty),
		cmocka_unit_test_teardown(what_is_wrong_is_named_by_its_line, empty),
		cmocka_unit_test(patterns_are_globs_or_regular_expressions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
