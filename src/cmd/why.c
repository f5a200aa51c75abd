/* strata why: every nanosecond of the thread that trains, charged to one cause. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/why.h"
#include "cmd/cmd.h"
#include "render/why.h"

#define LEDGER_LINES 6 /* and one for what is left */

/* The options, filled once by cmd_parse(). */
static struct {
	uint64_t focus, explain;
	bool json;
} given;

static const struct option_row why_rows[] = {
	{ 0, "focus", OPTION_COUNT, &given.focus, "TID",
	  "the thread to judge (default: the main thread of the main process)" },
	{ 0, "explain", OPTION_COUNT, &given.explain, "N",
	  "open line N of the ledger: its chain, files and rows" },
	{ 0, "json", OPTION_FLAG, &given.json, NULL, "print one JSON object" },
	{ 0 },
};

const struct options why_options = {
	.usage = "strata why [options] RUN",
	.summary = "Charge every nanosecond of a training loop to one cause.",
	.examples = "strata why run.strata\n"
		    "strata why --explain 1 run.strata\n"
		    "strata why --focus 4711 run.strata\n"
		    "strata why --json run.strata | jq .verdict",
	.rows = why_rows,
};

static int print_why(const struct why *why, struct error *e)
{
	struct why_style style = { .width = cmd_terminal_width(),
				   .lines = LEDGER_LINES,
				   .explain = given.explain };

	if (given.explain > why->ledger.sum_count)
		return error_set(e, -EINVAL, "the ledger has %zu lines", why->ledger.sum_count);
	if (given.json)
		why_print_json(why, stdout);
	else
		why_print_text(why, &style, stdout);
	if (fflush(stdout) && errno != EPIPE)
		return error_errno(e, "cannot write stdout");
	return 0;
}

static int judge_run(const struct trace *trace, const char *run, bool *judged, struct error *e)
{
	struct why_options options = { .focus = given.focus ? (int64_t)given.focus : CELL_NULL };
	struct why why;
	int err = why_load(&why, run, trace->reader, trace->dims, &options, e);

	if (err)
		error_add(e, err, "cannot judge '%s'", run);
	else
		err = cmd_check_damage(trace, run, e);
	if (!err)
		err = print_why(&why, e);
	*judged = !err && !why.verdict.refused;
	why_free(&why);
	return err;
}

int cmd_why(int argc, char **argv)
{
	struct arguments arguments;
	struct trace trace = { 0 };
	bool judged = false;
	struct error e;
	int status;

	if (!cmd_parse(&why_options, argc, argv, &arguments, &status))
		return status;
	if (arguments.count != 1 || arguments.command) {
		error_set(&e, -EINVAL, "why needs one trace");
		status = cmd_usage(argv[0], &e);
	} else if (cmd_open_trace(&trace, arguments.items[0], &e) ||
		   judge_run(&trace, arguments.items[0], &judged, &e)) {
		status = cmd_fail(&e);
	} else {
		status = judged ? CMD_OK : CMD_FAILURE;
	}
	cmd_close_trace(&trace);
	free(arguments.items);
	return status;
}
