/* Who and what cost the loop most: files, folders, file systems, devices, calls, locks and other programs by the time of the focus thread
 * that they took, never by bytes. A piece of time can count in several lists, but once in each.
 */
#ifndef STRATA_ANALYZE_WHY_COSTS_H
#define STRATA_ANALYZE_WHY_COSTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/numbering.h"
#include "base/strings.h"
#include "store/dims.h"

#define WHY_COSTS(COST)             \
	COST(FILE, "files")         \
	COST(FOLDER, "directories") \
	COST(MOUNT, "mounts")       \
	COST(DEVICE, "devices")     \
	COST(CALL, "calls")         \
	COST(LOCK, "locks")         \
	COST(PROGRAM, "programs")

enum why_cost_kind {
#define WHY_COST_ID(id, name) WHY_COST_##id,
	WHY_COSTS(WHY_COST_ID)
#undef WHY_COST_ID
		WHY_COST_COUNT
};

extern const char *const why_cost_names[WHY_COST_COUNT];

struct why_cost {
	enum why_cost_kind kind;
	uint32_t name; /* in costs.names */
	uint64_t ns, pieces;
};

struct costs {
	uint64_t start, end; /* the loop: what lies outside does not count */
	struct strings names;
	struct numbering numbers;
	struct buf list; /* struct why_cost; once finished by kind, the costliest first */
	struct numbering by_file;
	struct buf files;		  /* struct file_cost, while loading */
	size_t first[WHY_COST_COUNT + 1]; /* where each list begins, once finished */
};

void costs_open(struct costs *costs, uint64_t start, uint64_t end);

/* 0 or -ENOMEM. */
int costs_add(struct costs *costs, enum why_cost_kind kind, const char *name, size_t size,
	      uint64_t start, uint64_t end);
int costs_add_file(struct costs *costs, int64_t file, uint64_t start, uint64_t end);
int costs_finish(struct costs *costs, const struct dims *dims);
void costs_close(struct costs *costs);

static inline size_t costs_count(const struct costs *costs, enum why_cost_kind kind)
{
	return costs->first[kind + 1] - costs->first[kind];
}

static inline const struct why_cost *costs_get(const struct costs *costs, enum why_cost_kind kind,
					       size_t i)
{
	return (const struct why_cost *)costs->list.data + costs->first[kind] + i;
}

#endif
