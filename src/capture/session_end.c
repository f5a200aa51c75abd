/* The end of a session: what is left becomes rows, the file is closed, the command waited for. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/descriptors.h"
#include "capture/facts.h"
#include "capture/session_parts.h"
#include "probes/unloaded.h"
#include "sampler/clock.h"
#include "sampler/sampler.h"

void session_last_facts(struct session *session, uint64_t stop, const char *reason)
{
	char tids[256];
	struct facts_end end = {
		.stop = stop,
		.reason = reason,
		.recorder_tids = tids,
		.command_status = session->command_done ? &session->command_status : NULL,
	};

	drain_tids(session->drain, tids, sizeof(tids));
	session_segment_facts(session);
	facts_end(&session->sink, &end);
}

/* Rows that could not be written: the header of the trace tells of them. */
static uint64_t session_count_dropped(struct session *session)
{
	uint64_t dropped[TABLE_COUNT] = { 0 }, sum = 0;

	drain_dropped(session->drain, dropped);
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		sum += dropped[i] + session->sink.dropped[i];
	return sum;
}

/* Programs of the job that were to load a library, and have not. */
static void session_name_unloaded(struct session *session, struct session_result *result)
{
	struct unloaded *unloaded = injected_unloaded(injection_injected(session->injection));

	if (unloaded)
		result->not_loaded_count = unloaded_name_some(unloaded, result->not_loaded,
							      sizeof(result->not_loaded));
	if (result->not_loaded_count)
		facts_add(&session->sink, "absent.call.inprocess",
			  "these programs did not load the library, being static, set-user-ID or "
			  "without LD_PRELOAD: %s",
			  result->not_loaded);
}

/* Ends the recording; what is left in the kernel and at the samplers becomes rows. */
static int session_stop(struct session *session, struct session_result *result)
{
	int err;

	if (session->start)
		session_sample(session, true); /* before detaching, which takes its time */
	session->stop = clock_boot();
	injection_stop(session->injection);
	result->stop_failed = kernel_stop(session->kernel, &result->stop_error);
	err = drain_stop(session->drain, &result->error);
	losses_take(&session->losses, session->kernel, injection_injected(session->injection),
		    &session->sink);
	if (session->start)
		off_windows_take(&session->offs, kernel_shared(session->kernel), &session->sink,
				 session->stop);
	if (session->start)
		session_follow(session);
	kernel_finish(session->kernel, &session->sink);
	session_name_unloaded(session, result);
	if (session->series && !err) /* before the facts that tell what was dropped */
		err = series_tidy(session->series, session->stop, writer_size(session->writer),
				  true, &result->error);
	clock_sample(&session->clock, &session->sink);
	session_last_facts(session, session->stop, session->reason ? session->reason : "failed");
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

	if (session->series)
		result->series = series_counts(session->series);
	result->no_thread = selection_of_threads(selection) && !matches.threads;
	result->no_file = selection->path && !matches.files;
	result->marks_refused = matches.marks_refused;
	result->lost = session->losses.total;
	result->length = session->stop - session->start;
	result->start_cpu_ns = session->start_cpu;
	result->cpu_ns = clock_own_cpu() - session->start_cpu;
	if (!stat(session_output(session), &file))
		result->bytes = (uint64_t)file.st_size + result->series.kept_bytes;
	result->rows += result->series.kept_rows;
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
	if (err)
		writer_note_failure(session->writer, err, result->dropped, session->losses.total);
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

bool session_leaves_libraries(const struct session *session)
{
	return injection_survives(session->injection);
}

void session_close(struct session *session)
{
	struct error ignored;

	if (!session)
		return;
	launch_close(&session->launch);
	drain_close(session->drain);
	series_close(session->series);
	if (session->writer)
		writer_close(session->writer, &ignored);
	samplers_close(session->samplers);
	sink_free(&session->sink);
	injection_close(session->injection);
	kernel_close(session->kernel);
	signals_close(&session->signals);
	if (session->job_event >= 0)
		close(session->job_event);
	if (session->caches >= 0)
		close(session->caches);
	losses_close(&session->losses);
	clock_close(&session->clock);
	follow_close(session->follow);
	descriptors_restore(&session->files);
	free(session);
}
