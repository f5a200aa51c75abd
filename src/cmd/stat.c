/* strata stat: live histograms, kept in the kernel and shown each interval. */
#include "cmd/stat.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "capture/rights.h"
#include "cmd/cmd.h"

#define TOP_WHAT                                                                      \
	(LIVE_BIT(LIVE_cpudist) | LIVE_BIT(LIVE_runqlat) | LIVE_BIT(LIVE_pidpersec) | \
	 LIVE_BIT(LIVE_iolat) | LIVE_BIT(LIVE_biolat))

/* The options, filled once by cmd_parse(). */
static struct {
	uint64_t pid;
	bool off, per_process, milliseconds, extended, timestamp, json, top;
} given;

static const struct option_row stat_rows[] = {
	{ 'p', "pid", OPTION_COUNT, &given.pid, "PID", "of this process alone" },
	{ 'P', "pids", OPTION_FLAG, &given.per_process, NULL,
	  "cpudist, runqlat: a histogram of each process" },
	{ 'O', "off", OPTION_FLAG, &given.off, NULL, "cpudist: times off the CPU, not on it" },
	{ 'm', "milliseconds", OPTION_FLAG, &given.milliseconds, NULL,
	  "slots of milliseconds, not microseconds" },
	{ 'e', "extension", OPTION_FLAG, &given.extended, NULL,
	  "average, total and count under each histogram" },
	{ 'T', "timestamp", OPTION_FLAG, &given.timestamp, NULL, "the time above each interval" },
	{ 0, "json", OPTION_FLAG, &given.json, NULL, "print one JSON object each interval" },
	{ 0, "top", OPTION_FLAG, &given.top, NULL,
	  "a live screen: histograms, busiest threads, files and devices" },
	{ 0 },
};

const struct options stat_options = {
	.usage = "strata stat [options] NAME... [INTERVAL [COUNT]]\n"
		 "strata stat [options] --top [INTERVAL]",
	.summary = "Show live histograms: cpudist, runqlat, pidpersec, iolat, biolat, sclat.",
	.examples =
		"strata stat runqlat 1 10\n"
		"strata stat cpudist --off -p 4711\n"
		"strata stat iolat biolat --json 5 | jq '.histograms[] | {name, label, count}'\n"
		"strata stat --top",
	.rows = stat_rows,
};

/* ---- what is asked for ---- */

struct request {
	unsigned what;
	uint64_t interval; /* ns; 0: until Ctrl-C */
	uint64_t count;	   /* intervals; 0: until Ctrl-C */
};

/* Names, then perhaps an interval and a count. */
static int parse_request(const struct arguments *arguments, struct request *request,
			 struct error *e)
{
	int i, err = 0;

	*request = (struct request){ 0 };
	for (i = 0; !err && i < arguments->count; i++) {
		if (*arguments->items[i] >= '0' && *arguments->items[i] <= '9')
			break;
		err = live_find(arguments->items[i], &request->what, e);
	}
	if (err)
		return err;
	if (i < arguments->count &&
	    (units_parse_duration(arguments->items[i], &request->interval) || !request->interval))
		return error_set(e, -EINVAL, "'%s' is no interval: 1, 500ms", arguments->items[i]);
	if (++i < arguments->count &&
	    (units_parse_count(arguments->items[i], &request->count) || !request->count))
		return error_set(e, -EINVAL, "'%s' is no number of intervals", arguments->items[i]);
	if (++i < arguments->count || arguments->command)
		return error_set(e, -EINVAL, "too many arguments: NAME... [INTERVAL [COUNT]]");
	if (!request->what && !given.top)
		return error_set(e, -EINVAL,
				 "stat needs a histogram: cpudist, runqlat, pidpersec, "
				 "iolat, biolat or sclat");
	return 0;
}

static int check_request(struct request *request, struct error *e)
{
	unsigned processes = LIVE_BIT(LIVE_cpudist) | LIVE_BIT(LIVE_runqlat);

	if (given.top && given.json)
		return error_set(e, -EINVAL, "--top and --json exclude each other");
	if (given.top && !isatty(STDOUT_FILENO))
		return error_set(e, -EINVAL, "--top needs a terminal; --json writes the same");
	if (given.top) {
		request->what |= TOP_WHAT;
		request->interval = request->interval ? request->interval : NS_PER_SECOND;
	}
	if (given.pid > INT32_MAX || (given.pid && kill((pid_t)given.pid, 0) && errno == ESRCH))
		return error_set(e, -EINVAL, "no process %llu", (unsigned long long)given.pid);
	if (given.pid && !given.top && request->what & LIVE_BIT(LIVE_biolat))
		return error_set(e, -EINVAL,
				 "biolat is of the whole machine: a device does not tell whose "
				 "request it serves; leave out -p");
	if (given.per_process && !(request->what & processes))
		return error_set(e, -EINVAL, "-P is for cpudist and runqlat");
	if (given.off && !(request->what & LIVE_BIT(LIVE_cpudist)))
		return error_set(e, -EINVAL, "--off is for cpudist");
	return 0;
}

