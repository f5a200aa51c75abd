/* What the processes of each role did: the sums of the models of tasks, files and waits by role. */
#ifndef STRATA_ANALYZE_ROLE_USE_H
#define STRATA_ANALYZE_ROLE_USE_H

#include <stdint.h>

#include "analyze/context.h"
#include "analyze/files.h"
#include "analyze/tasks.h"
#include "analyze/waits.h"

struct role_use {
	uint32_t processes;
	uint64_t cpu_ns, wait_ns; /* on CPUs, and ready but waiting for one */
	struct traffic read, written;
	uint64_t metadata_ns;
	uint64_t wakes[PROC_ROLE_COUNT]; /* of threads of processes of that role */
};

/* A call of a process that is not known counts as another's. The models are finished. */
void role_use_load(struct role_use uses[PROC_ROLE_COUNT], const struct context *context,
		   const struct tasks *tasks, const struct files *files, const struct waits *waits);

#endif
