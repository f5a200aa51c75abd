/* What the sections of the text report share: the page they print on, and how they begin and end. */
#ifndef STRATA_RENDER_REPORT_SECTIONS_H
#define STRATA_RENDER_REPORT_SECTIONS_H

#include <stdio.h>

#include "render/report.h"

struct page {
	const struct report *report;
	const struct report_style *style;
	FILE *out;
};

void section_title(const struct page *page, const char *name, const char *says);
void section_missing(const struct page *page, const char *what); /* what cannot be told */
void section_more(const struct page *page, size_t count, const char *what); /* those left out */

void section_files(const struct page *page);
void section_directories(const struct page *page);
void section_operations(const struct page *page);
void section_histograms(const struct page *page);
void section_devices(const struct page *page);

#endif
