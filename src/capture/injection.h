/* Libraries that the launched job loads into its processes: their files, what of the environment names them, and the memory that
 * they write to. Opened before the command is forked, with the rights that strata was started with; at its end nothing is left.
 */
#ifndef STRATA_CAPTURE_INJECTION_H
#define STRATA_CAPTURE_INJECTION_H

#include "capture/launch.h"
#include "capture/session.h"
#include "probes/injected.h"

struct injection;

/* Opens what the session asks for; *injection stays NULL when that is nothing. absences: gets what the recording does without. */
int injection_open(struct injection **injection, const struct session_config *config,
		   struct absences *absences, struct error *e);
bool injection_has_gpu(const struct injection *injection); /* the job loads libstrata_gpu.so */
void injection_close(struct injection *injection);

/* What the environment of the command is to have; NULL: as it is. */
const struct environment *injection_environment(const struct injection *injection);

/* What reads the memory; NULL: there is none. */
struct injected *injection_injected(const struct injection *injection);

/* Whether processes that have loaded a library go on without the recording: then the libraries stay where they are, for the programs
 * that those start. */
bool injection_survives(const struct injection *injection);

/* The libraries record from here on, to here. */
void injection_start(struct injection *injection, uint64_t now);
void injection_stop(struct injection *injection);

#endif
