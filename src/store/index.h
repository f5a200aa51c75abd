/* The index at the end of a trace file that was closed: where it is, and whether it can be right. */
#ifndef STRATA_STORE_INDEX_H
#define STRATA_STORE_INDEX_H

#include "store/format.h"

/* Finds the index in the file's bytes; NULL, or what is wrong with it. */
const char *index_find(const uint8_t *bytes, size_t size, struct trailer *trailer);

/* Whether the entries describe chunks that stand one after another up to the index. */
bool index_fits(const uint8_t *entries, const struct trailer *trailer);

#endif
