/* All models of one run, loaded together by one pass over each table. What a renderer prints is in here and
 * nothing else. The reader and the dims must outlive it; report_free() releases it. One thread.
 */
#ifndef STRATA_ANALYZE_REPORT_H
#define STRATA_ANALYZE_REPORT_H

#include "analyze/container_use.h"
#include "analyze/context.h"
#include "analyze/devices.h"
#include "analyze/files.h"
#include "analyze/gpu_work.h"
#include "analyze/job_use.h"
#include "analyze/levels.h"
#include "analyze/main_thread.h"
#include "analyze/phases.h"
#include "analyze/role_use.h"
#include "analyze/steps.h"
#include "analyze/summary.h"
#include "analyze/tasks.h"
#include "analyze/timeline.h"
#include "analyze/usage.h"
#include "analyze/waits.h"

/* What recording cost, and what it could not see. */
struct cost {
	bool cpu_known;
	uint64_t cpu_ns;	   /* the recorder's own CPU time, as it stated at the end */
	uint64_t start_cpu_ns;	   /* what of it was used before the recording began */
	uint64_t recording_cpu_ns; /* what of it was used afterwards */
	uint64_t on_cpu_ns;	   /* its stays on CPUs in the window, from table sched */
	double core_share;	   /* recording_cpu_ns by the recording's length; NAN: not known */
};

/* What was done in a phase. */
struct phase_use {
	bool known; /* it lies in the window: of others nothing is told */
	struct figures figures;
	double main_cpu_share; /* of its length: main thread on a CPU; NAN without length, as below */
	double main_data_share; /* of its length: main thread asleep until a worker or storage */
	double cpus;		/* that the job used at a time */
	double read_rate;	/* bytes a second */
};

struct report {
	struct summary summary;
	struct phases phases;
	struct phase_use *phase_uses; /* one for each phase */
	struct figures total;	      /* of the window */
	struct main_thread main;
	struct role_use by_role[PROC_ROLE_COUNT];
	struct container_uses by_container;
	struct context context;
	struct tasks tasks;
	struct waits waits;
	struct files files;
	struct devices devices;
	struct usage usage;
	struct gpu_work gpu_work;
	struct steps steps;
	struct job_use job;
	struct levels levels;
	struct cost cost;
	struct timeline *timeline; /* when asked for */
	bool has_job; /* false: the whole machine was recorded, and all count as the job */
	bool whole;   /* the window is the whole run */
	char window_name[128];
};

struct report_options {
	const char *log;   /* MLLOG lines, or NULL */
	bool timeline;	   /* make the picture too */
	bool levels;	   /* and tell what ran inside what, which takes a pass of its own */
	const char *phase; /* the window is this phase (epoch, epoch 3); NULL: the whole run */
};

int report_load(struct report *report, const char *path, struct reader *reader,
		const struct dims *dims, const struct report_options *options, struct error *e);
void report_free(struct report *report);

/* Why a layer is absent; NULL: it is not. */
const char *report_absent(const struct report *report, enum layer layer);

/* Whether the layer was recorded, so that nothing seen means that nothing happened. */
bool report_has_layer(const struct report *report, enum layer layer);

/* Whether figures of all phases are counted from the layer, but it was not recorded. */
bool report_lacks_layer(const struct report *report, enum layer layer);

#endif
