/* Why a training loop takes as long as it does: every nanosecond of the focus thread's life, charged to exactly one cause.
 *
 * The focus is the thread that drives the training, the main thread of the main process unless it is chosen. On a CPU it computes, or
 * runs in the kernel where a row of a call says so; ready, it is told who had its CPU; asleep, the walk (walk.h) goes from waker to waker,
 * and each piece is judged (why_judge.h). The ledger's lines add up to the life to the nanosecond, which is asserted.
 *
 * why_load() loads all of it; why_free() releases it. The reader and the dims must outlive it.
 */
#ifndef STRATA_ANALYZE_WHY_H
#define STRATA_ANALYZE_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/phases.h"
#include "analyze/stays.h"
#include "analyze/steps.h"
#include "analyze/summary.h"
#include "analyze/why_batches.h"
#include "analyze/why_calls.h"
#include "analyze/why_gpu.h"
#include "analyze/why_judge.h"
#include "analyze/why_ledger.h"
#include "analyze/why_mix.h"
#include "analyze/why_saves.h"
#include "analyze/why_costs.h"
#include "analyze/why_verdict.h"
#include "analyze/why_windows.h"

struct why {
	struct summary summary;
	struct phases phases;
	struct context context;
	struct steps steps;
	struct stays stays;
	struct why_calls calls;
	struct judge judge;
	struct ledger ledger;
	struct saves saves;
	struct batches batches;
	struct why_mix mix;
	struct windows windows;
	struct gpus gpus;
	struct costs costs;
	struct why_verdict verdict;
	uint32_t focus;	     /* thread of stays */
	uint32_t focus_proc; /* place in procs */
	int64_t focus_tid;
	bool may_spin; /* no rows tell whether computing was spinning for a GPU */
};

struct why_options {
	int64_t focus;	  /* thread id; CELL_NULL: the main thread of the main process */
	bool keep_pieces; /* the ledger's, one by one */
};

/* -ENODATA when the recording cannot tell: then the error says what is missing and what to record. */
int why_load(struct why *why, const char *path, struct reader *reader, const struct dims *dims,
	     const struct why_options *options, struct error *e);
void why_free(struct why *why);

/* What a line is about: a call, a device, a program; NULL: nothing beside its act. */
const char *why_line_name(const struct why *why, const struct why_line *line, size_t *size);

#endif
