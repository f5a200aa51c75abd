/* Operations in queues (io_uring, libaio) that had not been seen to end when the recording did. */
#ifndef STRATA_PROBES_ASYNC_H
#define STRATA_PROBES_ASYNC_H

#include "bpf/records.h"
#include "capture/sink.h"

void async_add_unfinished(struct sink *sink, const struct async_state *state);

#endif
