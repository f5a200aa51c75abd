/* Which bytes of a file were covered, as few sorted ranges; what is covered twice is told as it is added.
 * Memory is bounded: past EXTENTS_MOST ranges the set gives up, and says so. A zeroed struct is empty.
 */
#ifndef STRATA_ANALYZE_EXTENTS_H
#define STRATA_ANALYZE_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

#define EXTENTS_MOST 4096

struct extents {
	struct extent *list; /* neither overlapping nor touching, in order */
	uint32_t count, capacity;
	bool gave_up;
};

/* Adds [from, to); *again is how much of it was there already. 0 or -ENOMEM. */
int extents_add(struct extents *extents, uint64_t from, uint64_t to, uint64_t *again);
void extents_free(struct extents *extents);

#endif
