/* A set of byte strings, each with a number: the first added is 0, the next new one 1, and so on.
 *
 *     ends:  [5][9]                 where each string ends in bytes
 *     bytes: "POSIXopen"            all strings one after another, no terminator
 *     slots: open-addressed hash of (number + 1), 0 is free
 *
 * A zeroed struct is an empty set. Strings may hold any byte. strings_free() releases it.
 */
#ifndef STRATA_BASE_STRINGS_H
#define STRATA_BASE_STRINGS_H

#include <stdbool.h>

#include "base/buf.h"

struct strings {
	struct buf bytes;
	struct buf ends; /* uint32_t each */
	uint32_t *slots;
	uint32_t slot_count; /* a power of two, or 0 */
	uint32_t count;
};

/* Adds the string if it is new and gives its number. 0 or -ENOMEM. */
int strings_add(struct strings *set, const void *bytes, size_t size, uint32_t *number);
/* Whether the set has the string, and its number. Adds nothing. */
bool strings_find(const struct strings *set, const void *bytes, size_t size, uint32_t *number);
const char *strings_get(const struct strings *set, uint32_t number, size_t *size);
void strings_clear(struct strings *set); /* empties it and keeps the memory */
void strings_free(struct strings *set);

#endif
