/* The difference of two runs as text for people, JSON for programs. Errors stay in the stream. */
#ifndef STRATA_RENDER_DIFF_H
#define STRATA_RENDER_DIFF_H

#include <stdio.h>

#include "analyze/diff.h"

/* Prints of each group at most `top` items that differ, the greatest change first. */
void diff_print_text(const struct diff *diff, const struct report *a, const struct report *b,
		     unsigned width, size_t top, FILE *out);
void diff_print_json(const struct diff *diff, const struct report *a, const struct report *b,
		     size_t top, FILE *out);

#endif
