#include "base/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static uint32_t strings_slot(const struct strings *set, const void *bytes, size_t size)
{
	uint32_t mask = set->slot_count - 1;
	uint32_t slot = (uint32_t)XXH3_64bits(bytes, size) & mask;

	while (set->slots[slot]) {
		size_t other_size;
		const char *other = strings_get(set, set->slots[slot] - 1, &other_size);

		if (other_size == size && !memcmp(other, bytes, size))
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

static int strings_grow(struct strings *set)
{
	uint32_t old_count = set->slot_count;
	uint32_t *old = set->slots;

	set->slot_count = old_count ? old_count * 2 : 64;
	set->slots = calloc(set->slot_count, sizeof(*set->slots));
	if (!set->slots) {
		set->slots = old;
		set->slot_count = old_count;
		return -ENOMEM;
	}
	for (uint32_t number = 0; number < set->count; number++) {
		size_t size;
		const char *bytes = strings_get(set, number, &size);

		set->slots[strings_slot(set, bytes, size)] = number + 1;
	}
	free(old);
	return 0;
}

int strings_add(struct strings *set, const void *bytes, size_t size, uint32_t *number)
{
	uint32_t slot, end;
	int err;

	if (set->count * 2 >= set->slot_count) {
		err = strings_grow(set);
		if (err)
			return err;
	}
	slot = strings_slot(set, bytes, size);
	if (!set->slots[slot]) {
		if (size > UINT32_MAX - set->bytes.size)
			return -ENOMEM;
		err = buf_append(&set->bytes, bytes, size);
		if (err)
			return err;
		end = (uint32_t)set->bytes.size;
		err = buf_append(&set->ends, &end, sizeof(end));
		if (err) {
			set->bytes.size -= size;
			return err;
		}
		set->slots[slot] = ++set->count;
	}
	*number = set->slots[slot] - 1;
	return 0;
}

bool strings_find(const struct strings *set, const void *bytes, size_t size, uint32_t *number)
{
	uint32_t found = set->slot_count ? set->slots[strings_slot(set, bytes, size)] : 0;

	*number = found - 1;
	return found != 0;
}

const char *strings_get(const struct strings *set, uint32_t number, size_t *size)
{
	const uint32_t *ends = (const uint32_t *)set->ends.data;
	uint32_t start = number ? ends[number - 1] : 0;

	*size = ends[number] - start;
	return (const char *)set->bytes.data + start;
}

void strings_clear(struct strings *set)
{
	set->bytes.size = 0;
	set->ends.size = 0;
	set->count = 0;
	if (set->slots)
		memset(set->slots, 0, set->slot_count * sizeof(*set->slots));
}

void strings_free(struct strings *set)
{
	buf_free(&set->bytes);
	buf_free(&set->ends);
	free(set->slots);
	*set = (struct strings){ 0 };
}
