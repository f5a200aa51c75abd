/* What the sections of the text report share: where and how they print, and how they begin and end. */
#ifndef STRATA_RENDER_REPORT_SECTIONS_H
#define STRATA_RENDER_REPORT_SECTIONS_H

#include <stdio.h>

#include "render/report.h"
#include "render/table.h"

struct section_print {
	const struct report *report;
	const struct report_style *style;
	FILE *out;
};

void section_title(const struct section_print *print, const char *name, const char *says);
void section_missing(const struct section_print *print, const char *what); /* what cannot be told */
/* How many of a list were left out. */
void section_more(const struct section_print *print, size_t count, size_t shown, const char *what);
void section_table(const struct section_print *print, struct table *table);

void section_phases(const struct section_print *print);
void section_steps(const struct section_print *print);
void section_roles(const struct section_print *print);
void section_containers(const struct section_print *print);
void section_waits(const struct section_print *print);
void section_tasks(const struct section_print *print);
void section_processes(const struct section_print *print);
void section_cpus(const struct section_print *print);
void section_gpus(const struct section_print *print);
void section_job(const struct section_print *print);
void section_files(const struct section_print *print);
void section_directories(const struct section_print *print);
void section_operations(const struct section_print *print);
void section_histograms(const struct section_print *print);
void section_devices(const struct section_print *print);
void section_levels(const struct section_print *print);
void section_trace(const struct section_print *print);

#endif
