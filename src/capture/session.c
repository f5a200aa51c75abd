#include "capture/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "capture/caches.h"
#include "capture/drain.h"
#include "capture/facts.h"
#include "capture/follow.h"
#include "capture/kernel.h"
#include "capture/losses.h"
#include "capture/output.h"
#include "capture/signals.h"
#include "store/sink.h"
#include "sampler/clock.h"
#include "sampler/sampler.h"

#define PROGRESS_EVERY NS_PER_SECOND
#define LOSS_EVERY     (NS_PER_SECOND / 2)

struct session {
	const struct session_config *config;
	struct kernel *kernel;
	struct writer *writer;
	struct drain *drain;
	struct sink sink;	  /* this thread's own rows */
	void **samplers;	  /* the state of each of samplers[]; NULL: not open */
	uint32_t layers;	  /* LAYER_BITs that are recorded */
	struct absences absences; /* what was asked for and is not */
	struct launch launch;
	int job_event;
	struct signals signals;
	bool command_done;
	int command_status; /* as waitpid gives it */
	uint64_t start, stop;
	uint64_t start_cpu; /* own CPU time before the recording */
	uint64_t next_sample, next_loss, next_progress, next_count;
	struct losses losses;
	struct follow *follow; /* NULL: no log to follow */
	const char *reason;
	int output_err; /* why the trace file could not be made */
};

bool session_output_refused(const struct session *session)
{
	return session && output_refused(session->output_err);
}

const struct absences *session_absences(const struct session *session)
{
	return &session->absences;
}

/* ---- opening ---- */

static int session_open_kernel(struct session *session, struct error *e)
{
	const struct session_config *config = session->config;
	const struct selection *selected = &config->selection;
	bool job = config->command || config->pid_count || selected->comm || selected->cgroup;
	struct kernel_config kernel = {
		.layers = session->layers,
		.required = config->required,
		.record_all = config->scope == SCOPE_ALL || (!job && config->scope != SCOPE_JOB),
		.process_all = config->scope != SCOPE_JOB,
		.ring_bytes = config->ring_bytes,
		.targets = config->pids,
		.target_count = config->pid_count,
		.command = config->command,
		.calls = config->calls,
		.min_dur = config->min_dur,
		.aggregates = config->aggregate,
		.selection = selected,
		.absences = &session->absences,
	};
	int err = kernel_open(&session->kernel, &kernel, e);

	if (err)
		return err;
	session->layers = kernel_layers(session->kernel);
	return losses_open(&session->losses, session->kernel, e);
}

static int session_open_samplers(struct session *session, struct error *e)
{
	int err = 0;

	session->samplers = calloc(sampler_count, sizeof(*session->samplers));
	if (!session->samplers)
		return error_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < sampler_count && !err; i++) {
		if (!(samplers[i]->layers & session->layers))
			continue;
		err = samplers[i]->open(&session->samplers[i], e);
		if (err)
			err = absences_leave_out(&session->absences, &session->layers,
						 session->config->required, samplers[i]->layers,
						 err, e);
	}
	return err;
}

static int session_open_output(struct session *session, struct error *e)
{
	const struct session_config *config = session->config;
	int fd, err;

	session->output_err =
		output_create(config->output, config->force, &config->account, &fd, e);
	if (session->output_err)
		return session->output_err;
	err = session->output_err = writer_open(&session->writer, fd, e);
	if (err)
		return error_add(e, err, "cannot begin trace '%s'", config->output);
	sink_init(&session->sink, session->writer);
	facts_begin(&session->sink, config, session->layers, &session->absences);
	return 0;
}

int session_open(struct session **out, const struct session_config *config, struct error *e)
{
	struct session *session = calloc(1, sizeof(*session));
	int err;

	*out = session;
	if (!session)
		return error_set(e, -ENOMEM, "out of memory");
	session->config = config;
	session->layers = config->layers;
	session->launch = (struct launch){ .gate = -1, .fault = -1 };
	session->signals.fd = -1;
	session->job_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (session->job_event < 0)
		return error_errno(e, "cannot make an eventfd");
	if (config->log) {
		session->follow = follow_open(config->log);
		if (!session->follow)
			return error_set(e, -ENOMEM, "out of memory");
	}
	err = signals_open(&session->signals, e);
	/* Before the first thread: with one the C library takes signals for itself, which the command would not have. */
	if (!err && config->command)
		err = launch_fork(&session->launch, config->command, &config->account,
				  &session->signals.old_mask, e);
	if (!err)
		err = session_open_kernel(session, e);
	if (!err)
		err = session_open_samplers(session, e);
	if (!err)
		err = session_open_output(session, e);
	if (!err)
		err = drain_open(&session->drain, session->kernel, session->writer,
				 session->job_event, e);
	return err;
}

