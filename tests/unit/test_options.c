/* The command line: every accepted form fills its variable, every wrong one is explained. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"

struct fixture {
	const char *output;
	bool force;
	uint64_t duration, size, limit;
	struct option_row rows[6];
	struct options options;
	struct arguments arguments;
	struct error e;
};

static int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct option_row rows[] = {
		{ 'o', "output", OPTION_TEXT, &f->output, "FILE", "write to FILE" },
		{ 'f', "force", OPTION_FLAG, &f->force, NULL, "overwrite FILE" },
		{ 'd', "duration", OPTION_DURATION, &f->duration, "TIME", "stop after TIME" },
		{ 0, "buffer", OPTION_SIZE, &f->size, "SIZE",
		  "a help text that is much too long for one line of a terminal, so that it has to "
		  "go on "
		  "in the next one" },
		{ 0, "limit", OPTION_COUNT, &f->limit, "N", "at most N" },
		{ 0 },
	};

	memcpy(f->rows, rows, sizeof(rows));
	f->options = (struct options){ "strata test [options] RUN\nstrata test -a", "Tests things",
				       "strata test x", f->rows };
	log_level = LOG_NORMAL;
	*state = f;
	return 0;
}

static int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	free(f->arguments.items);
	free(f);
	return 0;
}

#define PARSE(f, ...) parse(f, (char *[]){ "test", __VA_ARGS__, NULL })

static int parse(struct fixture *f, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	free(f->arguments.items);
	f->arguments = (struct arguments){ 0 };
	f->e.text[0] = 0;
	return options_parse(&f->options, argc, argv, &f->arguments, &f->e);
}

static void all_forms_fill_the_variable(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(PARSE(f, "-o", "a"), 0);
	assert_string_equal(f->output, "a");
	assert_int_equal(PARSE(f, "-ob"), 0);
	assert_string_equal(f->output, "b");
	assert_int_equal(PARSE(f, "--output", "c"), 0);
	assert_string_equal(f->output, "c");
	assert_int_equal(PARSE(f, "--output=d=e"), 0);
	assert_string_equal(f->output, "d=e");
	assert_int_equal(PARSE(f, "--output="), 0);
	assert_string_equal(f->output, "");
	assert_false(f->force);
	assert_int_equal(PARSE(f, "-fd2m", "--buffer=64K", "--limit", "7"), 0);
	assert_true(f->force);
	assert_int_equal(f->duration, 120000000000);
	assert_int_equal(f->size, 65536);
	assert_int_equal(f->limit, 7);
}

static void arguments_stand_anywhere(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(PARSE(f, "run", "-f", "table", "-", "-o", "x"), 0);
	assert_int_equal(f->arguments.count, 3);
	assert_string_equal(f->arguments.items[0], "run");
	assert_string_equal(f->arguments.items[1], "table");
	assert_string_equal(f->arguments.items[2], "-");
	assert_null(f->arguments.command);
}

static void all_after_two_dashes_is_the_command(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(PARSE(f, "-f", "--", "ls", "-h", "--", "--nonsense"), 0);
	assert_int_equal(f->arguments.count, 0);
	assert_string_equal(f->arguments.command[0], "ls");
	assert_string_equal(f->arguments.command[1], "-h");
	assert_string_equal(f->arguments.command[2], "--");
	assert_string_equal(f->arguments.command[3], "--nonsense");
	assert_null(f->arguments.command[4]);
	assert_int_equal(PARSE(f, "--"), 0);
	assert_non_null(f->arguments.command);
	assert_null(f->arguments.command[0]);
}

static void wrong_ones_are_explained(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(PARSE(f, "--ouput=x"), -EINVAL);
	assert_string_equal(f->e.text, "unknown option '--ouput', did you mean '--output'?");
	assert_int_equal(PARSE(f, "-x"), -EINVAL);
	assert_string_equal(f->e.text, "unknown option '-x'");
	assert_int_equal(PARSE(f, "-o"), -EINVAL);
	assert_string_equal(f->e.text, "option '-o' needs an argument: FILE");
	assert_int_equal(PARSE(f, "-d", "--", "ls"), -EINVAL);
	assert_string_equal(f->e.text, "option '-d' needs an argument: TIME");
	assert_int_equal(PARSE(f, "--force=yes"), -EINVAL);
	assert_string_equal(f->e.text, "option '--force' takes no argument");
	assert_int_equal(PARSE(f, "--limit", "many"), -EINVAL);
	assert_string_equal(f->e.text, "option '--limit': 'many' is not a whole number");
	assert_int_equal(PARSE(f, "--color", "blue"), -EINVAL);
	assert_string_equal(f->e.text, "option '--color': 'blue' is not auto, always or never");
	assert_null(f->arguments.items);
}

static void common_options_work(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(PARSE(f, "-v"), 0);
	assert_int_equal(log_level, LOG_VERBOSE);
	assert_int_equal(PARSE(f, "-fq"), 0);
	assert_int_equal(log_level, LOG_QUIET);
	assert_int_equal(PARSE(f, "-h"), OPTIONS_HELP);
	assert_int_equal(PARSE(f, "x", "--help", "--nonsense"), OPTIONS_HELP);
	assert_int_equal(PARSE(f, "-V"), OPTIONS_VERSION);
	assert_int_equal(PARSE(f, "--version"), OPTIONS_VERSION);
	assert_int_equal(PARSE(f, "--color=always"), 0);
	assert_true(log_color(-1));
	assert_int_equal(PARSE(f, "--color=never"), 0);
	assert_false(log_color(-1));
	assert_int_equal(PARSE(f, "--color=auto"), 0);
}

static void help_is_aligned_and_narrow(void **state)
{
	struct fixture *f = *state;
	char *help = options_help(&f->options);

	assert_non_null(help);
	assert_ptr_equal(strstr(help, "Usage: strata test [options] RUN\n"
				      "       strata test -a\n\nTests things\n\n"
				      "Examples:\n  strata test x\n\nOptions:\n"
				      "  -o, --output FILE       write to FILE\n"),
			 help);
	assert_non_null(strstr(help, "      --limit N           at most N\n"));
	assert_non_null(strstr(help, "  -h, --help              print this help\n"));
	assert_non_null(strstr(help, "so that it\n                          has to go on"));
	for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 100);
	free(help);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(all_forms_fill_the_variable),
		TEST(arguments_stand_anywhere),
		TEST(all_after_two_dashes_is_the_command),
		TEST(wrong_ones_are_explained),
		TEST(common_options_work),
		TEST(help_is_aligned_and_narrow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
