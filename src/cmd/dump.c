/* strata dump: the rows of a table as CSV. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/outfile.h"
#include "base/suggest.h"
#include "cmd/cmd.h"
#include "render/csv.h"
#include "render/rows_csv.h"
#include "schema/shown.h"
#include "store/times.h"

/* The options, filled once by cmd_parse(). */
static struct {
	const char *from, *to, *columns, *output;
	uint64_t limit;
	bool csv_safe;
} given = { .limit = UINT64_MAX };

static const struct option_row dump_rows[] = {
	{ 0, "from", OPTION_TEXT, &given.from, "TIME",
	  "rows with ts from TIME on: since the start (1.5, 200ms) or UTC "
	  "(2026-11-15T03:57:25.5Z)" },
	{ 0, "to", OPTION_TEXT, &given.to, "TIME", "rows with ts up to TIME, that included" },
	{ 0, "limit", OPTION_COUNT, &given.limit, "N", "at most N rows" },
	{ 0, "columns", OPTION_TEXT, &given.columns, "A,B,...",
	  "only these columns, in this order" },
	{ 'o', "output", OPTION_TEXT, &given.output, "FILE", "write to FILE instead of stdout" },
	{ 0, "csv-safe", OPTION_FLAG, &given.csv_safe, NULL,
	  "put ' before texts that a spreadsheet would take for a formula" },
	{ 0 },
};

const struct options dump_options = {
	.usage = "strata dump [options] RUN TABLE",
	.summary = "Print the rows of a table as CSV, in order of time.",
	.examples = "strata dump run.strata io | head\n"
		    "strata dump run.strata fs --from 10s --to 12s --columns ts,comm,op,path\n"
		    "strata dump run.strata io -o io.csv",
	.rows = dump_rows,
};

static int dump_find_table(const char *name, unsigned *table, struct error *e)
{
	const struct schema_table *found = schema_table_by_name(name);
	const char *names[TABLE_COUNT];
	char hint[512];

	if (found) {
		*table = (unsigned)(found - schema_tables);
		return 0;
	}
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		names[i] = schema_tables[i].name;
	return error_set(e, -EINVAL, "unknown table '%s', %s", name,
			 suggest_names(hint, sizeof(hint), name, names, TABLE_COUNT));
}

static int dump_unknown_column(const char *table, const char *name,
			       const struct shown_column *shown, unsigned count, struct error *e)
{
	const char *names[SHOWN_MAX_COLUMNS];
	char hint[512];

	for (unsigned i = 0; i < count; i++)
		names[i] = shown[i].name;
	return error_set(e, -EINVAL, "table '%s' has no column '%s', %s", table, name,
			 suggest_names(hint, sizeof(hint), name, names, count));
}

/* Puts the columns asked for into `out`, which the caller frees. */
static int dump_find_columns(unsigned table, const char *list, struct shown_column **out,
			     unsigned *count, struct error *e)
{
	struct shown_column shown[SHOWN_MAX_COLUMNS];
	unsigned shown_count = shown_columns(&schema_tables[table], shown);
	size_t most = list ? strlen(list) + 1 : shown_count;
	int err = 0;

	*count = 0;
	*out = calloc(most, sizeof(**out));
	if (!*out)
		return error_set(e, -ENOMEM, "out of memory");
	if (!list) {
		memcpy(*out, shown, shown_count * sizeof(*shown));
		*count = shown_count;
		return 0;
	}
	for (;;) {
		size_t length = strcspn(list, ",");
		char name[64];
		unsigned i = 0;

		snprintf(name, sizeof(name), "%.*s", (int)length, list);
		while (i < shown_count && strcmp(shown[i].name, name))
			i++;
		if (i == shown_count) {
			err = dump_unknown_column(schema_tables[table].name, name, shown,
						  shown_count, e);
			break;
		}
		(*out)[(*count)++] = shown[i];
		if (!list[length])
			break;
		list += length + 1;
	}
	return err;
}

static int dump_find_times(const struct trace *trace, struct rows_csv *what, struct error *e)
{
	struct span span;
	int err = 0;

	if (!given.from && !given.to)
		return 0;
	if (schema_tables[what->table].kind == KIND_DIMENSION)
		return error_set(e, -EINVAL, "table '%s' has no ts: --from and --to do not apply",
				 schema_tables[what->table].name);
	err = times_span(trace->reader, trace->dims, &span, e);
	if (!err && given.from)
		err = times_parse(given.from, span.start, trace->dims, &what->from, e);
	if (!err && given.to)
		err = times_parse(given.to, span.start, trace->dims, &what->to, e);
	return err;
}

static int dump_write(const struct trace *trace, const struct rows_csv *what, const char *run,
		      struct error *e)
{
	const char *output = given.output ? given.output : "-";
	struct outfile_inputs inputs = { &run, 1 };
	struct csv csv = { 0 };
	struct outfile file;
	int err;

	err = outfile_open(&file, output, 0666, &inputs, e);
	if (err)
		return err;
	err = csv_open(&csv, file.fd);
	if (err) {
		error_set(e, err, "out of memory");
		goto out;
	}
	csv.no_formulas = given.csv_safe;
	err = rows_csv_write(what, trace->reader, trace->dims, &csv, e);
	if (err == -EBADMSG) { /* a chunk whose checksum holds, but not what it says */
		log_warning("trace '%s' is damaged, showing what comes before: %s", run, e->text);
		err = 0;
	}
	/* A reader that has seen enough, such as head, is no failure. */
	if (!err && csv.error && csv.error != -EPIPE) {
		errno = -csv.error;
		err = error_errno(e, "cannot write '%s'", given.output ? given.output : "stdout");
	}
	if (!err)
		err = outfile_commit(&file, e);
out:
	csv_free(&csv);
	outfile_free(&file);
	return err;
}

/* Returns the exit status. */
static int dump_run(const char *run, struct rows_csv *what)
{
	int status = CMD_OK;
	struct trace trace;
	struct error e;
	int err;

	if (cmd_open_trace(&trace, run, &e))
		return cmd_fail(&e);
	err = dump_find_times(&trace, what, &e);
	if (err == -EINVAL) {
		status = cmd_usage("dump", &e);
		goto out;
	}
	if (!err)
		err = dump_write(&trace, what, run, &e);
	if (!err)
		err = cmd_check_damage(&trace, run, &e);
	if (err)
		status = cmd_fail(&e);
out:
	cmd_close_trace(&trace);
	return status;
}

int cmd_dump(int argc, char **argv)
{
	struct rows_csv what = { .to = UINT64_MAX };
	struct shown_column *columns = NULL;
	struct arguments arguments;
	int status;
	struct error e;
	int err;

	if (!cmd_parse(&dump_options, argc, argv, &arguments, &status))
		return status;
	what.limit = given.limit;
	if (arguments.count != 2 || arguments.command)
		err = error_set(&e, -EINVAL, "dump needs a trace and a table");
	else
		err = dump_find_table(arguments.items[1], &what.table, &e);
	if (!err)
		err = dump_find_columns(what.table, given.columns, &columns, &what.column_count,
					&e);
	what.columns = columns;
	if (err)
		status = err == -EINVAL ? cmd_usage("dump", &e) : cmd_fail(&e);
	else
		status = dump_run(arguments.items[0], &what);
	free(columns);
	free(arguments.items);
	return status;
}
