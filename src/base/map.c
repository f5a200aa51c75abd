#include "base/map.h"

#include <stdlib.h>

static size_t map_place(const struct map *map, uint64_t key)
{
	size_t mask = map->slot_count - 1;
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15ull >> 32) & mask;

	while (map->slots[at].used && map->slots[at].key != key)
		at = (at + 1) & mask;
	return at;
}

static bool map_grow(struct map *map)
{
	struct map bigger = { .slot_count = map->slot_count ? map->slot_count * 2 : 64 };

	bigger.slots = calloc(bigger.slot_count, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].used)
			bigger.slots[map_place(&bigger, map->slots[i].key)] = map->slots[i];
	bigger.count = map->count;
	free(map->slots);
	*map = bigger;
	return true;
}

uint64_t *map_find(const struct map *map, uint64_t key)
{
	struct map_slot *slot;

	if (!map->slot_count)
		return NULL;
	slot = &map->slots[map_place(map, key)];
	return slot->used ? &slot->value : NULL;
}

uint64_t *map_add(struct map *map, uint64_t key, bool *fresh)
{
	struct map_slot *slot;
	uint64_t *value = map_find(map, key);

	if (fresh)
		*fresh = !value;
	if (value)
		return value;
	if (map->count * 2 >= map->slot_count && !map_grow(map))
		return NULL;
	slot = &map->slots[map_place(map, key)];
	*slot = (struct map_slot){ .key = key, .used = true };
	map->count++;
	return &slot->value;
}

void map_free(struct map *map)
{
	free(map->slots);
	*map = (struct map){ 0 };
}
