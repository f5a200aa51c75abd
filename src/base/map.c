#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

struct map_slot {
	uint64_t key;
	uint32_t place; /* number + 1; 0 is free */
};

static struct map_slot *map_slot(const struct map *map, uint64_t key)
{
	size_t at = (size_t)((key ^ key >> 29) * 0x9e3779b97f4a7c15ull >> 32);

	for (at &= map->slot_count - 1; map->slots[at].place && map->slots[at].key != key;)
		at = (at + 1) & (map->slot_count - 1);
	return &map->slots[at];
}

static int map_grow(struct map *map)
{
	struct map bigger = { .slot_count = map->slot_count ? map->slot_count * 2 : 64,
			      .count = map->count };

	bigger.slots = calloc(bigger.slot_count, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].place)
			*map_slot(&bigger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = bigger;
	return 0;
}

int map_add(struct map *map, uint64_t key, uint32_t *number)
{
	struct map_slot *slot;

	if (map_find(map, key, number))
		return 0;
	if (map->count == UINT32_MAX - 1 ||
	    ((map->count + 1) * 2ull > map->slot_count && map_grow(map)))
		return -ENOMEM;
	slot = map_slot(map, key);
	slot->key = key;
	slot->place = ++map->count;
	*number = slot->place - 1;
	return 1;
}

bool map_find(const struct map *map, uint64_t key, uint32_t *number)
{
	const struct map_slot *slot;

	if (!map->slot_count)
		return false;
	slot = map_slot(map, key);
	if (!slot->place)
		return false;
	*number = slot->place - 1;
	return true;
}

void map_free(struct map *map)
{
	free(map->slots);
	*map = (struct map){ 0 };
}
