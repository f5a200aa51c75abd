#include "base/numbering.h"

#include <errno.h>

int numbering_add(struct numbering *numbering, uint64_t key, uint32_t *number)
{
	bool fresh;
	uint64_t *value = map_add(&numbering->map, key, &fresh);

	if (!value)
		return -ENOMEM;
	if (fresh)
		*value = numbering->count++;
	*number = (uint32_t)*value;
	return fresh;
}

bool numbering_find(const struct numbering *numbering, uint64_t key, uint32_t *number)
{
	const uint64_t *value = map_find(&numbering->map, key);

	if (value)
		*number = (uint32_t)*value;
	return value;
}

void numbering_free(struct numbering *numbering)
{
	map_free(&numbering->map);
	*numbering = (struct numbering){ 0 };
}
