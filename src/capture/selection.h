/* Which threads and files of a recording are kept: --comm, --cgroup, --container and --path, from what the user said to what
 * the BPF programs compare.
 */
#ifndef STRATA_CAPTURE_SELECTION_H
#define STRATA_CAPTURE_SELECTION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/shared.h"

struct selection {
	const char *comm, *cgroup, *container, *path; /* as given; NULL: any */

	/* Found by selection_resolve(). */
	uint64_t cgroup_id; /* 0: any */
	uint32_t namespace; /* PID namespace, by its inode number; 0: any */
	int subsystem;	    /* whose hierarchy (cgroup v1) the cgroup is in; -1: the unified one */
	char prefix[PATH_MAX];	    /* absolute, symbolic links resolved as far as it exists */
	char prefix_text[PATH_MAX]; /* absolute, as given; empty when the same */
};

static inline bool selection_of_threads(const struct selection *selection)
{
	return selection->comm || selection->cgroup || selection->container;
}

/* -ENOENT when there is no such cgroup or container. */
int selection_resolve(struct selection *selection, struct error *e);

/* Into what the programs read. alone: whoever is selected by name or cgroup is the job, as nobody else is given. */
void selection_configure(const struct selection *selection, bool alone, struct config *config);

#endif
