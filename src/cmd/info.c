/* strata info: what a trace holds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/summary.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "render/summary.h"

/* The options, filled once by cmd_parse(). */
static struct {
	bool json;
} given;

static const struct option_row info_rows[] = {
	{ 0, "json", OPTION_FLAG, &given.json, NULL, "print one JSON object" },
	{ 0 },
};

const struct options info_options = {
	.usage = "strata info [options] RUN",
	.summary = "Show what a trace holds: host, command, layers, rows, losses, times.",
	.examples = "strata info run.strata\n"
		    "strata info --json run.strata | jq .tables.io.rows",
	.rows = info_rows,
};

static int info_print(const struct trace *trace, const char *run, struct error *e)
{
	struct summary summary;
	int err;

	err = summary_load(&summary, run, trace->reader, trace->dims, e);
	if (err)
		return error_add(e, err, "cannot read trace '%s'", run);
	err = cmd_check_damage(trace, run, e);
	if (err)
		goto out;
	if (summary.state == SUMMARY_LIVE)
		log_info("trace '%s' is still being recorded", run);
	else if (summary.state == SUMMARY_KILLED)
		log_info("trace '%s' is incomplete: its recorder was killed", run);
	else if (summary.state == SUMMARY_UNWRITTEN)
		log_info("trace '%s' is incomplete: %s", run, summary.stop_reason);
	if (given.json)
		summary_print_json(&summary, stdout);
	else
		summary_print_text(&summary, stdout);
	if (fflush(stdout) && errno != EPIPE)
		err = error_errno(e, "cannot write stdout");
out:
	summary_free(&summary);
	return err;
}

int cmd_info(int argc, char **argv)
{
	struct arguments arguments;
	struct trace trace = { 0 };
	struct error e;
	int status;

	if (!cmd_parse(&info_options, argc, argv, &arguments, &status))
		return status;
	status = CMD_OK;
	if (arguments.count != 1 || arguments.command) {
		error_set(&e, -EINVAL, "info needs one trace");
		status = cmd_usage(argv[0], &e);
	} else if (cmd_open_trace(&trace, arguments.items[0], &e) ||
		   info_print(&trace, arguments.items[0], &e)) {
		status = cmd_fail(&e);
	}
	cmd_close_trace(&trace);
	free(arguments.items);
	return status;
}
