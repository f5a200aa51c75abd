/* CPU quotas: how long the control groups of the job were kept from running because their quota of CPU time was spent.
 *
 *     quota_open(&quota);                 finds the hierarchies, of version 1 and 2, that limit CPU time
 *     quota_add_process(&quota, pid);     its groups, and those around them, are watched from now on
 *     quota_take(&quota, &spent);         what they were throttled since they were added, or since the last look
 *     quota_close(&quota);
 */
#ifndef STRATA_PROBES_QUOTA_H
#define STRATA_PROBES_QUOTA_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct quota_hierarchy {
	char folder[PATH_MAX]; /* where it is mounted; empty: there is none */
	char root[PATH_MAX];   /* which of its groups is seen there */
};

struct quota {
	struct quota_hierarchy version1, version2;
	struct buf groups; /* struct quota_group each */
};

struct quota_spent {
	uint64_t throttled; /* nanoseconds, summed over CPUs and groups */
	uint64_t periods;
};

void quota_open(struct quota *quota);
void quota_close(struct quota *quota);

/* Whether there is anything that could limit CPU time. */
bool quota_is_known(const struct quota *quota);

/* pid 0 is strata itself. A process that is gone is none. */
void quota_add_process(struct quota *quota, uint32_t pid);
void quota_take(struct quota *quota, struct quota_spent *spent);

#endif
