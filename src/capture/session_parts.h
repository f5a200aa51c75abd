/* The inside of a session, for the files that make it up: session.c opens and runs it, session_end.c finishes it,
 * session_limits.c watches over the size and the age of what it writes.
 */
#ifndef STRATA_CAPTURE_SESSION_PARTS_H
#define STRATA_CAPTURE_SESSION_PARTS_H

#include <sys/resource.h>

#include "capture/drain.h"
#include "capture/follow.h"
#include "capture/injection.h"
#include "capture/kernel.h"
#include "capture/losses.h"
#include "capture/off_windows.h"
#include "capture/series.h"
#include "capture/session.h"
#include "capture/signals.h"
#include "sampler/clock.h"
#include "store/sink.h"

struct session {
	const struct session_config *config;
	struct kernel *kernel;
	struct writer *writer;
	struct series *series; /* NULL: one file holds it all */
	struct drain *drain;
	struct sink sink;	  /* this thread's own rows */
	void **samplers;	  /* the state of each of samplers[]; NULL: not open */
	uint32_t layers;	  /* LAYER_BITs that are recorded */
	struct absences absences; /* what was asked for and is not */
	struct launch launch;
	struct injection *injection; /* NULL: the job loads nothing */
	int job_event;
	int caches; /* -1: not to be dropped */
	struct signals signals;
	bool command_done;
	int command_status; /* as waitpid gives it */
	uint64_t start, stop;
	uint64_t start_cpu; /* own CPU time before the recording */
	uint64_t next_sample, next_loss, next_progress, next_count;
	struct losses losses;
	struct off_windows offs;
	struct clock_sampler clock;
	struct follow *follow; /* NULL: no log to follow */
	const char *reason;
	int output_err;	     /* why the trace file could not be made */
	struct rlimit files; /* the limit of open files that strata was given */
};

uint64_t session_rows(const struct session *session); /* in the file that is being written */
void session_sample(struct session *session, bool last);
void session_follow(struct session *session);	      /* takes what is new in the job's log */
pid_t session_command(const struct session *session); /* while it runs, else 0 */

/* Takes signals, passes on those for the command, and notices its end. */
void session_take_signals(struct session *session);

/* The facts that end a file. */
void session_last_facts(struct session *session, uint64_t stop, const char *reason);

/* Which of several files this is, and what was dropped before it. */
void session_segment_facts(struct session *session);

/* When the recording is to end by itself; UINT64_MAX: never. */
uint64_t session_end_time(const struct session *session);

/* Why the recording is over for its size or its length; NULL: it is not. */
const char *session_limit_reached(const struct session *session);

/* Goes on in a new file when it is time to, and drops old ones. */
void session_rotate(struct session *session);

#endif
