/* Puts rows with equal values of one column side by side, each group in order of arrival, so that one
 * thread's calls follow each other in a chunk: that is what the guesses of codec.h live on.
 */
#ifndef STRATA_STORE_GROUP_H
#define STRATA_STORE_GROUP_H

#include <stdint.h>

struct group;

int group_open(struct group **group, uint32_t max_rows);
void group_close(struct group *group);

/* The new order (order[i] is the old place of row i), NULL when rows already stand that way. Linear
 * time. -ENOMEM. */
int group_rows(struct group *group, const int64_t *cells, uint32_t rows, const uint32_t **order);

#endif
