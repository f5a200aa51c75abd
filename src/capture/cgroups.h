/* Control groups as this machine has them mounted, v1 and v2. */
#ifndef STRATA_CAPTURE_CGROUPS_H
#define STRATA_CAPTURE_CGROUPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "probes/features.h"

/* One line of /proc/self/mountinfo, as far as it concerns cgroups. */
struct cgroup_mount {
	unsigned major, minor;
	char point[PATH_MAX];
	char type[32];
	char options[512]; /* of the superblock: the controllers, in v1 */
};

/* The next line; false: there is none. */
bool cgroup_mount_read(FILE *file, struct cgroup_mount *mount);

/* A cgroup as BPF programs know it. */
struct cgroup_place {
	uint64_t id;
	int subsystem; /* whose hierarchy (cgroup v1) it is in; -1: the unified one */
};

/* Finds a cgroup by its directory, or by its path in the unified hierarchy. */
int cgroups_find(const char *path, struct cgroup_place *place, struct error *e);

/* A controller that has a hierarchy of v1 here, in which engines put containers; -1: none has. */
int cgroups_v1_subsystem(const struct features *features);

#endif
