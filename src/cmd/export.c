/* strata export: a run in the formats of other tools. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "render/export.h"
#include "store/times.h"

/* The options, filled once by cmd_parse(). */
static struct {
	const char *format, *output, *from, *to, *layers, *max_size, *names, *dialect;
	bool raw, csv_safe;
	uint64_t interval;
} given = { .interval = NS_PER_SECOND };

static const struct option_row export_rows[] = {
	{ 'f', "format", OPTION_TEXT, &given.format, "FORMAT",
	  "perfetto, pfw, csv, parquet, classic, trace_visuals, or one classic layout: see the "
	  "man page" },
	{ 'o', "output", OPTION_TEXT, &given.output, "FILE",
	  "where to: a file, a folder for csv, parquet, classic and trace_visuals, - for "
	  "stdout" },
	{ 0, "from", OPTION_TEXT, &given.from, "TIME",
	  "rows with ts from TIME on: since the start (1.5, 200ms) or UTC "
	  "(2026-11-15T03:57:25.5Z)" },
	{ 0, "to", OPTION_TEXT, &given.to, "TIME", "rows with ts up to TIME, that included" },
	{ 'e', "layers", OPTION_TEXT, &given.layers, "LAYERS",
	  "only these layers of what was recorded, separated by commas" },
	{ 0, "max-size", OPTION_TEXT, &given.max_size, "SIZE",
	  "fail past SIZE (perfetto: 512M unless given), 0 for no limit" },
	{ 0, "names", OPTION_TEXT, &given.names, "syscall|libc",
	  "pfw: calls by their own names (the default), or by those of the C library, by which "
	  "DFAnalyzer sorts them" },
	{ 0, "dialect", OPTION_TEXT, &given.dialect, "dftracer|datacrumbs",
	  "pfw: events (the default), or calls counted each interval, as DataCrumbs' notebooks "
	  "read them" },
	{ 0, "interval", OPTION_DURATION, &given.interval, "TIME",
	  "pfw --dialect datacrumbs: time that is counted together (default: 1s)" },
	{ 0, "raw", OPTION_FLAG, &given.raw, NULL,
	  "classic: names as they are, spaces and all, as the old tools printed them" },
	{ 0, "csv-safe", OPTION_FLAG, &given.csv_safe, NULL,
	  "csv: put ' before texts that a spreadsheet would take for a formula" },
	{ 0 },
};

const struct options export_options = {
	.usage = "strata export [options] -f FORMAT [-o FILE] RUN...",
	.summary = "Write a trace in the format of another tool.",
	.examples = "strata export run.strata -f perfetto -o run.pftrace\n"
		    "strata export run.strata -f perfetto --from 10s --to 12s -e sched,io,block\n"
		    "strata export run.strata -f pfw -o run.pfw.gz\n"
		    "strata export run.strata -f classic -o folder",
	.rows = export_rows,
};

/* ---- progress: one line on a terminal, drawn a few times a second ---- */

#define PROGRESS_NS 250000000u

struct progress {
	bool shown;
	uint64_t start, drawn; /* monotonic */
	uint64_t rows, total;
	bool on_line; /* something is drawn */
};

static void progress_clear(struct progress *progress)
{
	if (progress->on_line)
		fputs("\r\033[K", stderr);
	progress->on_line = false;
}

static void progress_draw(struct progress *progress, uint64_t now)
{
	enum { WIDTH = 24 };
	double share = progress->total ? (double)progress->rows / (double)progress->total : 1;
	double seconds = (double)(now - progress->start) / 1e9;
	double rate = seconds > 0 ? (double)progress->rows / seconds : 0;
	char bar[WIDTH + 1], rows[32], left[32];

	if (share > 1)
		share = 1;
	for (unsigned i = 0; i < WIDTH; i++)
		bar[i] = i < (unsigned)(share * WIDTH) ? '#' : '.';
	bar[WIDTH] = 0;
	units_format_count(rows, sizeof(rows), (uint64_t)rate);
	units_format_duration(
		left, sizeof(left),
		rate > 0 && progress->total > progress->rows
			? (uint64_t)((double)(progress->total - progress->rows) / rate * 1e9)
			: 0);
	fprintf(stderr, "\r[%s] %3.0f %%  %s rows/s, %s left\033[K", bar, share * 100, rows, left);
	progress->on_line = true;
}

