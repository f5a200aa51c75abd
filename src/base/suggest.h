/* The names nearest to a misspelt one, by edit distance, for messages of failure. */
#ifndef STRATA_BASE_SUGGEST_H
#define STRATA_BASE_SUGGEST_H

#include <stddef.h>

/* Writes "did you mean 'io' or 'disk'?" (at most three names, nearest first) into out, or, when nothing
 * is near, "one of: a, b, c". Returns out. */
char *suggest_names(char *out, size_t size, const char *wrong, const char *const *names,
		    size_t count);

#endif
