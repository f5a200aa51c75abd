/* What was done in each container, where there are several: as text and as JSON. */
#include "base/units.h"
#include "render/json_fields.h"
#include "render/report_json.h"
#include "render/report_sections.h"

void section_containers(const struct section_print *print)
{
	const struct container_uses *uses = &print->report->by_container;
	struct table table;

	if (!uses->count && print->style->section == SECTION_COUNT)
		return;
	section_title(print, "Containers",
		      "what was done in each, by the control groups of processes");
	if (!uses->count) {
		section_missing(print, "no two containers had processes of the job");
		return;
	}
	table_begin(&table, "processes|on CPU|CPU wait|read|in reads|written|in metadata|container",
		    "rrRrRRRl");
	for (size_t i = 0; i < uses->count && i < print->style->top; i++) {
		const struct container_use *use = &uses->list[i];

		table_count(&table, use->processes);
		table_duration(&table, use->cpu_ns);
		table_duration(&table, use->wait_ns);
		table_bytes(&table, use->read.bytes);
		table_duration(&table, use->read.time_ns);
		table_bytes(&table, use->written.bytes);
		table_duration(&table, use->metadata_ns);
		if (use->container.bytes)
			table_text(&table, use->container.bytes, use->container.size);
		else
			table_cell(&table, "(outside of any)");
	}
	section_table(print, &table);
	section_more(print, uses->count, print->style->top, "containers");
}

void report_json_containers(struct json *json, const struct report *report, size_t top)
{
	const struct container_uses *uses = &report->by_container;

	json_open(json, "containers", '[');
	for (size_t i = 0; i < uses->count && i < top; i++) {
		const struct container_use *use = &uses->list[i];

		json_open(json, NULL, '{');
		report_json_name(json, "container", &use->container);
		JSON_FIELDS(json, use, processes, cpu_ns, wait_ns);
		report_json_traffic(json, &use->read, &use->written);
		json_uint(json, "metadata_ns", use->metadata_ns);
		json_close(json);
	}
	json_close(json);
}
