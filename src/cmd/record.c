/* strata record: from options to what a session is to do; record_run.c does it. */
#include "cmd/cmd.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/suggest.h"
#include "base/units.h"
#include "capture/layers_open.h"
#include "capture/rights.h"
#include "capture/follow.h"
#include "capture/session.h"
#include "cmd/layers.h"
#include "cmd/list_calls.h"
#include "cmd/record_run.h"
#include "probes/inprocess.h"

#define MOST_PIDS  4096
#define MOST_CALLS 64 /* --call options, and a NULL behind them */

static struct record_options_values {
	const char *output, *layers, *pids, *scope, *until, *start, *user, *comm, *cgroup,
		*container, *path, *log;
	bool all, force, drop_caches, redact_args, rotate, no_gpu_ops;
	const char *list_calls, *presets, *calls[MOST_CALLS];
	bool call_returns, inprocess;
	uint64_t duration, interval, buffer, max_size, max_time, call_limit, aggregate, min_dur;
} given = { .interval = NS_PER_SECOND, .call_limit = CALLS_LIMIT };

static const struct option_row rows[] = {
	{ 'o', "output", OPTION_TEXT, &given.output, "FILE",
	  "trace file to write (strata-<command>-<time>.strata)" },
	{ 0, "force", OPTION_FLAG, &given.force, NULL, "replace FILE if it exists" },
	{ 'p', "pid", OPTION_TEXT, &given.pids, "PID,...",
	  "attach to these processes and their children until they exit, or Ctrl-C" },
	{ 'a', "all", OPTION_FLAG, &given.all, NULL,
	  "record the whole machine until Ctrl-C or -d" },
	{ 'e', "events", OPTION_TEXT, &given.layers, "LAYERS",
	  "layers to record, separated by commas; `-e list` tells what there is" },
	{ 0, "scope", OPTION_TEXT, &given.scope, "job|all",
	  "whose events: the job's, or everybody's, in every layer" },
	{ 0, "comm", OPTION_TEXT, &given.comm, "NAME", "only threads of this name" },
	{ 0, "cgroup", OPTION_TEXT, &given.cgroup, "PATH",
	  "only threads in this cgroup or below it" },
	{ 0, "container", OPTION_TEXT, &given.container, "WHICH",
	  "only threads in this container (id, name, PID); alone: until it ends" },
	{ 0, "path", OPTION_TEXT, &given.path, "PREFIX", "only files whose path begins so" },
	{ 0, "call", OPTION_TEXTS, given.calls, "WHAT",
	  "trace functions: libc.so.6:read,f*, exe:/regex/, kernel:vfs_*, usdt:exe:*" },
	{ 0, "list-calls", OPTION_TEXT, &given.list_calls, "WHAT",
	  "print what --call would trace, and what a probe of each costs" },
	{ 0, "call-returns", OPTION_FLAG, &given.call_returns, NULL,
	  "return probes on C++ too: an exception there ends the program" },
	{ 0, "inprocess", OPTION_FLAG, &given.inprocess, NULL,
	  "record those of --call in the C library from inside of the job's processes" },
	{ 0, "call-limit", OPTION_COUNT, &given.call_limit, "N",
	  "refuse patterns that find more functions (default: 5000)" },
	{ 0, "presets", OPTION_TEXT, &given.presets, "FILE", "more presets for --call" },
	{ 0, "aggregate", OPTION_DURATION, &given.aggregate, "TIME",
	  "count calls of --call, io, fs and mem each TIME, and record none" },
	{ 0, "min-dur", OPTION_DURATION, &given.min_dur, "TIME",
	  "record calls of --call that take TIME or longer, and count the others" },
	{ 'd', "duration", OPTION_DURATION, &given.duration, "TIME",
	  "stop recording after TIME (30s, 5m); the job goes on" },
	{ 0, "max-size", OPTION_SIZE, &given.max_size, "SIZE",
	  "stop recording at this size of the trace (100M, 2G); the job goes on" },
	{ 0, "max-time", OPTION_DURATION, &given.max_time, "TIME",
	  "stop recording after TIME; the job goes on" },
	{ 0, "rotate", OPTION_FLAG, &given.rotate, NULL,
	  "at these limits go on in new files (FILE.000001.strata), drop the oldest" },
	{ 0, "start", OPTION_TEXT, &given.start, "on|off",
	  "off: record only processes and marks until `strata mark --record on`" },
	{ 0, "until", OPTION_TEXT, &given.until, "main|all",
	  "stop with the first process, or the last (default: all)" },
	{ 0, "interval", OPTION_DURATION, &given.interval, "TIME",
	  "time between samples (default: 1s)" },
	{ 0, "drop-caches", OPTION_FLAG, &given.drop_caches, NULL,
	  "empty the page cache before the command starts" },
	{ 0, "redact-args", OPTION_FLAG, &given.redact_args, NULL,
	  "keep the arguments of processes out of the trace" },
	{ 0, "no-gpu-ops", OPTION_FLAG, &given.no_gpu_ops, NULL,
	  "leave the job's CUDA alone: no rows of gpu_op" },
	{ 'u', "user", OPTION_TEXT, &given.user, "USER",
	  "run the command as USER (default: who called sudo)" },
	{ 0, "log", OPTION_TEXT, &given.log, "FILE",
	  "follow the job's log: its :::MLLOG lines become marks" },
	{ 0, "buffer", OPTION_SIZE, &given.buffer, "SIZE",
	  "ring buffer of each CPU (default: 16M, less with many CPUs)" },
	{ 0 },
};

