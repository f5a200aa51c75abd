/* Numbers for keys: the first key added is 0, the next new one 1, and so on, so that what belongs to a
 * key lives in an array beside the map. Open addressing, at most half full. A zeroed struct is an empty
 * map; map_free() releases it.
 */
#ifndef STRATA_BASE_MAP_H
#define STRATA_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
	struct map_slot *slots;
	size_t slot_count; /* a power of two, or 0 */
	uint32_t count;
};

/* Gives the key's number: 0 when it was there, 1 when it is new, -ENOMEM. */
int map_add(struct map *map, uint64_t key, uint32_t *number);
bool map_find(const struct map *map, uint64_t key, uint32_t *number);
void map_free(struct map *map);

#endif
