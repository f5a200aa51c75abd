/* All models of one run, loaded together by one pass over each table. What a renderer prints is in here and
 * nothing else. The reader and the dims must outlive it; report_free() releases it. One thread.
 */
#ifndef STRATA_ANALYZE_REPORT_H
#define STRATA_ANALYZE_REPORT_H

#include "analyze/context.h"
#include "analyze/devices.h"
#include "analyze/files.h"
#include "analyze/phases.h"
#include "analyze/steps.h"
#include "analyze/summary.h"
#include "analyze/tasks.h"
#include "analyze/timeline.h"
#include "analyze/usage.h"
#include "analyze/waits.h"

/* What recording cost, and what it could not see. */
struct cost {
	bool cpu_known;
	uint64_t cpu_ns;       /* the recorder's own CPU time, as it stated at the end */
	uint64_t start_cpu_ns; /* what of it was used before the recording began */
	uint64_t on_cpu_ns;    /* its stays on CPUs in the window, from table sched */
	double core_share;     /* cpu_ns while it recorded, by the recording's length */
	double bytes_a_row;
};

struct report {
	struct summary summary;
	struct phases phases;
	struct figures *phase_figures; /* one for each phase */
	struct figures total;	       /* of the window */
	struct context context;
	struct tasks tasks;
	struct waits waits;
	struct files files;
	struct devices devices;
	struct usage usage;
	struct steps steps;
	struct cost cost;
	struct timeline *timeline; /* when asked for */
	bool whole;		   /* the window is the whole run */
	char window_name[128];
};

struct report_options {
	const char *log;   /* MLLOG lines, or NULL */
	bool timeline;	   /* make the picture too */
	const char *phase; /* the window is this phase (epoch, epoch 3); NULL: the whole run */
};

int report_load(struct report *report, const char *path, struct reader *reader,
		const struct dims *dims, const struct report_options *options, struct error *e);
void report_free(struct report *report);

/* Why a layer is absent; NULL: it is not. */
const char *report_absent(const struct report *report, enum layer layer);

/* Whether the layer was recorded, so that nothing seen means that nothing happened. */
bool report_has_layer(const struct report *report, enum layer layer);

#endif
