/* The report as one HTML file that needs nothing else: the page of web/, built into the program, and the
 * run's figures and timeline as its data. The report must have a timeline. Errors of writing stay in the
 * stream; 0 or -ENOMEM.
 */
#ifndef STRATA_RENDER_PAGE_H
#define STRATA_RENDER_PAGE_H

#include <stdio.h>

#include "analyze/report.h"

int page_print_html(const struct report *report, FILE *out);

/* The timeline alone, as a figure for a paper. */
void page_print_svg(const struct report *report, FILE *out);

#endif
