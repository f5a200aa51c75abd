/* See group.h: a hash table gives each distinct value a dense id, then a counting sort orders by id.
 *
 *     slots:  value -> id + 1, open addressing, grown while more than half full
 *     ids:    the id of every row
 *     starts: where each id's rows begin
 */
#include "store/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_FIRST_SLOTS 1024u

struct slot {
	int64_t value;
	uint32_t id; /* 0: free */
};

struct group {
	struct slot *slots;
	uint32_t slot_count; /* a power of two */
	uint32_t *ids, *starts, *order;
};

int group_open(struct group **group, uint32_t max_rows)
{
	struct group *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->slot_count = GROUP_FIRST_SLOTS;
	g->slots = malloc(g->slot_count * sizeof(*g->slots));
	g->ids = malloc(max_rows * sizeof(*g->ids));
	g->starts = malloc(((size_t)max_rows + 1) * sizeof(*g->starts));
	g->order = malloc(max_rows * sizeof(*g->order));
	if (!g->slots || !g->ids || !g->starts || !g->order) {
		group_close(g);
		return -ENOMEM;
	}
	*group = g;
	return 0;
}

void group_close(struct group *group)
{
	if (!group)
		return;
	free(group->slots);
	free(group->ids);
	free(group->starts);
	free(group->order);
	free(group);
}

static struct slot *find_slot(const struct group *group, int64_t value)
{
	uint64_t hash = (uint64_t)value * 0x9e3779b97f4a7c15ull;
	uint32_t at = (uint32_t)(hash >> 32) & (group->slot_count - 1);

	while (group->slots[at].id && group->slots[at].value != value)
		at = (at + 1) & (group->slot_count - 1);
	return &group->slots[at];
}

static int grow_slots(struct group *group)
{
	uint32_t old_count = group->slot_count;
	struct slot *old = group->slots;

	group->slots = calloc((size_t)old_count * 2, sizeof(*old));
	if (!group->slots) {
		group->slots = old;
		return -ENOMEM;
	}
	group->slot_count = old_count * 2;
	for (uint32_t i = 0; i < old_count; i++)
		if (old[i].id)
			*find_slot(group, old[i].value) = old[i];
	free(old);
	return 0;
}

/* Numbers the distinct values from 1 in order of first sight and counts their rows in starts[id]. */
static int number_values(struct group *group, const int64_t *cells, uint32_t rows, uint32_t *count,
			 uint32_t *changes)
{
	uint32_t last = 0;

	*count = *changes = 0;
	for (uint32_t i = 0; i < rows; i++) {
		if (!i || cells[i] != cells[i - 1]) {
			struct slot *slot;

			if (*count * 2 >= group->slot_count && grow_slots(group))
				return -ENOMEM;
			slot = find_slot(group, cells[i]);
			if (!slot->id) {
				*slot = (struct slot){ .value = cells[i], .id = ++*count };
				group->starts[*count] = 0;
			}
			last = slot->id;
			++*changes;
		}
		group->ids[i] = last;
		group->starts[last]++;
	}
	return 0;
}

int group_rows(struct group *group, const int64_t *cells, uint32_t rows, const uint32_t **order)
{
	uint32_t count, changes, start = 0;
	int err;

	memset(group->slots, 0, group->slot_count * sizeof(*group->slots));
	err = number_values(group, cells, rows, &count, &changes);
	if (err)
		return err;
	*order = NULL;
	if (changes == count)
		return 0;
	for (uint32_t id = 1; id <= count; id++) {
		uint32_t size = group->starts[id];

		group->starts[id] = start;
		start += size;
	}
	for (uint32_t i = 0; i < rows; i++)
		group->order[group->starts[group->ids[i]]++] = i;
	*order = group->order;
	return 0;
}
