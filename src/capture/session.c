#include "capture/session_parts.h"

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
#include "capture/descriptors.h"
#include "capture/facts.h"
#include "capture/layers_open.h"
#include "capture/output.h"
#include "capture/rights.h"
#include "sampler/clock.h"
#include "sampler/sampler.h"

#define PROGRESS_EVERY NS_PER_SECOND
#define LOSS_EVERY     (NS_PER_SECOND / 2)

bool session_output_refused(const struct session *session)
{
	return session && output_refused(session->output_err);
}

bool session_records_gpu_ops(const struct session *session)
{
	return injection_has_gpu(session->injection);
}

const struct absences *session_absences(const struct session *session)
{
	return &session->absences;
}

/* ---- opening ---- */

static int session_open_kernel(struct session *session, struct error *e)
{
	const struct session_config *config = session->config;
	bool job = config->command || config->pid_count || selection_of_threads(&config->selection);
	struct kernel_config kernel = {
		.layers = session->layers,
		.required = config->required,
		.mark_uid = config->account.uid,
		.record_all = config->scope == SCOPE_ALL || (!job && config->scope != SCOPE_JOB),
		.process_all = config->scope != SCOPE_JOB,
		.own_only = config->own_only,
		.redact_args = config->redact_args,
		.ring_bytes = config->ring_bytes,
		.targets = config->pids,
		.target_count = config->pid_count,
		.command = config->command,
		.calls = config->calls,
		.min_dur = config->min_dur,
		.aggregates = config->aggregate,
		.selection = &config->selection,
		.absences = &session->absences,
	};
	int err = kernel_open(&session->kernel, &kernel, e);

	if (err)
		return err;
	session->layers = kernel_layers(session->kernel);
	return losses_open(&session->losses, session->kernel, e);
}

const char *session_output(const struct session *session)
{
	return session->series ? series_path(session->series) : session->config->output;
}

void session_remove_output(const struct session *session)
{
	struct output_place place = { .path = session_output(session),
				      .invoker = &session->config->invoker };

	output_remove(&place);
}

static int session_create_output(struct session *session, struct error *e)
{
	const struct session_config *config = session->config;
	struct output_place place = { config->output, config->log, &config->invoker,
				      config->force };
	struct series_config series = {
		.place = place,
		.most_bytes = config->max_bytes,
		.most_time = config->max_time,
	};
	int fd, err;

	if (config->rotate) {
		err = series_open(&session->series, &series, e);
		return err ? err : series_next(session->series, &session->writer, e);
	}
	err = output_create(&place, &fd, e);
	if (err)
		return err;
	err = writer_open(&session->writer, fd, e);
	return err ? error_add(e, err, "cannot begin trace '%s'", config->output) : 0;
}

static int session_open_output(struct session *session, struct error *e)
{
	session->output_err = session_create_output(session, e);
	if (session->output_err)
		return session->output_err;
	sink_init(&session->sink, session->writer);
	session->sink.kept = session->series ? series_kept(session->series) : NULL;
	return 0;
}

/* The last thing that may be absent, and so the first that the file can tell. */
static int session_open_samplers(struct session *session, struct error *e)
{
	const struct session_config *config = session->config;
	int err = layers_open_samplers(&session->samplers, &session->layers, config->required,
				       &session->absences, e);

	if (err)
		session_remove_output(session); /* nothing ran, so there is nothing in it */
	else
		facts_begin(&session->sink, config, session->layers, &session->absences);
	return err;
}

static int session_fork(struct session *session, struct error *e)
{
	struct launch_command command = {
		.arguments = session->config->command,
		.account = &session->config->account,
		.environment = injection_environment(session->injection),
		.mask = &session->signals.old_mask,
	};

	return launch_fork(&session->launch, &command, e);
}

static int session_prepare(struct session *session, struct error *e)
{
	const struct session_config *config = session->config;
	int err;

	session->layers = config->layers;
	session->launch = (struct launch)LAUNCH_NONE;
	session->signals.fd = session->caches = -1;
	clock_open(&session->clock);
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
	if (!err)
		err = injection_open(&session->injection, config, &session->absences, e);
	if (!err && config->command)
		err = session_fork(session, e);
	session->signals.apart = session->launch.terminal.apart;
	if (!err) /* once the command has been forked: it keeps the limit that strata was given */
		descriptors_raise(&session->files);
	return err;
}

