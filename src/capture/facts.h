/* Facts about the recording itself: rows of table run. */
#ifndef STRATA_CAPTURE_FACTS_H
#define STRATA_CAPTURE_FACTS_H

#include "capture/kernel.h"
#include "capture/session.h"
#include "store/sink.h"

void facts_add(struct sink *sink, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What is known before the recording starts: how it is set up, and what of it this machine can give. */
void facts_begin(struct sink *sink, const struct session_config *config, uint32_t layers,
		 const struct absences *absences);

/* What is known when it starts. */
void facts_start(struct sink *sink, const struct kernel *kernel, uint64_t start,
		 uint64_t start_cpu);

/* What is known when it is over. */
struct facts_end {
	uint64_t stop;
	const char *reason;
	const char *recorder_tids; /* of all threads but the first, a comma before each */
	const int *command_status; /* as waitpid gives it; NULL: it still runs, or there is none */
};

void facts_end(struct sink *sink, const struct facts_end *end);

#endif
