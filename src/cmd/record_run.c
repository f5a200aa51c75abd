#include "cmd/record_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"

static void show_progress(const struct session_progress *progress)
{
	char length[32], rows_text[32], bytes[32], lost[32];

	units_format_duration(length, sizeof(length), progress->length);
	units_format_count(rows_text, sizeof(rows_text), progress->rows);
	units_format_bytes(bytes, sizeof(bytes), progress->bytes);
	units_format_count(lost, sizeof(lost), progress->lost);
	/* The cursor goes back, so that what the command prints next begins at the left margin. */
	fprintf(stderr, "\r\033[Kstrata: %s, %s rows, %s, %s lost\r", length, rows_text, bytes,
		lost);
}

static void clear_progress(void)
{
	fputs("\r\033[K", stderr);
}

/* The files of a recording with --rotate beside the last one, which the summary names. */
static void print_series(const struct series_counts *series)
{
	char rows_text[32];

	log_info("that is the last of %llu files; the %llu before them, with %s rows, were dropped",
		 (unsigned long long)series->kept_segments + 1,
		 (unsigned long long)series->dropped_segments,
		 units_format_count(rows_text, sizeof(rows_text), series->dropped_rows));
}

static void warn_no_thread(const struct selection *given)
{
	log_warning("no thread matched%s%s%s%s%s%s: nothing of the job is in the trace",
		    given->comm ? " --comm " : "", given->comm ? given->comm : "",
		    given->cgroup ? " --cgroup " : "", given->cgroup ? given->cgroup : "",
		    given->container ? " --container " : "",
		    given->container ? given->container : "");
}

static void print_summary(const char *output, const struct selection *selection,
			  const struct session_result *result)
{
	char length[32], rows_text[32], bytes[32], lost[32], cpu[32], start[32], dropped[32];

	units_format_duration(length, sizeof(length), result->length);
	units_format_count(rows_text, sizeof(rows_text), result->rows);
	units_format_bytes(bytes, sizeof(bytes), result->bytes);
	units_format_count(lost, sizeof(lost), result->lost);
	units_format_duration(cpu, sizeof(cpu), result->cpu_ns);
	units_format_duration(start, sizeof(start), result->start_cpu_ns);
	if (result->stop_failed)
		log_warning("calls in flight at the end are missing: %s", result->stop_error.text);
	if (result->no_thread)
		warn_no_thread(selection);
	if (result->no_file)
		log_warning("no file matched --path %s", selection->path);
	if (result->not_loaded_count)
		log_warning("calls of %zu programs of the job are missing: they did not load the "
			    "library of --inprocess, being static, set-user-ID or without "
			    "LD_PRELOAD: %s",
			    result->not_loaded_count, result->not_loaded);
	if (result->marks_refused)
		log_info("%llu marks by other users were left out",
			 (unsigned long long)result->marks_refused);
	if (result->write_failed) {
		units_format_count(dropped, sizeof(dropped), result->dropped);
		log_warning("the recording stopped early: %s; %s rows were not written; what was "
			    "written is readable",
			    result->error.text, dropped);
	}
	log_info(
		"%s: %s, %s rows in %s; %s lost; own CPU %s (%.1f %% of one core), and %s to start",
		output, bytes, rows_text, length, result->lost ? lost : "none", cpu,
		result->length ? 100.0 * (double)result->cpu_ns / (double)result->length : 0.0,
		start);
	if (result->series.segment)
		print_series(&result->series);
	if (result->bytes)
		log_info("next: strata report %s", output);
}

/* Ends as the command did, by the same signal if need be, but without a core file of strata's own. */
static int end_like(int status)
{
	struct rlimit no_core = { 0, 0 };
	sigset_t all;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &no_core);
	prctl(PR_SET_DUMPABLE, 0);
	signal(WTERMSIG(status), SIG_DFL);
	sigfillset(&all);
	fflush(NULL);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

/* The trace cannot be written, but that is no reason to keep a job from running. */
static int run_unrecorded(const struct session_config *config, const struct error *why)
{
	struct error e;
	int err;

	log_warning("%s; the command runs unrecorded", why->text);
	err = launch_directly(config->command, &config->account, &e);
	log_error("%s", e.text);
	return err == -ENOENT ? RECORD_NOT_FOUND : RECORD_NOT_EXECUTABLE;
}

int record_run(struct session_config *config)
{
	struct session *session = NULL;
	const struct absences *absences;
	struct session_result result;
	struct error e = { "" };
	int status = RECORD_FAILED, err;

	if (isatty(STDERR_FILENO) && log_level >= LOG_NORMAL)
		config->progress = show_progress;
	err = session_open(&session, config, &e);
	if (err) {
		bool refused = session_output_refused(session);

		session_close(session);
		if (config->command && refused)
			return run_unrecorded(config, &e);
		log_error("%s", e.text);
		return RECORD_FAILED;
	}
	absences = session_absences(session);
	for (size_t i = 0; i < absences->count; i++)
		(absences->items[i].expected ? log_verbose : log_warning)(
			"%s'%s' is not recorded: %s",
			strchr(absences->items[i].what, '.') ? "" : "layer ",
			absences->items[i].what, absences->items[i].why);
	if (session_records_gpu_ops(session))
		log_info("the job's CUDA loads libstrata_gpu.so, to record what GPUs do (not with "
			 "--no-gpu-ops)");
	err = session_run(session, &e);
	if (config->progress)
		clear_progress();
	session_finish(session, &result);
	if (err) {
		log_error("%s", e.text);
		session_remove_output(session); /* nothing ran, so there is nothing in it */
		if (config->command)
			status = err == -ENOENT ? RECORD_NOT_FOUND : RECORD_NOT_EXECUTABLE;
		session_close(session);
		return status;
	}
	print_summary(session_output(session), &config->selection, &result);
	status = session_wait(session);
	if (session_leaves_libraries(session))
		log_info(
			"processes of the job go on: the library that they load stays in its "
			"folder, /dev/shm/strata-* or /tmp/strata-*, for programs that they start");
	session_close(session);
	return end_like(status);
}
