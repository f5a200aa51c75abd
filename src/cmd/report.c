/* strata report: the models of a run as text, JSON or a page. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report.h"
#include "analyze/why.h"
#include "base/log.h"
#include "base/suggest.h"
#include "cmd/cmd.h"
#include "render/page.h"
#include "render/report.h"

#define DEFAULT_TOP 10

/* The options, filled once by cmd_parse(). */
static struct {
	const char *section, *log, *phase, *html, *svg;
	uint64_t top;
	bool json;
} given;

static const struct option_row report_rows[] = {
	{ 0, "section", OPTION_TEXT, &given.section, "NAME",
	  "print only one section: overview, phases, steps, roles, waits, tasks, ..." },
	{ 0, "top", OPTION_COUNT, &given.top, "N",
	  "rows of each list (default: 10; all with --json)" },
	{ 0, "phase", OPTION_TEXT, &given.phase, "NAME",
	  "report on one phase alone, such as 'epoch 3'" },
	{ 0, "log", OPTION_TEXT, &given.log, "FILE",
	  "take the phases from the :::MLLOG lines of the job's log" },
	{ 0, "html", OPTION_TEXT, &given.html, "FILE",
	  "write the report as a page with the timeline, one file that needs nothing else" },
	{ 0, "svg", OPTION_TEXT, &given.svg, "FILE", "write the timeline as a figure" },
	{ 0, "json", OPTION_FLAG, &given.json, NULL, "print one JSON object" },
	{ 0 },
};

const struct options report_options = {
	.usage = "strata report [options] RUN",
	.summary = "Tell where the time of a run went: phases, tasks, files, devices.",
	.examples = "strata report run.strata\n"
		    "strata report --section files --top 50 run.strata\n"
		    "strata report --log train.log --phase 'epoch 3' run.strata\n"
		    "strata report --html report.html run.strata\n"
		    "strata report --json run.strata | jq .tasks.job_cpu_ns",
	.rows = report_rows,
};

static int report_find_section(const char *name, int *section, struct error *e)
{
	char hint[512];

	*section = SECTION_COUNT;
	for (int i = 0; i < SECTION_COUNT && name; i++)
		if (!strcmp(name, report_sections[i]))
			*section = i;
	if (!name || *section != SECTION_COUNT)
		return 0;
	return error_set(e, -EINVAL, "unknown section '%s', %s", name,
			 suggest_names(hint, sizeof(hint), name, report_sections, SECTION_COUNT));
}

/* What the page is made of. */
struct report_page {
	const struct report *report;
	const struct why *why;
};

static int print_html(const void *data, FILE *out)
{
	const struct report_page *page = data;

	return page_print_html(page->report, page->why, NULL, out);
}

static int print_svg(const void *report, FILE *out)
{
	page_print_svg(report, out);
	return 0;
}

/* The page with the ledger, where the trace can tell. */
static int report_write_page(const struct report *report, const struct trace *trace,
			     const char *run, const struct outfile_inputs *inputs, struct error *e)
{
	struct why_options options = { .focus = CELL_NULL };
	struct report_page page = { report, NULL };
	struct error refused;
	struct why why;
	int err;

	if (!why_load(&why, run, trace->reader, trace->dims, &options, &refused))
		page.why = &why;
	err = cmd_write_file(given.html, inputs, print_html, &page, e);
	why_free(&why);
	return err;
}

static int report_write_files(const struct report *report, const struct trace *trace,
			      const char *run, struct error *e)
{
	const char *const paths[] = { run, given.log };
	struct outfile_inputs inputs = { paths, 2 };
	int err = 0;

	if (given.html)
		err = report_write_page(report, trace, run, &inputs, e);
	if (!err && given.svg)
		err = cmd_write_file(given.svg, &inputs, print_svg, report, e);
	return err;
}

static int report_print(const struct trace *trace, const char *run, int section, struct error *e)
{
	struct report_options options = { .log = given.log,
					  .phase = given.phase,
					  .timeline = given.html || given.svg,
					  .levels = given.json || given.html ||
						    section == SECTION_levels ||
						    section == SECTION_COUNT };
	struct report_style style = { .width = cmd_terminal_width(),
				      .top = given.top ? given.top : DEFAULT_TOP,
				      .section = section };
	struct report report;
	int err;

	err = report_load(&report, run, trace->reader, trace->dims, &options, e);
	if (err)
		return error_add(e, err, "cannot report on trace '%s'", run);
	err = cmd_check_damage(trace, run, e);
	if (!err && options.timeline)
		err = report_write_files(&report, trace, run, e);
	if (!err && given.json)
		report_print_json(&report, given.top ? given.top : SIZE_MAX, stdout);
	else if (!err && (!options.timeline || given.section))
		report_print_text(&report, &style, stdout);
	if (!err && fflush(stdout) && errno != EPIPE)
		err = error_errno(e, "cannot write stdout");
	report_free(&report);
	return err;
}

int cmd_report(int argc, char **argv)
{
	struct arguments arguments;
	struct trace trace = { 0 };
	int status, section;
	struct error e;

	if (!cmd_parse(&report_options, argc, argv, &arguments, &status))
		return status;
	status = CMD_OK;
	if (arguments.count != 1 || arguments.command) {
		error_set(&e, -EINVAL, "report needs one trace");
		status = cmd_usage(argv[0], &e);
	} else if (report_find_section(given.section, &section, &e)) {
		status = cmd_usage(argv[0], &e);
	} else if (cmd_open_trace(&trace, arguments.items[0], &e) ||
		   report_print(&trace, arguments.items[0], section, &e)) {
		status = cmd_fail(&e);
	}
	cmd_close_trace(&trace);
	free(arguments.items);
	return status;
}
