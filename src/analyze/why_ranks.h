/* Who and what cost the loop most: files, folders, file systems, devices, calls, locks and other programs by the time of the focus thread
 * that they took, never by bytes. A piece of time can count in several lists, but once in each.
 */
#ifndef STRATA_ANALYZE_WHY_RANKS_H
#define STRATA_ANALYZE_WHY_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/numbering.h"
#include "base/strings.h"
#include "store/dims.h"

#define WHY_RANKS(RANK)             \
	RANK(FILE, "files")         \
	RANK(FOLDER, "directories") \
	RANK(MOUNT, "mounts")       \
	RANK(DEVICE, "devices")     \
	RANK(CALL, "calls")         \
	RANK(LOCK, "locks")         \
	RANK(PROGRAM, "programs")

enum why_rank {
#define WHY_RANK_ID(id, name) WHY_RANK_##id,
	WHY_RANKS(WHY_RANK_ID)
#undef WHY_RANK_ID
		WHY_RANK_COUNT
};

extern const char *const why_rank_names[WHY_RANK_COUNT];

struct why_ranked {
	enum why_rank rank;
	uint32_t name; /* in ranks.names */
	uint64_t ns, pieces;
};

struct ranks {
	uint64_t start, end; /* the loop: what lies outside does not count */
	struct strings names;
	struct numbering numbers;
	struct buf list; /* struct why_ranked; once finished by rank, the costliest first */
	struct numbering by_file;
	struct buf files;		  /* struct file_cost, while loading */
	size_t first[WHY_RANK_COUNT + 1]; /* where each list begins, once finished */
};

void ranks_open(struct ranks *ranks, uint64_t start, uint64_t end);

/* 0 or -ENOMEM. */
int ranks_add(struct ranks *ranks, enum why_rank rank, const char *name, size_t size,
	      uint64_t start, uint64_t end);
int ranks_add_file(struct ranks *ranks, int64_t file, uint64_t start, uint64_t end);
int ranks_finish(struct ranks *ranks, const struct dims *dims);
void ranks_close(struct ranks *ranks);

static inline size_t ranks_count(const struct ranks *ranks, enum why_rank rank)
{
	return ranks->first[rank + 1] - ranks->first[rank];
}

static inline const struct why_ranked *ranks_get(const struct ranks *ranks, enum why_rank rank,
						 size_t i)
{
	return (const struct why_ranked *)ranks->list.data + ranks->first[rank] + i;
}

#endif
