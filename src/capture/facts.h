/* Facts about the recording itself: rows of table run. */
#ifndef STRATA_CAPTURE_FACTS_H
#define STRATA_CAPTURE_FACTS_H

#include "capture/session.h"
#include "capture/sink.h"

void facts_add(struct sink *sink, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What is known before the recording starts. */
void facts_begin(struct sink *sink, const struct session_config *config);

#endif
