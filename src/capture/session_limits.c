/* Limits of a session: how long it lasts, how much it writes, and the files that it goes on in. */
#include "base/clock.h"
#include "capture/facts.h"
#include "capture/session_parts.h"
#include "sampler/clock.h"

uint64_t session_end_time(const struct session *session)
{
	const struct session_config *config = session->config;
	uint64_t end = UINT64_MAX;

	if (config->duration)
		end = session->start + config->duration;
	if (config->max_time && !config->rotate && session->start + config->max_time < end)
		end = session->start + config->max_time;
	return end;
}

const char *session_limit_reached(const struct session *session)
{
	const struct session_config *config = session->config;
	uint64_t end = session_end_time(session);

	if (clock_boot() >= end)
		return config->duration && end == session->start + config->duration
			       ? "duration"
			       : "time limit reached (--max-time)";
	if (config->max_bytes && !config->rotate &&
	    writer_size(session->writer) >= config->max_bytes)
		return "size limit reached (--max-size)";
	return NULL;
}

void session_segment_facts(struct session *session)
{
	struct sink *sink = &session->sink;
	struct series_counts counts;

	if (!session->series)
		return;
	counts = series_counts(session->series);
	facts_add(sink, "segment", "%llu", (unsigned long long)counts.segment);
	facts_add(sink, "dropped_segments", "%llu", (unsigned long long)counts.dropped_segments);
	facts_add(sink, "dropped_rows", "%llu", (unsigned long long)counts.dropped_rows);
	facts_add(sink, "recording_start_ts", "%llu", (unsigned long long)session->start);
	if (kept_forgotten(series_kept(session->series)))
		facts_add(sink, "names_forgotten", "%llu",
			  (unsigned long long)kept_forgotten(series_kept(session->series)));
}

/* What a file must say at its beginning to be read by itself. */
static void session_begin_segment(struct session *session, uint64_t now)
{
	facts_begin(&session->sink, session->config, session->layers, &session->absences);
	facts_start(&session->sink, session->kernel, now, session->start_cpu);
	session_segment_facts(session);
	clock_sample(&session->clock, &session->sink);
	kept_begin(series_kept(session->series), now, &session->sink);
	sink_flush(&session->sink, 0);
}

/* The threads wait while the file is changed, so that each row is in the file of its time, whole. */
static int session_change_file(struct session *session, struct error *e)
{
	struct writer *next, *ended = session->writer;
	uint64_t now;
	int err;

	drain_pause(session->drain);
	now = clock_boot();
	losses_take(&session->losses, session->kernel, injection_injected(session->injection),
		    &session->sink);
	off_windows_take(&session->offs, kernel_shared(session->kernel), &session->sink, now);
	err = series_tidy(session->series, now, 0, true, e); /* the one before has had its time */
	clock_sample(&session->clock, &session->sink);
	session_last_facts(session, now, "goes on in the next file (--rotate)");
	sink_flush(&session->sink, 0);
	if (!err)
		err = series_next(session->series, &next, e);
	if (!err) {
		series_retire(session->series, ended, now);
		session->writer = session->sink.writer = next;
		session_begin_segment(session, now);
	}
	drain_resume(session->drain, session->writer);
	return err;
}

void session_rotate(struct session *session)
{
	struct series *series = session->series;
	uint64_t now = clock_boot();
	struct error e;
	int err = 0;

	if (!series)
		return;
	if (writer_size(session->writer) >= series_segment_bytes(series) ||
	    now >= series_segment_end(series))
		err = session_change_file(session, &e);
	if (!err)
		err = series_tidy(series, now, writer_size(session->writer), false, &e);
	if (err && !session->sink.failed) { /* ends the recording, as any failure to write does */
		session->sink.failed = err;
		session->sink.error = e;
	}
}
