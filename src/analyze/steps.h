/* The steps of training: how many, how long, how regular. Where they come from is always said:
 *
 *     nvtx, marks   the job named them (step, iteration, batch)
 *     handoffs      the job's data loading workers hand batches to the main process through a pipe, in
 *                   the frames of Python's multiprocessing (a length of 4 bytes, then the message):
 *                   one step is the time from one batch received to the next through the same pipe
 *     bursts        the main thread reads files in bursts: one step is the time from the start of
 *                   one burst to the start of the next, where a burst ends with a pause of more
 *                   than ten times the usual one
 *
 * The confidence is the share of steps that last from half of to twice their median, 1 for steps that the
 * job named. Fewer than MOST_DOUBTFUL steps, or bursts with a confidence below a half, are no steps.
 */
#ifndef STRATA_ANALYZE_STEPS_H
#define STRATA_ANALYZE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/hist.h"
#include "analyze/phases.h"
#include "analyze/scan.h"

#define MOST_DOUBTFUL 5

enum step_source { STEPS_NONE, STEPS_NVTX, STEPS_MARKS, STEPS_HANDOFFS, STEPS_BURSTS };

extern const char *const step_source_names[];

struct steps {
	struct context *context;
	enum step_source source;
	struct marked_step *list; /* in order of start */
	size_t count;
	size_t loops; /* of handoffs: pipes, one for each pass over a data set */
	struct hist durations;
	double confidence;

	/* While loading. */
	struct numbering by_file;
	struct buf pipes;  /* struct step_pipe by number of by_file */
	struct buf bursts; /* uint64_t: starts of the main thread's reads of regular files */
	struct buf found;  /* struct marked_step */
};

/* Whether they were found by their rhythm, not named by the job. */
static inline bool steps_guessed(const struct steps *steps)
{
	return steps->source == STEPS_HANDOFFS || steps->source == STEPS_BURSTS;
}

int steps_open(struct steps *steps, struct context *context);
struct scan_sink steps_sink(struct steps *steps);
int steps_finish(struct steps *steps, const struct phases *phases);
void steps_free(struct steps *steps);

#endif