/* ---- running ---- */

static uint64_t session_rows(const struct session *session)
{
	uint64_t rows = 0;

	for (unsigned table = 0; table < TABLE_COUNT; table++)
		rows += writer_rows(session->writer, table);
	return rows;
}

static void session_tell_progress(const struct session *session)
{
	struct session_progress progress = {
		.length = clock_boot() - session->start,
		.rows = session_rows(session),
		.bytes = writer_size(session->writer),
		.lost = session->losses.total,
	};

	session->config->progress(&progress);
}

static void session_sample(struct session *session)
{
	samplers_sample(session->samplers, &session->sink);
	kernel_sample(session->kernel, &session->sink);
}

/* When calls are counted next; never, when none are. */
static uint64_t session_next_count(const struct session_config *config, uint64_t now)
{
	if (config->aggregate)
		return now + config->aggregate;
	return config->min_dur ? now + NS_PER_SECOND : UINT64_MAX;
}

/* What is done by the clock. Returns how many nanoseconds there are until something is due. */
static uint64_t session_tick(struct session *session)
{
	uint64_t now = clock_boot(), next;

	if (now >= session->next_sample) {
		clock_sample(&session->sink);
		session_sample(session);
		session->next_sample = now + session->config->interval;
	}
	if (now >= session->next_loss) {
		kernel_poll(session->kernel);
		losses_take(&session->losses, session->kernel, &session->sink);
		if (session->follow)
			follow_take(session->follow, session->start, &session->sink);
		sink_flush(&session->sink, 0);
		session->next_loss = now + LOSS_EVERY;
	}
	if (now >= session->next_count) {
		kernel_count(session->kernel, &session->sink);
		session->next_count = session_next_count(session->config, now);
	}
	if (session->config->progress && now >= session->next_progress) {
		session_tell_progress(session);
		session->next_progress = now + PROGRESS_EVERY;
	}
	next = session->next_sample < session->next_loss ? session->next_sample
							 : session->next_loss;
	if (session->next_count < next)
		next = session->next_count;
	if (signals_due(&session->signals) < next)
		next = signals_due(&session->signals);
	if (session->config->duration && session->start + session->config->duration < next)
		next = session->start + session->config->duration;
	return next > now ? next - now : 0;
}

/* The command while it runs, else 0. */
static pid_t session_command(const struct session *session)
{
	return session->command_done ? 0 : session->launch.pid;
}

/* Takes signals, passes on those for the command, and notices its end. */
static void session_take_signals(struct session *session)
{
	pid_t command = session_command(session);

	signals_read(&session->signals, command);
	signals_pass(&session->signals, session->kernel, command);
	if (command && waitpid(command, &session->command_status, WNOHANG) == command)
		session->command_done = true;
}

/* Whether the recording is over, and why. */
static bool session_over(struct session *session)
{
	const struct session_config *config = session->config;
	struct error ignored;

	if (config->duration && clock_boot() >= session->start + config->duration)
		session->reason = "duration";
	else if (drain_failed(session->drain, &ignored) || session->sink.failed)
		session->reason = "trace file not writable";
	else if (session->signals.interrupts >= 2 || session->signals.stop)
		session->reason = "interrupted";
	else if (session_command(session))
		session->reason = NULL;
	else if (session->launch.pid && config->until_main)
		session->reason = "job ended";
	else if ((session->launch.pid || config->pid_count) && !kernel_live(session->kernel))
		session->reason = "job ended";
	return session->reason;
}

static void session_loop(struct session *session)
{
	struct pollfd watched[] = { { .fd = session->signals.fd, .events = POLLIN },
				    { .fd = session->job_event, .events = POLLIN } };
	eventfd_t ignored;

	while (!session_over(session)) {
		uint64_t wait = session_tick(session);
		struct timespec timeout = { (time_t)(wait / NS_PER_SECOND),
					    (long)(wait % NS_PER_SECOND) };

		ppoll(watched, 2, &timeout, NULL);
		eventfd_read(session->job_event, &ignored);
		session_take_signals(session);
	}
}

