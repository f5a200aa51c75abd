/* strata diff: what changed between two runs. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/diff.h"
#include "analyze/report.h"
#include "analyze/why.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "render/diff.h"
#include "render/page.h"

#define DEFAULT_TOP 10

/* The options, filled once by cmd_parse(). */
static struct {
	const char *phase, *html;
	uint64_t top;
	bool json;
} given;

static const struct option_row diff_rows[] = {
	{ 0, "top", OPTION_COUNT, &given.top, "N",
	  "rows of each list (default: 10; all with --json)" },
	{ 0, "phase", OPTION_TEXT, &given.phase, "NAME",
	  "compare one phase alone, such as 'epoch 3'" },
	{ 0, "html", OPTION_TEXT, &given.html, "FILE",
	  "write the page of B with a section of what changed since A" },
	{ 0, "json", OPTION_FLAG, &given.json, NULL, "print one JSON object" },
	{ 0 },
};

const struct options diff_options = {
	.usage = "strata diff [options] A B",
	.summary = "Tell what changed from run A to run B, and what is only noise.",
	.examples = "strata diff before.strata after.strata\n"
		    "strata diff --json before.strata after.strata | jq '.items[0]'",
	.rows = diff_rows,
};

/* A run with its report. */
struct side {
	const char *path;
	struct trace trace;
	struct report report;
	struct why why;
	bool loaded, judged;
};

/* The ledger is of the whole loop; a trace that cannot tell goes without. */
static void side_judge(struct side *side)
{
	struct why_options options = { .focus = CELL_NULL };
	struct error refused;

	side->judged = !given.phase && !why_load(&side->why, side->path, side->trace.reader,
						 side->trace.dims, &options, &refused);
}

static int side_load(struct side *side, const char *path, struct error *e)
{
	struct report_options options = { .phase = given.phase,
					  .timeline = given.html != NULL,
					  .levels = given.html != NULL };
	int err = cmd_open_trace(&side->trace, path, e);

	side->path = path;
	if (err)
		return err;
	err = report_load(&side->report, path, side->trace.reader, side->trace.dims, &options, e);
	if (err)
		return error_add(e, err, "cannot report on trace '%s'", path);
	side->loaded = true;
	side_judge(side);
	return cmd_check_damage(&side->trace, path, e);
}

static void side_free(struct side *side)
{
	why_free(&side->why);
	if (side->loaded)
		report_free(&side->report);
	cmd_close_trace(&side->trace);
}

/* What the page of a comparison is made of. */
struct diff_page {
	struct page_changes changes;
	const struct report *report;
	const struct why *why;
};

static int print_page(const void *data, FILE *out)
{
	const struct diff_page *page = data;

	return page_print_html(page->report, page->why, &page->changes, out);
}

static int diff_write_page(const struct diff *diff, const struct side *a, const struct side *b,
			   struct error *e)
{
	struct diff_page page = { { diff, &a->report }, &b->report, b->judged ? &b->why : NULL };
	const char *const paths[] = { a->path, b->path };
	struct outfile_inputs inputs = { paths, 2 };

	return cmd_write_file(given.html, &inputs, print_page, &page, e);
}

static int diff_print(const struct side *a, const struct side *b, struct error *e)
{
	struct diff_ledgers ledgers = { a->judged ? &a->why : NULL, b->judged ? &b->why : NULL };
	struct diff diff;
	int err = diff_load(&diff, &a->report, &b->report, &ledgers, e);

	if (err)
		return err;
	if (given.html)
		err = diff_write_page(&diff, a, b, e);
	else if (given.json)
		diff_print_json(&diff, &a->report, &b->report, given.top ? given.top : SIZE_MAX,
				stdout);
	else
		diff_print_text(&diff, &a->report, &b->report, cmd_terminal_width(),
				given.top ? given.top : DEFAULT_TOP, stdout);
	if (!err && fflush(stdout) && errno != EPIPE)
		err = error_errno(e, "cannot write stdout");
	diff_free(&diff);
	return err;
}

int cmd_diff(int argc, char **argv)
{
	struct side a = { 0 }, b = { 0 };
	struct arguments arguments;
	struct error e;
	int status;

	if (!cmd_parse(&diff_options, argc, argv, &arguments, &status))
		return status;
	status = CMD_OK;
	if (arguments.count != 2 || arguments.command) {
		error_set(&e, -EINVAL, "diff needs two traces");
		status = cmd_usage(argv[0], &e);
	} else if (side_load(&a, arguments.items[0], &e) || side_load(&b, arguments.items[1], &e) ||
		   diff_print(&a, &b, &e)) {
		status = cmd_fail(&e);
	}
	side_free(&a);
	side_free(&b);
	free(arguments.items);
	return status;
}