const struct options record_options = {
	.usage = "strata record [options] -- COMMAND [ARGUMENT...]\n"
		 "strata record [options] -p PID,...\n"
		 "strata record [options] --container ID|NAME|PID\n"
		 "strata record [options] -a",
	.summary = "Record a job: every process, file call and mapping, from its execve to its "
		   "last exit.",
	.examples = "strata record -- python3 train.py\n"
		    "strata record -o run.strata -e io,fs -p 4711 -d 30s",
	.rows = rows,
};

/* ---- from options to a session's configuration ---- */

static int parse_pids(const char *text, pid_t *pids, size_t *count, struct error *e)
{
	const char *at = text;

	*count = 0;
	while (text && *at) {
		char *end;
		long pid = strtol(at, &end, 10);

		if (end == at || pid <= 0 || (*end && *end != ','))
			return error_set(e, -EINVAL, "'%s' is not a list of process ids", text);
		if (*count == MOST_PIDS)
			return error_set(e, -EINVAL, "more than %d processes", MOST_PIDS);
		if (kill((pid_t)pid, 0) && errno == ESRCH)
			return error_set(e, -ESRCH, "no process %ld", pid);
		pids[(*count)++] = (pid_t)pid;
		at = *end ? end + 1 : end;
	}
	return 0;
}

/* What --call asks for, of whom. */
static struct calls_request calls_wanted(const struct arguments *arguments, pid_t pid)
{
	struct calls_request request = {
		.wanted = given.calls,
		.presets = given.presets,
		.target = { .command = arguments->command ? arguments->command[0] : NULL,
			    .pid = pid },
		.returns = given.call_returns,
		.limit = given.call_limit,
	};

	while (given.calls[request.count])
		request.count++;
	return request;
}

