/* A recording from beginning to end: what to record in, what was recorded out.
 *
 *     session_open     opens the kernel side, the trace file and the threads; nothing runs yet
 *     session_run      lets the command go and records until the recording is over
 *     session_finish   stops, writes what is left, closes the file
 *     session_wait     waits for a command that outlived the recording, and gives its status
 *     session_close    frees everything
 *
 * All of it runs in the thread that calls, which must be the only one at session_open.
 */
#ifndef STRATA_CAPTURE_SESSION_H
#define STRATA_CAPTURE_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "probes/absences.h"
#include "capture/selection.h"
#include "capture/launch.h"
#include "capture/series.h"

enum session_scope { SCOPE_DEFAULT, SCOPE_JOB, SCOPE_ALL };

/* How far a recording has come. */
struct session_progress {
	uint64_t length, rows, bytes, lost;
};

struct session_config {
	char **command;	   /* to launch; NULL: none */
	const pid_t *pids; /* to attach to */
	size_t pid_count;
	uint32_t layers;   /* LAYER_BITs */
	uint32_t required; /* those of them whose absence is a failure */
	enum session_scope scope;
	bool own_only;	  /* nothing of processes that the caller may not trace */
	bool redact_args; /* no arguments of processes */
	bool start_off;	  /* nothing but processes and marks until it is switched on */
	bool until_main;  /* end with the first process of the job, not the last */
	bool drop_caches;
	bool force;
	void (*progress)(
		const struct session_progress *progress); /* each second; NULL: nobody asks */
	uint64_t duration;				  /* ns; 0: until it ends */
	uint64_t max_bytes, max_time; /* 0: none; the recording stops there, or, */
	bool rotate;		      /* goes on in new files, and drops the oldest */
	uint64_t interval;	      /* ns between samples */
	uint64_t ring_bytes;	      /* 0: by the number of CPUs */
	struct calls *calls;	      /* functions to trace; NULL: none */
	uint64_t aggregate; /* ns between counts, which are rows instead of calls; 0: calls are */
	uint64_t min_dur;   /* ns: shorter calls are counted only */
	bool inprocess; /* those of calls that can be are recorded by a library in the command's processes */
	bool gpu_ops; /* the command's processes load a library that tells what they have GPUs do */
	struct selection selection; /* resolved */
	const char *output;
	const char *log;	/* the job's own, to follow; NULL: none */
	struct account account; /* who the command runs as */
	struct account invoker; /* whom strata works for: whose files it reads and writes */
};

struct session_result {
	uint64_t rows, bytes, lost, dropped, length;
	uint64_t start_cpu_ns, cpu_ns; /* own CPU time before the recording, and from then on */
	const char *reason;	       /* why the recording ended */
	struct series_counts series;   /* the files before the last one; zeros without --rotate */
	int write_failed; /* -errno: the trace file could not be written to the end; error says why */
	struct error error;
	bool no_thread, no_file; /* there was a filter, and it matched none */
	size_t not_loaded_count; /* programs that did not load the library of --inprocess, */
	char not_loaded[256];	 /* and the names of some */
	uint64_t marks_refused;	 /* of users whose marks are not taken */
	int stop_failed; /* -errno: calls in flight at the end may be missing; stop_error says why */
	struct error stop_error;
};

struct session;

/* Whether session_open failed because the place for the trace file is full or not writable, which is no
 * reason to keep the command from running. */
bool session_output_refused(const struct session *session);

/* What was asked for and cannot be recorded on this machine. */
const struct absences *session_absences(const struct session *session);

/* Whether the command loads a library of strata's where it uses a GPU. */
bool session_records_gpu_ops(const struct session *session);

/* The file that is being written. */
const char *session_output(const struct session *session);
void session_remove_output(const struct session *session);

/* Whether processes go on that have loaded a library of strata's, which is left to them. After session_wait. */
bool session_leaves_libraries(const struct session *session);

int session_open(struct session **session, const struct session_config *config, struct error *e);

/* 0, or the -errno of the command's execve. */
int session_run(struct session *session, struct error *e);
void session_finish(struct session *session, struct session_result *result);

/* The command's status as waitpid gives it; 0 without a command. */
int session_wait(struct session *session);
void session_close(struct session *session);

#endif
