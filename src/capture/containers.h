/* Finds a container that runs on this machine, as --container names it. */
#ifndef STRATA_CAPTURE_CONTAINERS_H
#define STRATA_CAPTURE_CONTAINERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* By an id, its beginning, a name that is in the path of its control group, or the id of a process in it. Gives the
 * directory of that group; or, for a process in none that an engine made, the PID namespace, which is 0 else. -ENOENT
 * when there is no such container, -EINVAL when the words mean several. */
int containers_find(const char *wanted, char *directory, size_t size, uint32_t *namespace,
		    struct error *e);

#endif
