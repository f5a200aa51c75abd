/* What all models of one report share: the trace's dimensions, its processes and their roles, the window
 * of time that is looked at, and the figures by segment of it. Owned by the report; one thread.
 */
#ifndef STRATA_ANALYZE_CONTEXT_H
#define STRATA_ANALYZE_CONTEXT_H

#include "analyze/figures.h"
#include "analyze/procs.h"
#include "analyze/roles.h"
#include "analyze/who.h"
#include "base/error.h"
#include "store/dims.h"
#include "store/reader.h"
#include "store/times.h"

struct context {
	const struct dims *dims;
	struct procs *procs;
	struct who who;
	struct roles roles;
	struct span window;
	struct segments segments;
};

/* The processes and their parts in the job; window and segments are the caller's to set, before or after. */
int context_open(struct context *context, struct reader *reader, const struct dims *dims,
		 const struct span *span, struct error *e);
void context_close(struct context *context);

static inline uint64_t context_clip(const struct context *context, uint64_t ts)
{
	return ts < context->window.start ? context->window.start
	       : ts > context->window.end ? context->window.end
					  : ts;
}

static inline bool context_inside(const struct context *context, uint64_t ts)
{
	return ts >= context->window.start && ts <= context->window.end;
}

/* Whether the process is the job's; one not known is not. */
static inline bool context_in_job(const struct context *context, uint32_t proc)
{
	return proc != PROC_NONE && procs_get(context->procs, proc)->in_job;
}

#endif
