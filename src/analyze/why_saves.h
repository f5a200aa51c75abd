/* Checkpoints: once the loop has begun, the focus thread writes a file and syncs it, or gives it its name by a rename, or writes 1 MiB of
 * it at least. One lasts from the opening of the file, or its first write, to the last of the calls that belong to it: writes,
 * syncs, the close, the rename and syncs right after that. No step begins in between.
 *
 * Their time is a context of the ledger (why_ledger.h), and is told apart by what was done, in whole nanoseconds.
 */
#ifndef STRATA_ANALYZE_WHY_SAVES_H
#define STRATA_ANALYZE_WHY_SAVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/steps.h"
#include "analyze/why_acts.h"
#include "analyze/why_calls.h"
#include "base/buf.h"

#define WHY_SAVE_PARTS(PART)                         \
	PART(SERIALISE, "gathering and serialising") \
	PART(WRITE, "writing")                       \
	PART(THROTTLED, "throttled")                 \
	PART(SYNC, "syncing")                        \
	PART(RENAME, "renaming")

enum why_save_part {
#define WHY_SAVE_PART_ID(id, says) WHY_SAVE_##id,
	WHY_SAVE_PARTS(WHY_SAVE_PART_ID)
#undef WHY_SAVE_PART_ID
		WHY_SAVE_PART_COUNT
};

extern const char *const why_save_says[WHY_SAVE_PART_COUNT];

struct why_save {
	uint64_t start, end;
	int64_t file;
	uint64_t bytes;
	bool loop; /* it began in the loop */
};

struct saves {
	struct buf list; /* struct why_save, in order of time, none overlapping */
	const struct why_calls *calls;
	uint8_t *families; /* enum syscall_family of the names of calls */
	uint64_t ns, bytes;
	uint64_t parts[WHY_SAVE_PART_COUNT]; /* they add up to ns */
};

/* 0 or -ENOMEM. */
int saves_find(struct saves *saves, const struct why_calls *calls, const struct dims *dims,
	       const struct steps *steps, uint32_t focus);

/* Takes a piece of the focus thread's time, as far as it lies in checkpoints. */
void saves_add(struct saves *saves, uint32_t focus, enum why_act act, uint64_t start, uint64_t end);
void saves_free(struct saves *saves);

static inline size_t saves_count(const struct saves *saves)
{
	return saves->list.size / sizeof(struct why_save);
}

static inline const struct why_save *saves_get(const struct saves *saves, size_t i)
{
	return (const struct why_save *)saves->list.data + i;
}

#endif
