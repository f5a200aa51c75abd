/* What the processes of a job use, from /proc: rows of table job, as the recorder makes them. What a process used after its last
 * reading is not known when it ends, and left out.
 */
#ifndef STRATA_CLUSTER_JOB_FIGURES_H
#define STRATA_CLUSTER_JOB_FIGURES_H

#include "base/error.h"
#include "live/live.h"
#include "store/sink.h"

struct job_figures;

int job_figures_open(struct job_figures **job, struct error *e);
void job_figures_close(struct job_figures *job);

/* Adds a row about the processes that `live` watches now. */
void job_figures_sample(struct job_figures *job, struct live *live, struct sink *sink);

#endif