static void progress_add(void *data, uint64_t rows)
{
	struct progress *progress = data;
	uint64_t now;

	progress->rows += rows;
	if (!progress->shown)
		return;
	now = clock_monotonic();
	if (now - progress->drawn < PROGRESS_NS)
		return;
	progress->drawn = now;
	progress_draw(progress, now);
}

static void progress_note(void *data, const char *text)
{
	progress_clear(data);
	log_info("%s", text);
}

static void progress_warn(void *data, const char *text)
{
	progress_clear(data);
	log_warning("%s", text);
}

/* ---- what to export ---- */

static const struct export_format *export_find_format(void)
{
	const struct export_format *format = NULL;

	if (given.format)
		format = export_format_by_name(given.format);
	if (format)
		return format;
	if (given.format)
		log_error("unknown format '%s', one of:", given.format);
	else
		log_error("export needs a format (-f), one of:");
	for (size_t i = 0; i < export_format_count; i++)
		fprintf(stderr, "  %-12s%s\n", export_formats[i].name, export_formats[i].summary);
	log_error("see 'strata export -h'");
	return NULL;
}

static int export_find_window(struct export_run *run, struct error *e)
{
	int err = times_span(run->reader, run->dims, &run->span, e);

	run->from = 0;
	run->to = UINT64_MAX;
	if (!err && given.from)
		err = times_parse(given.from, run->span.start, run->dims, &run->from, e);
	if (!err && given.to)
		err = times_parse(given.to, run->span.start, run->dims, &run->to, e);
	if (!err && run->from > run->to)
		err = error_set(e, -EINVAL, "--from %s is later than --to %s", given.from,
				given.to);
	return err;
}

/* run.strata -> run.pftrace, or the folder run; the caller frees. */
static char *export_default_output(const char *run, const struct export_format *format)
{
	const char *name = strrchr(run, '/') ? strrchr(run, '/') + 1 : run;
	const char *end = strstr(name, ".strata");
	int length = (int)(end && !end[strlen(".strata")] ? end - name : (long)strlen(name));
	char *output;

	if (asprintf(&output, "%.*s%s%s%s", length, name, format->folder ? "-" : ".",
		     format->folder ? format->name : format->extension, "") < 0)
		return NULL;
	return output;
}

static int export_check_output(const struct export_request *request,
			       const struct export_format *format, struct error *e)
{
	if (format->folder && !strcmp(request->output, "-"))
		return error_set(e, -EINVAL, "%s writes a folder of files: give its name to -o",
				 format->name);
	if (!strcmp(request->output, "-") && !strcmp(format->name, "perfetto") && isatty(1))
		return error_set(e, -EINVAL, "a Perfetto trace is not text: give a file to -o");
	return outfile_check_inputs(request->output, &request->inputs, e);
}

static int export_prepare(struct export_request *request, const struct export_format *format,
			  struct error *e)
{
	request->format = format;
	request->tables = EXPORT_ALL_TABLES;
	request->max_bytes = format->max_bytes;
	request->raw = given.raw;
	request->csv_safe = given.csv_safe;
	if (request->run_count > 1 && !format->merges)
		return error_set(e, -EINVAL, "%s takes one run at a time", format->name);
	if (given.max_size && units_parse_size(given.max_size, &request->max_bytes))
		return error_set(e, -EINVAL, "--max-size %s: not a size, such as 64M or 2G",
				 given.max_size);
	if (given.names && strcmp(given.names, "libc") && strcmp(given.names, "syscall"))
		return error_set(e, -EINVAL, "--names %s: neither syscall nor libc", given.names);
	request->libc_names = given.names && !strcmp(given.names, "libc");
	if (given.dialect && strcmp(given.dialect, "dftracer") &&
	    strcmp(given.dialect, "datacrumbs"))
		return error_set(e, -EINVAL, "--dialect %s: neither dftracer nor datacrumbs",
				 given.dialect);
	if (!given.interval)
		return error_set(e, -EINVAL, "--interval must be more than 0");
	if (given.dialect && !strcmp(given.dialect, "datacrumbs"))
		request->counter_interval = given.interval;
	if (given.layers && export_parse_layers(given.layers, &request->tables, e))
		return -EINVAL;
	return export_check_output(request, format, e);
}