static int parse_calls(struct session_config *config, const struct arguments *arguments,
		       struct calls *calls, const pid_t *pids, struct error *e)
{
	struct calls_request request = calls_wanted(arguments, config->pid_count ? pids[0] : 0);
	uint32_t layer = LAYER_BIT(LAYER_call);
	uint32_t counted = LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fs) | LAYER_BIT(LAYER_mem);
	int err;

	config->aggregate = given.aggregate;
	config->min_dur = given.min_dur;
	if (!request.count && config->layers & layer)
		return error_set(
			e, -EINVAL,
			"layer 'call' needs --call: which functions, such as --call @posix");
	if (!request.count && given.min_dur)
		return error_set(e, -EINVAL,
				 "--min-dur is about the functions of --call: there is none");
	if (!request.count && given.aggregate && !(config->layers & counted))
		return error_set(e, -EINVAL,
				 "--aggregate counts functions of --call, and calls of the layers "
				 "io, fs and mem: there is neither");
	if (given.aggregate && given.path)
		return error_set(e, -EINVAL,
				 "--aggregate looks at no file: --path makes no sense with it");
	if (given.aggregate && given.min_dur)
		return error_set(e, -EINVAL,
				 "--aggregate counts all calls: --min-dur has nothing to keep");
	if (given.aggregate && given.aggregate < NS_PER_SECOND / 100)
		return error_set(e, -EINVAL, "--aggregate must be at least 10ms");
	if (given.inprocess && (!request.count || !arguments->command))
		return error_set(
			e, -EINVAL,
			"--inprocess is about the functions of --call, in the processes of "
			"a command that is launched: there is no %s",
			request.count ? "command" : "--call");
	if (!request.count)
		return 0;
	config->calls = calls;
	config->layers |= layer;
	config->required |= layer;
	config->inprocess = given.inprocess;
	err = calls_open(calls, &request, e);
	return err || !given.inprocess ? err : inprocess_choose(calls, e);
}

/* --list-calls MODULE is MODULE:* */
static int list_calls_of(const struct arguments *arguments)
{
	struct calls_request request = calls_wanted(arguments, 0);
	const char *name = given.list_calls;
	char all[4096];

	snprintf(all, sizeof(all), "%s%s", name,
		 *name == '@' || strchr(strncmp(name, "usdt:", 5) ? name : name + 5, ':') ? ""
											  : ":*");
	request.wanted = (const char *const[]){ all };
	request.count = 1;
	request.limit = UINT64_MAX;
	return list_calls(&request);
}

/* One of two words for an option. */
static int parse_choice(const char *option, const char *text, const char *const words[2],
			int *choice, struct error *e)
{
	char hint[128];

	for (*choice = 0; *choice < 2; (*choice)++)
		if (!strcmp(text, words[*choice]))
			return 0;
	return error_set(e, -EINVAL, "--%s '%s': %s", option, text,
			 suggest_names(hint, sizeof(hint), text, words, 2));
}

static int parse_choices(struct session_config *config, struct error *e)
{
	int choice, err = 0;

	if (given.scope) {
		err = parse_choice("scope", given.scope, (const char *const[]){ "job", "all" },
				   &choice, e);
		config->scope = choice ? SCOPE_ALL : SCOPE_JOB;
	}
	if (!err && given.until) {
		err = parse_choice("until", given.until, (const char *const[]){ "main", "all" },
				   &choice, e);
		config->until_main = !choice;
	}
	if (!err && given.start) {
		err = parse_choice("start", given.start, (const char *const[]){ "on", "off" },
				   &choice, e);
		config->start_off = choice;
	}
	return err;
}

/* Marks, which would switch it on, come with these layers. */
static int check_start(const struct session_config *config, struct error *e)
{
	uint32_t marked = LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fs) | LAYER_BIT(LAYER_mem);

	if (config->start_off && !(config->layers & marked))
		return error_set(
			e, -EINVAL,
			"--start off needs one of the layers io, fs and mem: without them no "
			"mark is seen that would switch it on");
	return 0;
}

static int check_target(const struct arguments *arguments, struct error *e)
{
	int targets = !!arguments->command + !!given.pids + given.all;
	bool filtered = given.comm || given.cgroup || given.container;

	if (arguments->count)
		return error_set(e, -EINVAL, "'%s' is not an option; a command goes after '--'",
				 arguments->items[0]);
	if (arguments->command && !arguments->command[0])
		return error_set(e, -EINVAL, "no command after '--'");
	if (!targets && !given.container)
		return error_set(
			e, -EINVAL,
			"nothing to record: give '-- COMMAND', -p PID, --container ID or -a");
	if (targets > 1)
		return error_set(e, -EINVAL, "give one of '-- COMMAND', -p PID and -a");
	if (given.all && !filtered && given.scope && !strcmp(given.scope, "job"))
		return error_set(e, -EINVAL,
				 "-a has no job: --scope job makes sense with --comm, --cgroup or "
				 "--container only");
	if (filtered && given.scope && !strcmp(given.scope, "all"))
		return error_set(e, -EINVAL,
				 "--scope all records every thread: it makes no sense with --comm, "
				 "--cgroup or --container");
	if (given.rotate && !given.max_size && !given.max_time)
		return error_set(e, -EINVAL, "--rotate needs --max-size or --max-time");
	if (given.rotate && given.max_size && given.max_size < SERIES_LEAST_BYTES)
		return error_set(e, -EINVAL, "--max-size must be at least 1M with --rotate");
	if (given.rotate && given.max_time && given.max_time < SERIES_LEAST_TIME)
		return error_set(e, -EINVAL, "--max-time must be at least 2s with --rotate");
	if (given.interval < NS_PER_SECOND / 100)
		return error_set(e, -EINVAL, "--interval must be at least 10ms");
	return 0;
}

