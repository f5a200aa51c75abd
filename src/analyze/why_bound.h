/* How short a loop could be without one cause: a lower bound, never an estimate.
 *
 * The loop takes T, of which the focus thread waited W for data workers. Without an act of the workers (their computing, say) the loop
 * cannot be shorter than what the focus thread does besides, T - W, nor than the work that is left to the busiest worker:
 *
 *     T' >= max(T - W, sum over generations of max over its workers (B - C), GPU busy)
 *
 * B is a worker's busy time in the loop (all but its waits for something to do), C its part that goes. Workers that live at the same time are
 * one generation; a loop that forks workers anew for each pass has one for each. Without an act of the focus thread itself: T - its time.
 */
#ifndef STRATA_ANALYZE_WHY_BOUND_H
#define STRATA_ANALYZE_WHY_BOUND_H

#include <stdint.h>

#include "analyze/why.h"

/* Sets the bound of the claim, and what limits the loop then. -ENOMEM. */
int why_bound(struct why *why, struct why_claim *claim);

#endif
