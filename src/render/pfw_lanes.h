/* Thread numbers for the events of a .pfw file. Perfetto drops an event that overlaps another of its thread without
 * nesting: such a one gets a lane, a number from PFW_FIRST_LANE on, which no kernel gives to a thread. Times are in
 * microseconds, as readers will see them.
 */
#ifndef STRATA_RENDER_PFW_LANES_H
#define STRATA_RENDER_PFW_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

#define PFW_FIRST_LANE 1000000000u

struct pfw_lanes {
	struct map threads; /* key -> struct pfw_thread * */
	uint64_t next;	    /* number of the next new lane */
	int error;	    /* -ENOMEM, for good */
};

void pfw_lanes_open(struct pfw_lanes *lanes);
void pfw_lanes_close(struct pfw_lanes *lanes);

/* The number for an event of a thread: the thread's own where the event nests, else a lane of the thread. Events come by
 * their start. *fresh: the thread is met for the first time. */
uint64_t pfw_lanes_nest(struct pfw_lanes *lanes, int64_t tid, uint64_t ts, uint64_t end,
			bool *fresh);

/* A lane of the thread, or of any other key, that is free. */
uint64_t pfw_lanes_take(struct pfw_lanes *lanes, int64_t key, uint64_t ts, uint64_t end,
			bool *fresh);

#endif
