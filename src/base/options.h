/* Command-line options as a table beside the variables they fill.
 *
 *     const struct option_row rows[] = {
 *             { 'o', "output", OPTION_TEXT, &output, "FILE", "write the trace to FILE" },
 *             { 0, "force", OPTION_FLAG, &force, NULL, "overwrite FILE" },
 *             { 0 },
 *     };
 *
 * Options may stand before or after arguments, up to `--`. Accepted forms: -o FILE, -oFILE, -qv
 * (flags together), --output FILE, --output=FILE. A misspelt long option is answered with the
 * nearest name.
 */
#ifndef STRATA_BASE_OPTIONS_H
#define STRATA_BASE_OPTIONS_H

#include "base/error.h"

#define OPTION_TEXTS_MOST 63

enum option_kind {
	OPTION_FLAG,	 /* bool: set to true */
	OPTION_TEXT,	 /* const char *: the last one given holds */
	OPTION_TEXTS,	 /* const char *[OPTION_TEXTS_MOST + 1]: all that are given, then NULL */
	OPTION_DURATION, /* uint64_t nanoseconds: 500ms, 30s, 2m, 1h; a bare number is seconds */
	OPTION_SIZE,	 /* uint64_t bytes: 512, 64K, 8M, 1G (powers of two) */
	OPTION_COUNT,	 /* uint64_t: a whole number */
};

struct option_row {
	char letter;	  /* 0: none */
	const char *name; /* NULL: none; both none ends the table */
	enum option_kind kind;
	void *value;
	const char *argument; /* the argument's name in help, NULL for a flag */
	const char *help;
};

struct options {
	const char *usage;    /* one or more lines: "strata dump [options] RUN TABLE" */
	const char *summary;  /* what the command does, one line */
	const char *examples; /* lines to copy, or NULL */
	const struct option_row *rows;
};

struct arguments {
	char **items; /* what is neither option nor option argument; points into argv, caller frees the array */
	int count;
	char **command; /* what followed `--`: a NULL-terminated tail of argv, or NULL without `--` */
};

/* Fills the variables of the table. Every command also takes -q/--quiet, -v/--verbose and --color
 * WHEN, which set the log level and colour of base/log.h, and -h/--help and -V/--version. Returns
 * 0, OPTIONS_HELP or OPTIONS_VERSION when those were asked for (nothing printed), -EINVAL or
 * -ENOMEM. Only with 0 is there something to free. */
#define OPTIONS_HELP	1
#define OPTIONS_VERSION 2
int options_parse(const struct options *options, int argc, char **argv, struct arguments *arguments,
		  struct error *e);

/* The text of -h: usage, summary, examples, then one aligned line an option; fits 100 columns. The
 * caller frees it. NULL when out of memory. */
char *options_help(const struct options *options);

#endif