/* ---- watching ---- */

static int open_live(struct live **live, const struct request *request, struct error *e)
{
	pid_t pid = (pid_t)given.pid;
	struct session_config session = { .pids = &pid, .pid_count = pid ? 1 : 0 };
	struct live_config config = {
		.what = request->what,
		.unit = given.milliseconds ? 1000000 : 1000,
		.pids = &pid,
		.pid_count = pid ? 1 : 0,
		.on_cpu = !given.off,
		.off_cpu = given.off,
		.per_process = given.per_process,
		.top = given.top,
	};
	int err = rights_check(e);

	if (!err)
		err = rights_narrow(&session, e);
	return err ? err : live_open(live, &config, e);
}

/* Waits until the time, or until somebody wants the end: then true. */
static bool wait_until(int signals, uint64_t when)
{
	struct pollfd polled[] = { { .fd = signals, .events = POLLIN },
				   { .fd = given.top ? STDIN_FILENO : -1, .events = POLLIN } };
	uint64_t now = clock_monotonic();
	char key;

	while (now < when) {
		uint64_t left = when - now;
		struct timespec time = { .tv_sec = (time_t)(left / NS_PER_SECOND),
					 .tv_nsec = (long)(left % NS_PER_SECOND) };

		if (ppoll(polled, 2, &time, NULL) > 0) {
			if (polled[0].revents)
				return true;
			if (polled[1].revents &&
			    (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q'))
				return true;
		}
		now = clock_monotonic();
	}
	return false;
}

static void show(const struct live_reading *reading, const struct stat_style *style)
{
	if (given.top)
		stat_top_print(reading, style);
	else if (given.json)
		stat_print_json(reading, style);
	else
		stat_print_text(reading, style);
}

/* Ctrl-C ends the last interval early, and shows it. */
static int watch(struct live *live, struct live_reading *reading, const struct request *request,
		 int signals, struct error *e)
{
	struct stat_style style = { .what = request->what,
				    .milliseconds = given.milliseconds,
				    .extended = given.extended,
				    .timestamp = given.timestamp,
				    .per_process = given.per_process,
				    .off_cpu = given.off };
	uint64_t begin = clock_monotonic();
	bool ended = false;

	for (uint64_t i = 1; !ended && (!request->count || i <= request->count); i++) {
		int err;

		ended = wait_until(signals,
				   request->interval ? begin + i * request->interval : UINT64_MAX);
		err = live_read(live, reading, e);
		if (err)
			return err;
		show(reading, &style);
		if (fflush(stdout))
			return errno == EPIPE ? 0 : error_errno(e, "cannot write stdout");
	}
	return 0;
}

static int stat_run(const struct request *request, struct error *e)
{
	struct live_reading reading = { 0 };
	struct live *live = NULL;
	sigset_t stops;
	int signals, err;

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGHUP);
	sigprocmask(SIG_BLOCK, &stops, NULL);
	signal(SIGPIPE, SIG_IGN);
	signals = signalfd(-1, &stops, SFD_CLOEXEC);
	err = signals < 0 ? error_errno(e, "cannot wait for signals") : 0;
	if (!err)
		err = open_live(&live, request, e);
	if (!err)
		err = live_give_up(live, &reading, 0, e);
	if (!err) {
		if (given.top)
			stat_top_begin();
		else
			log_info("tracing... hit Ctrl-C to end");
		err = watch(live, &reading, request, signals, e);
		if (given.top)
			stat_top_end();
	}
	live_reading_free(&reading);
	live_close(live);
	if (signals >= 0)
		close(signals);
	return err;
}

int cmd_stat(int argc, char **argv)
{
	struct arguments arguments;
	struct request request;
	struct error e;
	int status;

	if (!cmd_parse(&stat_options, argc, argv, &arguments, &status))
		return status;
	if (parse_request(&arguments, &request, &e) || check_request(&request, &e))
		status = cmd_usage(argv[0], &e);
	else
		status = stat_run(&request, &e) ? cmd_fail(&e) : CMD_OK;
	free(arguments.items);
	return status;
}
