/* A map from 64-bit keys to 64-bit values that only grows: open addressing, at most half full.
 *
 * A zeroed struct is an empty map; map_free() releases it. Pointers that map_add() gives hold until the
 * next map_add().
 */
#ifndef STRATA_BASE_MAP_H
#define STRATA_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key; /* 0: free */
	uint64_t value;
};

struct map {
	struct map_slot
		*slots; /* and one more than slot_count, which is that of key 0 and says 1 for it */
	size_t slot_count; /* a power of two, or 0 */
	size_t count;
};

/* Makes room for that many keys, so that adding them neither fails nor moves what is there. 0 or -ENOMEM. */
int map_reserve(struct map *map, size_t count);

/* The value of the key, NULL when it has none. */
uint64_t *map_find(const struct map *map, uint64_t key);

/* The value of the key, 0 where it had none. *fresh says which, unless NULL. NULL: no memory. */
uint64_t *map_add(struct map *map, uint64_t key, bool *fresh);

/* The values one after another, in no order, from *at 0 on; NULL: no more. */
uint64_t *map_next(const struct map *map, size_t *at);
void map_free(struct map *map);

#endif