/* ---- doing it ---- */

static void export_tell(const struct export_request *request, const struct export_result *result,
			uint64_t start)
{
	double seconds = (double)(clock_monotonic() - start) / 1e9;
	char rows[32], bytes[32];

	if (!strcmp(request->output, "-"))
		return;
	log_info("%s: %s rows, %s in %.2f s", request->output,
		 units_format_count(rows, sizeof(rows), result->rows),
		 units_format_bytes(bytes, sizeof(bytes), result->bytes), seconds);
}

static int export_write(struct export_request *request, const struct export_format *format,
			struct error *e)
{
	struct progress progress = { .shown = isatty(STDERR_FILENO) && log_level != LOG_QUIET,
				     .start = clock_monotonic() };
	struct export_result result = { 0 };
	int err = export_count_rows(request, &progress.total, e);

	request->progress = progress_add;
	request->note = progress_note;
	request->warn = progress_warn;
	request->data = &progress;
	if (!err)
		err = format->write(request, &result, e);
	progress_clear(&progress);
	request->data = NULL;
	if (!err && *result.damage)
		log_warning("the trace is damaged, exporting what comes before: %s", result.damage);
	if (!err && !result.rows)
		log_info("no rows to export: the file is valid and empty");
	if (!err)
		export_tell(request, &result, progress.start);
	return err;
}

/* Returns the exit status. */
static int export_runs(struct export_request *request, struct export_run *runs,
		       struct trace *traces, const struct export_format *format)
{
	struct error e;
	int err = 0;

	for (size_t i = 0; i < request->run_count && !err; i++) {
		err = cmd_open_trace(&traces[i], runs[i].path, &e);
		if (err)
			return cmd_fail(&e);
		runs[i].reader = traces[i].reader;
		runs[i].dims = traces[i].dims;
		err = export_find_window(&runs[i], &e);
	}
	if (!err)
		err = export_prepare(request, format, &e);
	if (err == -EINVAL)
		return cmd_usage("export", &e);
	if (!err)
		err = export_write(request, format, &e);
	for (size_t i = 0; i < request->run_count && !err; i++)
		err = cmd_check_damage(&traces[i], runs[i].path, &e);
	return err ? cmd_fail(&e) : CMD_OK;
}

int cmd_export(int argc, char **argv)
{
	const struct export_format *format;
	struct export_run *runs = NULL;
	struct trace *traces = NULL;
	struct arguments arguments;
	struct export_request request = { 0 };
	char *output = NULL;
	struct error e;
	int status;

	if (!cmd_parse(&export_options, argc, argv, &arguments, &status))
		return status;
	request.run_count = (size_t)arguments.count;
	format = export_find_format();
	if (!format) {
		status = CMD_USAGE;
		goto out;
	}
	if (!arguments.count || arguments.command) {
		error_set(&e, -EINVAL, "export needs a trace");
		status = cmd_usage("export", &e);
		goto out;
	}
	runs = calloc(request.run_count, sizeof(*runs));
	traces = calloc(request.run_count, sizeof(*traces));
	output = given.output ? strdup(given.output)
			      : export_default_output(arguments.items[0], format);
	if (!runs || !traces || !output) {
		error_set(&e, -ENOMEM, "out of memory");
		status = cmd_fail(&e);
		goto out;
	}
	for (size_t i = 0; i < request.run_count; i++)
		runs[i].path = arguments.items[i];
	request.runs = runs;
	request.inputs = (struct outfile_inputs){ (const char *const *)arguments.items,
						  (size_t)arguments.count };
	request.output = output;
	status = export_runs(&request, runs, traces, format);
	for (size_t i = 0; i < request.run_count; i++)
		cmd_close_trace(&traces[i]);
out:
	free(output);
	free(traces);
	free(runs);
	free(arguments.items);
	return status;
}