int session_run(struct session *session, struct error *e)
{
	int err = 0;

	if (session->config->drop_caches)
		err = caches_drop(e);
	if (!err && session->launch.pid)
		err = kernel_add_child(session->kernel, session->launch.pid, e);
	if (!err)
		err = kernel_start(session->kernel, &session->start, e);
	if (err)
		return err;
	session->next_sample = session->start + session->config->interval;
	session->next_loss = session->start + LOSS_EVERY;
	session->next_count = session_next_count(session->config, session->start);
	losses_start(&session->losses, session->start);
	session->start_cpu = clock_own_cpu();
	facts_start(&session->sink, session->kernel, session->start, session->start_cpu);
	clock_sample(&session->sink);
	samplers_start(session->samplers);
	sink_flush(&session->sink, 0);
	if (session->launch.pid) {
		err = launch_go(&session->launch);
		if (err) {
			waitpid(session->launch.pid, NULL, 0);
			session->command_done = true;
			return error_set(e, err, "cannot run '%s': %s", session->config->command[0],
					 strerror(-err));
		}
	}
	session_loop(session);
	return 0;
}

/* ---- finishing ---- */

static void session_last_facts(struct session *session)
{
	char tids[256];
	struct facts_end end = {
		.stop = session->stop,
		.reason = session->reason ? session->reason : "failed",
		.recorder_tids = tids,
		.command_status = session->command_done ? &session->command_status : NULL,
	};

	drain_tids(session->drain, tids, sizeof(tids));
	facts_end(&session->sink, &end);
}

/* Rows that could not be written are a loss like any other, if anybody can still be told. */
static uint64_t session_count_dropped(struct session *session)
{
	uint64_t dropped[TABLE_COUNT] = { 0 }, sum = 0;

	drain_dropped(session->drain, dropped);
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		sum += dropped[i] + session->sink.dropped[i];
	return sum;
}

/* Ends the recording; what is left in the kernel and at the samplers becomes rows. */
static int session_stop(struct session *session, struct session_result *result)
{
	int err;

	if (session->start)
		session_sample(session); /* before detaching, which takes its time */
	session->stop = clock_boot();
	result->stop_failed = kernel_stop(session->kernel, &result->stop_error);
	err = drain_stop(session->drain, &result->error);
	losses_take(&session->losses, session->kernel, &session->sink);
	if (session->follow && session->start)
		follow_take(session->follow, session->start, &session->sink);
	kernel_finish(session->kernel, &session->sink);
	clock_sample(&session->sink);
	session_last_facts(session);
	sink_flush(&session->sink, 0);
	if (!err && session->sink.failed) {
		err = session->sink.failed;
		result->error = session->sink.error;
	}
	return err;
}

/* Closes the trace file. Of two failures the first is the one to tell. */
static int session_close_output(struct session *session, int err, struct error *e)
{
	struct error second;
	int close_err = writer_close(session->writer, err ? &second : e);

	session->writer = NULL;
	return err ? err : close_err;
}

static void session_count(const struct session *session, struct session_result *result)
{
	const struct selection *selection = &session->config->selection;
	struct kernel_matches matches = kernel_matches(session->kernel);
	struct stat file;

	result->no_thread = (selection->comm || selection->cgroup) && !matches.threads;
	result->no_file = selection->path && !matches.files;
	result->lost = session->losses.total;
	result->length = session->stop - session->start;
	result->start_cpu_ns = session->start_cpu;
	result->cpu_ns = clock_own_cpu() - session->start_cpu;
	if (!stat(session->config->output, &file))
		result->bytes = (uint64_t)file.st_size;
}

void session_finish(struct session *session, struct session_result *result)
{
	int err;

	*result = (struct session_result){ .reason = session->reason };
	if (session->signals.stop) /* a further one ends strata at once */
		sigprocmask(SIG_SETMASK, &session->signals.old_mask, NULL);
	err = session_stop(session, result);
	result->rows = session_rows(session);
	result->dropped = session_count_dropped(session);
	result->write_failed = session_close_output(session, err, &result->error);
	session_count(session, result);
}

int session_wait(struct session *session)
{
	struct pollfd watched = { .fd = session->signals.fd, .events = POLLIN };

	while (session_command(session)) {
		poll(&watched, 1, signals_due(&session->signals) == UINT64_MAX ? -1 : 20);
		session_take_signals(session);
	}
	return session->command_status;
}

void session_close(struct session *session)
{
	struct error ignored;

	if (!session)
		return;
	launch_close(&session->launch);
	drain_close(session->drain);
	if (session->writer)
		writer_close(session->writer, &ignored);
	samplers_close(session->samplers);
	sink_free(&session->sink);
	kernel_close(session->kernel);
	signals_close(&session->signals);
	if (session->job_event >= 0)
		close(session->job_event);
	losses_close(&session->losses);
	follow_close(session->follow);
	free(session);
}
