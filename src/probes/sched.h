/* What the session adds to table sched itself. */
#ifndef STRATA_PROBES_SCHED_H
#define STRATA_PROBES_SCHED_H

#include "bpf/records.h"
#include "capture/sink.h"

/* The stay that a CPU was in when the recording ended: a row without an end. */
void sched_add_unfinished(struct sink *sink, const struct stay *stay, unsigned cpu);

#endif