/* strata-<command>-<time>.strata */
static void default_output(char *out, size_t size, const struct session_config *config)
{
	char stamp[32], what[64];
	time_t now = time(NULL);
	struct tm local;

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	if (config->command) {
		char *copy = strdup(config->command[0]);

		snprintf(what, sizeof(what), "%s", copy ? basename(copy) : "command");
		free(copy);
	} else if (config->pid_count) {
		snprintf(what, sizeof(what), "pid%d", (int)config->pids[0]);
	} else if (config->selection.container) {
		snprintf(what, sizeof(what), "%.32s", config->selection.container);
	} else {
		snprintf(what, sizeof(what), "all");
	}
	snprintf(out, size, "strata-%s-%s.strata", what, stamp);
}

/* What needs no more than to be passed on. */
static void take_options(struct session_config *config)
{
	config->selection.comm = given.comm;
	config->selection.cgroup = given.cgroup;
	config->selection.container = given.container;
	config->selection.path = given.path;
	config->output = given.output;
	config->force = given.force;
	config->log = given.log;
	config->drop_caches = given.drop_caches;
	config->redact_args = given.redact_args;
	config->gpu_ops = !given.no_gpu_ops;
	config->duration = given.duration;
	config->max_bytes = given.max_size;
	config->max_time = given.max_time;
	config->rotate = given.rotate;
	config->interval = given.interval;
	config->ring_bytes = given.buffer;
}

int cmd_record(int argc, char **argv)
{
	struct session_config config = { 0 };
	struct arguments arguments = { 0 };
	static pid_t pids[MOST_PIDS];
	struct calls calls = { 0 };
	char output[256];
	struct error e;
	int status, err;

	if (!cmd_parse(&record_options, argc, argv, &arguments, &status))
		return status;
	if (given.layers && !strcmp(given.layers, "list")) {
		layers_list();
		free(arguments.items);
		return 0;
	}
	if (given.list_calls) {
		status = list_calls_of(&arguments);
		free(arguments.items);
		return status;
	}
	take_options(&config);
	err = check_target(&arguments, &e);
	if (!err)
		err = parse_choices(&config, &e);
	if (!err)
		err = layers_parse(given.layers, &config.layers, &config.required, &e);
	if (!err)
		err = check_start(&config, &e);
	if (!err)
		err = parse_pids(given.pids, pids, &config.pid_count, &e);
	if (!err)
		err = parse_calls(&config, &arguments, &calls, pids, &e);
	free(arguments.items);
	if (!err)
		err = selection_resolve(&config.selection, &e);
	if (!err && given.log)
		err = follow_check(given.log, &e);
	if (err == -EINVAL)
		return cmd_usage("record", &e);
	config.command = arguments.command;
	config.pids = pids;
	if (!config.output) {
		default_output(output, sizeof(output), &config);
		config.output = output;
	}
	if (!err)
		err = account_find_invoker(&config.invoker, &e);
	if (!err)
		err = account_find(&config.account, &config.invoker, given.user, &e);
	if (!err)
		err = rights_check(&e);
	if (!err)
		err = rights_narrow(&config, &e);
	if (err)
		log_error("%s", e.text);
	status = err ? RECORD_FAILED : record_run(&config);
	calls_close(&calls);
	return status;
}
