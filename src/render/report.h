/* The report of a run as text for people, JSON for programs. Errors stay in the stream. */
#ifndef STRATA_RENDER_REPORT_H
#define STRATA_RENDER_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/report.h"

/* The sections of the text, in the order printed. */
#define REPORT_SECTIONS(SECTION) \
	SECTION(overview)        \
	SECTION(phases)          \
	SECTION(steps)           \
	SECTION(roles)           \
	SECTION(containers)      \
	SECTION(waits)           \
	SECTION(tasks)           \
	SECTION(processes)       \
	SECTION(cpus)            \
	SECTION(gpus)            \
	SECTION(job)             \
	SECTION(files)           \
	SECTION(directories)     \
	SECTION(operations)      \
	SECTION(histograms)      \
	SECTION(devices)         \
	SECTION(levels)          \
	SECTION(trace)

enum report_section {
#define SECTION_ID(name) SECTION_##name,
	REPORT_SECTIONS(SECTION_ID)
#undef SECTION_ID
		SECTION_COUNT
};

extern const char *const report_sections[SECTION_COUNT];

struct report_style {
	unsigned width; /* columns of the terminal */
	size_t top;	/* rows of a list */
	int section;	/* enum report_section; SECTION_COUNT: all */
};

void report_print_text(const struct report *report, const struct report_style *style, FILE *out);
void report_print_overview(const struct report *report, const struct report_style *style,
			   FILE *out);

/* Keys: docs/report.md. top: the most elements of a list. */
void report_print_json(const struct report *report, size_t top, FILE *out);

#endif
