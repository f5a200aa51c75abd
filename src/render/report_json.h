/* What the parts of a report's JSON share. */
#ifndef STRATA_RENDER_REPORT_JSON_H
#define STRATA_RENDER_REPORT_JSON_H

#include "analyze/report.h"
#include "render/json_fields.h"

void report_json_hist(struct json *json, const char *key, const struct hist *hist);
void report_json_name(struct json *json, const char *key, const struct dims_text *text);
void report_json_cell(struct json *json, const char *key, int64_t cell); /* CELL_NULL: null */
/* What everything that is read and written has: what was moved, and how it is spread. */
void report_json_traffic(struct json *json, const struct traffic *read,
			 const struct traffic *written);
/* pid, name and role of a process; nulls for PROC_NONE. */
void report_json_process(struct json *json, const struct report *report, uint32_t place);

void report_json_files(struct json *json, const struct report *report, size_t top);

void report_json_gpu_work(struct json *json, const struct gpu_work *work, size_t top);

void report_json_levels(struct json *json, const struct report *report, size_t top);

void report_json_containers(struct json *json, const struct report *report, size_t top);

#endif
