/* What the subcommands share: their entry points, how they take options and how they end.
 *
 * A command gets its own name as argv[0] and returns the exit status of strata: 0, 1 after a
 * failure, 2 after wrong usage.
 */
#ifndef STRATA_CMD_CMD_H
#define STRATA_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "base/options.h"
#include "base/outfile.h"
#include "store/dims.h"
#include "store/reader.h"

enum { CMD_OK = 0, CMD_FAILURE = 1, CMD_USAGE = 2 };

int cmd_record(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_sql(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_stat(int argc, char **argv);

extern const struct options record_options, info_options, dump_options, mark_options;
extern const struct options sql_options, export_options, report_options, diff_options, why_options;
extern const struct options doctor_options, stat_options;

/* Prints the failure and returns CMD_FAILURE. */
int cmd_fail(const struct error *e);

/* Prints what is wrong with the usage and where help is, and returns CMD_USAGE. */
int cmd_usage(const char *name, const struct error *e);

int cmd_print_help(const struct options *options);
int cmd_print_version(void);

/* Columns of the terminal behind stdout, 120 when it is none. */
unsigned cmd_terminal_width(void);

/* Parses the options, and answers -h, -V and wrong ones itself: then it returns false, and *status
 * is what the command returns. After true the caller frees arguments->items. */
bool cmd_parse(const struct options *options, int argc, char **argv, struct arguments *arguments,
	       int *status);

/* Writes a file with what `print` puts out (0 or -errno); it appears whole or not at all. */
int cmd_write_file(const char *path, const struct outfile_inputs *inputs,
		   int (*print)(const void *data, FILE *out), const void *data, struct error *e);

/* A trace and its dimensions, opened together. */
struct trace {
	struct reader *reader;
	struct dims *dims;
};

int cmd_open_trace(struct trace *trace, const char *path, struct error *e);
void cmd_close_trace(struct trace *trace);

/* Called after reading: warns of damage on stderr. A damaged trace in which nothing at all is
 * readable is a failure. */
int cmd_check_damage(const struct trace *trace, const char *path, struct error *e);

#endif
