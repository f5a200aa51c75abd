/* Readings of all clocks together, which tie boot time to UTC. */
#ifndef STRATA_SAMPLER_CLOCK_H
#define STRATA_SAMPLER_CLOCK_H

#include "store/sink.h"

/* Adds one row to table clock. */
void clock_sample(struct sink *sink);

#endif
