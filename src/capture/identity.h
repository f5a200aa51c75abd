/* Files touched with the rights of the user whom strata works for, while strata has more. Concerns the calling thread alone.
 *
 *     identity_enter(&identity, &config->invoker, e)
 *     open(...)
 *     identity_leave(&identity)
 */
#ifndef STRATA_CAPTURE_IDENTITY_H
#define STRATA_CAPTURE_IDENTITY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "capture/launch.h"

struct identity {
	bool changed;
	uint64_t effective; /* capabilities as they were */
	gid_t *groups;	    /* likewise */
	int group_count;
};

int identity_enter(struct identity *identity, const struct account *user, struct error *e);
void identity_leave(struct identity *identity);

#endif
