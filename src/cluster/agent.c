/* strata agent: options in, a running agent out. */
#include "cluster/agent.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "capture/rights.h"
#include "cluster/cluster.h"
#include "cmd/cmd.h"
#include "live/live.h"

#define MOST_JOB       1024
#define MOST_NAME      63
#define MOST_PROCESSES 1024
/* sclat costs as much as all others together. */
#define DEFAULT_METRICS "cpudist,runqlat,pidpersec,iolat,biolat"
#define MOST_METRIC	16 /* characters of a name */
#define LEAST_INTERVAL	(100 * 1000000ull)

/* The options, filled once by cmd_parse(). */
static struct {
	const char *node, *listen, *store, *job, *token_file, *certificate, *key, *coordinate;
	const char *push, *cluster, *spool, *metrics;
	uint64_t interval, age, size, processes, push_every;
} given = {
	.listen = "127.0.0.1:6100",
	.store = "/var/lib/strata/agent.db",
	.interval = NS_PER_SECOND,
	.age = 7 * 24 * 3600 * NS_PER_SECOND,
	.size = 1ull << 30,
	.processes = 16,
	.push_every = 10 * NS_PER_SECOND,
	.metrics = DEFAULT_METRICS,
};

static const struct option_row agent_rows[] = {
	{ 0, "node", OPTION_TEXT, &given.node, "NAME", "this node's name (default: the host's)" },
	{ 0, "listen", OPTION_TEXT, &given.listen, "ADDR:PORT",
	  "where to serve (default: 127.0.0.1:6100)" },
	{ 0, "store", OPTION_TEXT, &given.store, "FILE",
	  "where to keep it (default: /var/lib/strata/agent.db)" },
	{ 0, "interval", OPTION_DURATION, &given.interval, "TIME",
	  "time between measurements (default: 1s)" },
	{ 0, "max-age", OPTION_DURATION, &given.age, "TIME",
	  "forget what is older (default: 168h; 0: nothing)" },
	{ 0, "max-size", OPTION_SIZE, &given.size, "SIZE",
	  "keep the store below this, forgetting the oldest (default: 1G)" },
	{ 0, "metrics", OPTION_TEXT, &given.metrics, "NAME,...",
	  "of strata stat, what to count, or all (default: all but sclat)" },
	{ 0, "processes", OPTION_COUNT, &given.processes, "N",
	  "histograms of the N busiest processes too (default: 16)" },
	{ 'p', "pid", OPTION_TEXT, &given.job, "PID,...",
	  "watch a job: these processes and what they start, not all" },
	{ 0, "token-file", OPTION_TEXT, &given.token_file, "FILE",
	  "ask for the token in FILE; needed beyond loopback" },
	{ 0, "cert", OPTION_TEXT, &given.certificate, "FILE",
	  "serve HTTPS with this certificate (PEM)" },
	{ 0, "key", OPTION_TEXT, &given.key, "FILE", "the certificate's key (PEM)" },
	{ 0, "coordinate", OPTION_TEXT, &given.coordinate, "FILE",
	  "answer for the nodes that FILE lists, too" },
	{ 0, "push", OPTION_TEXT, &given.push, "URL,...",
	  "write all samples to ClickHouse too, as strata push does" },
	{ 0, "push-every", OPTION_DURATION, &given.push_every, "TIME",
	  "time between batches (default: 10s)" },
	{ 0, "cluster", OPTION_TEXT, &given.cluster, "NAME",
	  "of that ClickHouse; see strata push" },
	{ 0, "spool", OPTION_TEXT, &given.spool, "DIR",
	  "keep batches there until it has them (default: beside the store)" },
	{ 0 },
};

const struct options agent_options = {
	.usage = "strata agent [options]",
	.summary = "Keep this node's histograms and figures, and serve them over HTTP.",
	.examples = "strata agent --node n1\n"
		    "strata agent --node n1 --listen 10.0.0.1:6100 --token-file /etc/strata/token\n"
		    "curl -s http://127.0.0.1:6100/metrics",
	.rows = agent_rows,
};

/* A name stands in labels, paths and questions: letters, digits and _ - . alone. */
static int check_name(const char *name, struct error *e)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
			length = 0;
	return length && length <= MOST_NAME
		       ? 0
		       : error_set(e, -EINVAL,
				   "'%s' is no name for a node: letters, digits, _ - . and no more "
				   "than %d of them",
				   name, MOST_NAME);
}

static int parse_job(const char *text, pid_t *pids, size_t *count, struct error *e)
{
	*count = 0;
	while (text && *text) {
		char *end;
		long pid = strtol(text, &end, 10);

		if (end == text || pid <= 0 || pid > INT_MAX || (*end && *end != ','))
			return error_set(e, -EINVAL, "'%s' is not a list of process ids", text);
		if (kill((pid_t)pid, 0) && errno == ESRCH)
			return error_set(e, -EINVAL, "no process %ld", pid);
		if (*count == MOST_JOB)
			return error_set(e, -EINVAL, "more than %d processes", MOST_JOB);
		pids[(*count)++] = (pid_t)pid;
		text = *end ? end + 1 : end;
	}
	return 0;
}

/* Names of live.def with commas between, or all. */
static int parse_metrics(const char *text, unsigned *live, struct error *e)
{
	char name[MOST_METRIC + 1];
	int err = 0;

	*live = strcmp(text, "all") ? 0 : LIVE_BIT(LIVE_COUNT) - 1;
	if (*live)
		return 0;
	do {
		size_t length = strcspn(text, ",");

		snprintf(name, sizeof(name), "%.*s", (int)length, text);
		err = live_find(name, live, e);
		text += length;
	} while (!err && *text++);
	return err;
}

static int check_given(const struct arguments *arguments, struct error *e)
{
	if (arguments->count || arguments->command)
		return error_set(e, -EINVAL, "agent takes options alone");
	if (given.interval < LEAST_INTERVAL)
		return error_set(e, -EINVAL, "an interval is 100ms at least");
	if (given.processes > MOST_PROCESSES)
		return error_set(e, -EINVAL, "histograms of %d processes at most", MOST_PROCESSES);
	return 0;
}

static int run_agent(unsigned live, const pid_t *job, size_t job_count, struct error *e)
{
	struct agent_config config = {
		.node = given.node,
		.listen = given.listen,
		.store = given.store,
		.token_file = given.token_file,
		.certificate = given.certificate,
		.key = given.key,
		.coordinate = given.coordinate,
		.push = { .to = given.push,
			  .cluster = given.cluster,
			  .spool = given.spool,
			  .every = given.push_every },
		.interval = given.interval,
		.retention = { .age = given.age, .size = given.size },
		.live = live,
		.job = job,
		.job_count = job_count,
		.processes = given.processes,
	};
	int err = rights_check(e);

	return err ? err : agent_run(&config, e);
}

int cluster_agent(int argc, char **argv)
{
	char host[HOST_NAME_MAX + 1] = "";
	struct arguments arguments;
	pid_t job[MOST_JOB];
	size_t job_count;
	unsigned live;
	struct error e;
	int status;

	if (!cmd_parse(&agent_options, argc, argv, &arguments, &status))
		return status;
	gethostname(host, sizeof(host) - 1);
	if (!given.node)
		given.node = host;
	if (check_given(&arguments, &e) || check_name(given.node, &e) ||
	    parse_metrics(given.metrics, &live, &e) || parse_job(given.job, job, &job_count, &e))
		status = cmd_usage(argv[0], &e);
	else
		status = run_agent(live, job, job_count, &e) ? cmd_fail(&e) : CMD_OK;
	free(arguments.items);
	return status;
}
