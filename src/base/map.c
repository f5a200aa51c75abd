#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

static struct map_slot *map_slot_of(const struct map *map, uint64_t key)
{
	size_t mask = map->slot_count - 1;
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15ull >> 32) & mask;

	if (!key)
		return &map->slots[map->slot_count];
	while (map->slots[at].key && map->slots[at].key != key)
		at = (at + 1) & mask;
	return &map->slots[at];
}

static int map_grow(struct map *map, size_t slot_count)
{
	struct map bigger = { .slot_count = slot_count, .count = map->count };

	bigger.slots = calloc(slot_count + 1, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].key)
			*map_slot_of(&bigger, map->slots[i].key) = map->slots[i];
	if (map->slots)
		bigger.slots[slot_count] = map->slots[map->slot_count];
	free(map->slots);
	*map = bigger;
	return 0;
}

int map_reserve(struct map *map, size_t count)
{
	size_t slot_count = map->slot_count ? map->slot_count : 64;

	while (slot_count < count * 2)
		slot_count *= 2;
	return slot_count > map->slot_count ? map_grow(map, slot_count) : 0;
}

uint64_t *map_find(const struct map *map, uint64_t key)
{
	struct map_slot *slot;

	if (!map->slot_count)
		return NULL;
	slot = map_slot_of(map, key);
	return slot->key ? &slot->value : NULL;
}

uint64_t *map_add(struct map *map, uint64_t key, bool *fresh)
{
	struct map_slot *slot = map->slot_count ? map_slot_of(map, key) : NULL;
	bool known = slot && slot->key;

	if (fresh)
		*fresh = !known;
	if (known)
		return &slot->value;
	if ((map->count + 1) * 2 > map->slot_count) {
		if (map_reserve(map, map->count + 1))
			return NULL;
		slot = map_slot_of(map, key);
	}
	*slot = (struct map_slot){ .key = key ? key : 1 };
	map->count++;
	return &slot->value;
}

uint64_t *map_next(const struct map *map, size_t *at)
{
	while (map->slots && *at <= map->slot_count) {
		struct map_slot *slot = &map->slots[(*at)++];

		if (slot->key)
			return &slot->value;
	}
	return NULL;
}

void map_free(struct map *map)
{
	free(map->slots);
	*map = (struct map){ 0 };
}
