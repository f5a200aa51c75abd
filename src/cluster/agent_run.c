/* The agent's life: open all, give up what is not needed any more, then an interval after another. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "cluster/agent.h"
#include "cluster/measure.h"

#define RETAIN_EVERY (60 * NS_PER_SECOND)
#define ANSWER_TIME  (5 * NS_PER_SECOND)
#define MOST_SECRET  65536 /* bytes of a token, certificate or key */
#define LEAST_TOKEN  16

/* All that a running agent has. */
struct running {
	struct agent agent;
	struct measure *measure;
	struct metric_store *store;
	struct http *http;
	struct agent_push *push;
	char *token, *certificate, *key;
	int signals;
	struct totals_own own;
	uint64_t retained; /* CLOCK_MONOTONIC ns of the last time */
};

/* ---- secrets ---- */

/* A whole small file as text; NULL for no path. What others can read is no secret. */
static int read_secret(char **out, const char *path, bool is_secret, struct error *e)
{
	struct stat file;
	ssize_t size;
	int fd, err = 0;

	*out = NULL;
	if (!path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &file))
		err = error_errno(e, "cannot read '%s'", path);
	else if (is_secret && file.st_mode & (S_IRGRP | S_IROTH | S_IWGRP | S_IWOTH))
		err = error_set(e, -EPERM, "'%s' can be read or written by others: chmod 600 it",
				path);
	*out = err ? NULL : calloc(1, MOST_SECRET + 1);
	if (!err && !*out)
		err = error_set(e, -ENOMEM, "out of memory");
	size = err ? 0 : read(fd, *out, MOST_SECRET);
	if (size < 0)
		err = error_errno(e, "cannot read '%s'", path);
	if (fd >= 0)
		close(fd);
	return err;
}

static int read_token(struct running *running, const char *path, struct error *e)
{
	int err = read_secret(&running->token, path, true, e);

	if (err || !running->token)
		return err;
	running->token[strcspn(running->token, "\r\n")] = 0;
	if (strlen(running->token) < LEAST_TOKEN)
		return error_set(e, -EINVAL,
				 "the token in '%s' is shorter than %d characters; make one with "
				 "'openssl rand -base64 24'",
				 path, LEAST_TOKEN);
	return 0;
}

static int read_secrets(struct running *running, const struct agent_config *config, struct error *e)
{
	int err = read_token(running, config->token_file, e);

	if (!err)
		err = read_secret(&running->certificate, config->certificate, false, e);
	return err ? err : read_secret(&running->key, config->key, true, e);
}

/* ---- opening and closing ---- */

static int open_store(struct running *running, const struct agent_config *config, struct error *e)
{
	char started[32];
	int err = metric_store_open(&running->store, config->store, METRIC_STORE_WRITE, e);

	snprintf(started, sizeof(started), "%llu", (unsigned long long)clock_now(CLOCK_REALTIME));
	if (!err)
		err = metric_store_set_fact(running->store, "node", config->node, e);
	return err ? err : metric_store_set_fact(running->store, "started", started, e);
}

static int open_http(struct running *running, const struct agent_config *config, struct error *e)
{
	struct http_config http = {
		.listen = config->listen,
		.token = running->token,
		.certificate = running->certificate,
		.key = running->key,
		.answer_time = ANSWER_TIME,
		.answer = agent_answer,
		.is_public = agent_is_public,
		.answered = agent_answered,
		.context = &running->agent,
	};

	return http_open(&running->http, &http, e);
}

/* Signals are told of by a descriptor, in all threads to come. */
static int open_signals(struct running *running, struct error *e)
{
	sigset_t stops;

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &stops, NULL);
	signal(SIGPIPE, SIG_IGN);
	running->signals = signalfd(-1, &stops, SFD_CLOEXEC);
	return running->signals < 0 ? error_errno(e, "cannot wait for signals") : 0;
}

