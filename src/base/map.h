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
	uint64_t key;
	uint64_t value;
	bool used;
};

struct map {
	struct map_slot *slots;
	size_t slot_count; /* a power of two, or 0 */
	size_t count;
};

/* The value of the key, NULL when it has none. */
uint64_t *map_find(const struct map *map, uint64_t key);

/* The value of the key, 0 where it had none. *fresh says which, unless NULL. NULL: no memory. */
uint64_t *map_add(struct map *map, uint64_t key, bool *fresh);
void map_free(struct map *map);

#endif
