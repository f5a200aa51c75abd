/* The ring buffers that records come through: one for each CPU that is online, in the map where the programs find theirs.
 */
#ifndef STRATA_CAPTURE_RINGS_H
#define STRATA_CAPTURE_RINGS_H

#include <stdint.h>

#include "base/error.h"

struct rings {
	int *fds; /* by CPU; -1: that CPU is not there */
	unsigned cpus;
	uint64_t bytes; /* of each */
};

/* Chooses their size; 0: by the number of CPUs. */
int rings_open(struct rings *rings, uint64_t bytes, struct error *e);

/* Makes them and places them in `map`. */
int rings_make(struct rings *rings, int map, struct error *e);
void rings_close(struct rings *rings);

#endif
