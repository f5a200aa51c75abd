/* The times in which the recording was switched off from inside the job, as rows of table loss: without them nothing would tell them
 * from times in which nothing happened.
 */
#ifndef STRATA_CAPTURE_OFF_WINDOWS_H
#define STRATA_CAPTURE_OFF_WINDOWS_H

#include <stdint.h>

#include "bpf/shared.h"
#include "store/sink.h"

struct off_windows {
	uint32_t layers; /* LAYER_BITs of those that have rows only while it is on */
	uint64_t taken;	 /* windows that are over and told */
	uint64_t told;	 /* up to when the one that is not over is told; 0: not at all */
};

/* The layers of a recording that are switched. */
uint32_t off_windows_layers(uint32_t layers);

/* Tells what is new. `now`: of a window that is not over, up to then; 0: only of those that are. */
void off_windows_take(struct off_windows *windows, const struct shared *shared, struct sink *sink,
		      uint64_t now);

#endif