int session_open(struct session **out, const struct session_config *config, struct error *e)
{
	struct session *session = calloc(1, sizeof(*session));
	int err;

	*out = session;
	if (!session)
		return error_set(e, -ENOMEM, "out of memory");
	session->config = config;
	err = session_prepare(session, e);
	if (!err)
		err = session_open_kernel(session, e);
	if (!err)
		err = session_open_output(session, e);
	if (!err && config->drop_caches)
		err = caches_open(&session->caches, e);
	if (!err)
		err = rights_give_up(config, session->kernel, e);
	if (!err)
		err = session_open_samplers(session, e);
	if (!err)
		err = drain_open(&session->drain, session->kernel,
				 injection_injected(session->injection), session->writer,
				 session->sink.kept, session->job_event, e);
	if (!err)
		drain_watch(session->drain, session->series ? series_segment_bytes(session->series)
							    : config->max_bytes);
	return descriptors_explain(err, e);
}

/* ---- running ---- */

uint64_t session_rows(const struct session *session)
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

void session_sample(struct session *session, bool last)
{
	(last ? samplers_finish : samplers_sample)(session->samplers, &session->sink);
	kernel_sample(session->kernel, &session->sink);
}

/* The job's log tells the wall clock's time. */
void session_follow(struct session *session)
{
	if (session->follow)
		follow_take(session->follow, session->start, clock_offset(&session->clock),
			    &session->sink);
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
		clock_sample(&session->clock, &session->sink);
		session_sample(session, false);
		session->next_sample = now + session->config->interval;
	}
	if (now >= session->next_loss) {
		kernel_poll(session->kernel);
		losses_take(&session->losses, session->kernel,
			    injection_injected(session->injection), &session->sink);
		off_windows_take(&session->offs, kernel_shared(session->kernel), &session->sink, 0);
		session_follow(session);
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
	if (session_end_time(session) < next)
		next = session_end_time(session);
	return next > now ? next - now : 0;
}

pid_t session_command(const struct session *session)
{
	return session->command_done ? 0 : session->launch.pid;
}

void session_take_signals(struct session *session)
{
	pid_t command = session_command(session);

	signals_read(&session->signals, command);
	session->signals.interrupts += terminal_take_interrupts(&session->launch.terminal);
	if (session->signals.resized)
		terminal_resize(&session->launch.terminal);
	session->signals.resized = false;
	signals_pass(&session->signals, session->kernel, command);
	if (command && waitpid(command, &session->command_status, WNOHANG) == command)
		session->command_done = true;
}

/* Whether the recording is over, and why. */
static bool session_over(struct session *session)
{
	const struct session_config *config = session->config;
	struct error ignored;

	session->reason = session_limit_reached(session);
	if (session->reason)
		return true;
	if (drain_failed(session->drain, &ignored) || session->sink.failed)
		session->reason = "trace file not writable";
	else if (session->signals.interrupts >= 2 || session->signals.stop)
		session->reason = "interrupted";
	else if (session_command(session))
		session->reason = NULL;
	else if (session->launch.pid && config->until_main)
		session->reason = "job ended";
	else if ((session->launch.pid || config->pid_count || config->selection.container) &&
		 !kernel_live(session->kernel))
		session->reason = "job ended";
	return session->reason;
}

static void session_loop(struct session *session)
{
	struct pollfd watched[] = { { .fd = session->signals.fd, .events = POLLIN },
				    { .fd = session->job_event, .events = POLLIN },
				    { .fd = session->clock.fd, .events = POLLIN } };
	eventfd_t ignored;

	while (!session_over(session)) {
		uint64_t wait;
		struct timespec timeout;

		session_rotate(session);
		wait = session_tick(session);
		timeout = (struct timespec){ (time_t)(wait / NS_PER_SECOND),
					     (long)(wait % NS_PER_SECOND) };
		ppoll(watched, 3, &timeout, NULL);
		if (watched[2].revents) { /* lines of the log up to now are by the old clock */
			session_follow(session);
			clock_sample(&session->clock, &session->sink);
		}
		eventfd_read(session->job_event, &ignored);
		session_take_signals(session);
	}
}

int session_run(struct session *session, struct error *e)
{
	int err = 0;

	if (session->config->drop_caches)
		err = caches_drop(session->caches, e);
	if (!err && session->launch.pid)
		err = kernel_add_child(session->kernel, session->launch.pid, e);
	if (!err)
		err = kernel_start(session->kernel, session->config->start_off, &session->start, e);
	if (err)
		return err;
	session->next_sample = session->start + session->config->interval;
	session->next_loss = session->start + LOSS_EVERY;
	session->next_count = session_next_count(session->config, session->start);
	losses_start(&session->losses, session->start);
	session->offs.layers = off_windows_layers(session->layers);
	injection_start(session->injection, session->start);
	session->start_cpu = clock_own_cpu();
	facts_start(&session->sink, session->kernel, session->start, session->start_cpu);
	session_segment_facts(session);
	clock_sample(&session->clock, &session->sink);
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
	launch_make_room(&session->launch, !session_command(session));
	return 0;
}
