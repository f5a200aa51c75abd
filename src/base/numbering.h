/* Numbers for keys: the first key added is 0, the next new one 1, and so on, so that what belongs to a key lives
 * in an array beside the numbering. A zeroed struct is empty; numbering_free() releases it.
 */
#ifndef STRATA_BASE_NUMBERING_H
#define STRATA_BASE_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct numbering {
	struct map map;
	uint32_t count;
};

/* Gives the key's number: 0 when it was there, 1 when it is new, -ENOMEM. */
int numbering_add(struct numbering *numbering, uint64_t key, uint32_t *number);
bool numbering_find(const struct numbering *numbering, uint64_t key, uint32_t *number);
void numbering_free(struct numbering *numbering);

#endif