/* The programs are loaded with all rights; what strangers can reach comes after those are gone. */
static int open_all(struct running *running, const struct agent_config *config, struct error *e)
{
	struct measure_config measure = { .live = config->live,
					  .job = config->job,
					  .job_count = config->job_count,
					  .processes = config->processes };
	int err = read_secrets(running, config, e);

	if (!err && config->coordinate)
		err = nodes_read(&running->agent.coordinator.nodes, config->coordinate, e);
	if (!err)
		err = open_signals(running, e);
	if (!err)
		err = totals_open(&running->agent.totals, config->node, e);
	if (!err)
		err = open_store(running, config, e);
	if (!err)
		err = measure_open(&running->measure, &measure, e);
	if (!err)
		err = measure_give_up(running->measure, e);
	if (!err && config->push.to)
		err = agent_push_start(&running->push, &config->push, config->store, config->node,
				       e);
	return err ? err : open_http(running, config, e);
}

static void close_all(struct running *running)
{
	http_close(running->http);
	agent_push_stop(running->push);
	measure_close(running->measure);
	metric_store_close(running->store);
	totals_close(running->agent.totals);
	nodes_free(&running->agent.coordinator.nodes);
	free(running->token);
	free(running->certificate);
	free(running->key);
	if (running->signals >= 0)
		close(running->signals);
}

/* ---- intervals ---- */

static uint64_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long size, resident = 0;

	if (file && fscanf(file, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A store that cannot be written does not end the agent: disks become full, and empty again. */
static void keep_interval(struct running *running, const struct metric_interval *interval)
{
	struct error e;

	if (!metric_store_write(running->store, interval, &e)) {
		running->own.intervals++;
		return;
	}
	if (!running->own.unwritten++)
		log_warning("%s; the agent goes on", e.text);
	else
		log_verbose("%s", e.text);
}

static void retain(struct running *running, const struct agent_config *config, uint64_t now)
{
	struct error e;

	if (running->retained && now - running->retained < RETAIN_EVERY)
		return;
	running->retained = now;
	if (metric_store_retain(running->store, &config->retention, clock_now(CLOCK_REALTIME), &e))
		log_warning("old intervals stay: %s", e.text);
}

static int take_interval(struct running *running, const struct agent_config *config,
			 struct error *e)
{
	struct metric_interval interval;
	int err = measure_take(running->measure, &interval, e);

	if (err)
		return err;
	keep_interval(running, &interval);
	retain(running, config, clock_monotonic());
	running->own.lost = measure_lost(running->measure);
	running->own.cpu_ns = clock_own_cpu();
	running->own.resident_bytes = resident_bytes();
	running->own.store_bytes = metric_store_bytes(running->store);
	totals_add(running->agent.totals, &interval, &running->own);
	atomic_store(&running->agent.measured, clock_monotonic());
	http_reap(running->http);
	return 0;
}

/* True: somebody wants the end. */
static bool wait_until(int signals, uint64_t when)
{
	struct pollfd polled = { .fd = signals, .events = POLLIN };
	uint64_t now;

	while ((now = clock_monotonic()) < when) {
		struct timespec left = { .tv_sec = (time_t)((when - now) / NS_PER_SECOND),
					 .tv_nsec = (long)((when - now) % NS_PER_SECOND) };

		if (ppoll(&polled, 1, &left, NULL) > 0)
			return true;
	}
	return false;
}

static int measure_on(struct running *running, const struct agent_config *config, struct error *e)
{
	uint64_t next = clock_monotonic();
	bool ended = false;
	int err = 0;

	while (!err && !ended) {
		uint64_t now = clock_monotonic();

		next += config->interval;
		if (next <= now) { /* kept from running: the intervals are long, not many */
			running->own.late++;
			next = now + config->interval;
		}
		ended = wait_until(running->signals, next);
		err = take_interval(running, config, e);
	}
	return err;
}

int agent_run(const struct agent_config *config, struct error *e)
{
	struct running running = { .agent.config = config, .signals = -1 };
	int err = open_all(&running, config, e);

	if (!err) {
		log_info("node %s: serving on port %u, measuring each %g s into '%s'", config->node,
			 http_port(running.http), (double)config->interval / NS_PER_SECOND,
			 config->store);
		err = measure_on(&running, config, e);
	}
	close_all(&running);
	return err;
}
