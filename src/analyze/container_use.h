/* What was done in each container, where there are several: the sums of the models of tasks and files by the container that
 * each process was in. Texts belong to the processes; container_uses_free() frees the list.
 */
#ifndef STRATA_ANALYZE_CONTAINER_USE_H
#define STRATA_ANALYZE_CONTAINER_USE_H

#include <stdint.h>

#include "analyze/context.h"
#include "analyze/files.h"
#include "analyze/tasks.h"

struct container_use {
	struct dims_text container; /* null: outside of any */
	uint32_t processes;
	uint64_t cpu_ns, wait_ns; /* on CPUs, and ready but waiting for one */
	struct traffic read, written;
	uint64_t metadata_ns;
};

struct container_uses {
	struct container_use *list; /* by time on CPUs, then by bytes moved, then by name */
	size_t count; /* 0: of the job's processes, fewer than two containers had any */
};

/* The models are finished. -ENOMEM is all that can fail. */
int container_uses_load(struct container_uses *uses, const struct context *context,
			const struct tasks *tasks, const struct files *files);
void container_uses_free(struct container_uses *uses);

#endif
