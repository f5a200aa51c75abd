/* The ledger of a run and the verdict behind it, as text for people or JSON for programs. Errors stay in the stream. */
#ifndef STRATA_RENDER_WHY_H
#define STRATA_RENDER_WHY_H

#include <stdio.h>

#include "analyze/why.h"

struct why_style {
	unsigned width;
	size_t lines;	/* of the ledger; what is left is one more */
	size_t explain; /* from 1: only this line, with all that is known of it; 0: all lines */
};

void why_print_text(const struct why *why, const struct why_style *style, FILE *out);
void why_print_json(const struct why *why, FILE *out); /* keys: strata-why(1) */

/* A cause of the verdict in a sentence without its end; may hold bytes of paths. -ENOMEM. */
int why_say_claim(const struct why *why, const struct why_claim *claim, struct buf *out);

/* The query that lists what ran around the longest piece of a line. */
const char *why_line_sql(const struct why_line *line, char *out, size_t size);

#endif
