/* Which programs of a probe hang in the kernel: asked of the kernel, by the links that this process holds. */
#ifndef STRATA_CAPTURE_HOOKS_H
#define STRATA_CAPTURE_HOOKS_H

#include "probes/probe.h"

void hooks_list(const struct probe_run *run, enum probe_id probe,
		void (*each)(void *context, enum probe_id probe, const char *place, bool attached),
		void *context);

#endif
