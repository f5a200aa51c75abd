/* The report as one HTML file that needs nothing else: the page of web/, built into the program, and the
 * run's figures and timeline as its data. The report must have a timeline. Errors of writing stay in the
 * stream; 0 or -ENOMEM.
 */
#ifndef STRATA_RENDER_PAGE_H
#define STRATA_RENDER_PAGE_H

#include <stdio.h>

#include "analyze/diff.h"
#include "analyze/report.h"
#include "analyze/why.h"

/* Of a run compared with another: the difference and that run, whose changes the page then tells. */
struct page_changes {
	const struct diff *diff;
	const struct report *before;
};

/* why: NULL where the trace cannot tell; changes: NULL for a run alone. */
int page_print_html(const struct report *report, const struct why *why,
		    const struct page_changes *changes, FILE *out);

/* The timeline alone, as a figure for a paper. */
void page_print_svg(const struct report *report, FILE *out);

#endif
