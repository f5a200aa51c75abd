/* The section of a report about levels: what ran inside what, from library calls down to devices. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "render/report_json.h"
#include "render/report_sections.h"

#define MOST_INSIDE 4 /* operations that are shown inside another one */

static void put_time(struct table *table, int64_t ns)
{
	if (ns == CELL_NULL)
		table_cell(table, "%s", "");
	else
		table_duration(table, (uint64_t)ns);
}

static void put_node(struct table *table, const struct level_node *node)
{
	char name[256];

	snprintf(name, sizeof(name), "%*s%.*s%s%.*s%s", (int)(2 * node->depth), "",
		 (int)node->name_size, node->name, node->module ? " [" : "", (int)node->module_size,
		 node->module ? node->module : "", node->module ? "]" : "");
	table_cell(table, "%s", level_names[node->level]);
	table_count(table, node->calls);
	if (node->bytes == CELL_NULL)
		table_cell(table, "%s", "");
	else
		table_bytes(table, (uint64_t)node->bytes);
	if (isnan(node->bytes_a_call))
		table_cell(table, "%s", "");
	else
		table_bytes(table, node->bytes_a_call < 0x1p64 ? (uint64_t)node->bytes_a_call
							       : UINT64_MAX);
	if (isnan(node->growth))
		table_cell(table, "%s", "");
	else
		table_cell(table, "%.3g", node->growth);
	put_time(table, node->time_ns);
	put_time(table, node->own_ns);
	table_text(table, name, strlen(name));
}

static void print_shares(const struct section_print *print, const struct levels *levels)
{
	char text[32];
	bool any = false;

	for (unsigned i = 0; i < LEVEL_COUNT; i++) {
		if (!levels->own_ns[i])
			continue;
		fprintf(print->out, "%s%s %s", any ? ", " : "  own time by level: ", level_names[i],
			units_format_duration(text, sizeof(text), levels->own_ns[i]));
		any = true;
	}
	if (any)
		putc('\n', print->out);
}

void section_levels(const struct section_print *print)
{
	const struct levels *levels = &print->report->levels;
	size_t top = print->style->top, roots = 0;
	uint32_t left_out =
		UINT32_MAX; /* what is deeper than this is inside one that is not shown */
	struct table table;

	section_title(print, "Levels",
		      "what ran inside what, by time; own: in nothing below it; x: bytes for each "
		      "byte above");
	if (!levels->count) {
		section_missing(print,
				"none of the layers call, io, fs, mem, fault and block has a row");
		return;
	}
	print_shares(print, levels);
	table_begin(&table, "level|calls|bytes|each|x|time|own|operation", "lrrRRrrl");
	for (size_t i = 0; i < levels->count; i++) {
		const struct level_node *node = &levels->nodes[i];

		roots += !node->depth;
		if (node->depth > left_out)
			continue;
		left_out =
			node->place < (node->depth ? MOST_INSIDE : top) ? UINT32_MAX : node->depth;
		if (left_out == UINT32_MAX)
			put_node(&table, node);
	}
	section_table(print, &table);
	section_more(print, roots, top, "operations");
}

/* ---- JSON ---- */

static void print_node(struct json *json, const struct level_node *node)
{
	json_string(json, "level", level_names[node->level]);
	json_text(json, "name", node->name, node->name_size);
	if (node->module)
		json_text(json, "module", node->module, node->module_size);
	else
		json_null(json, "module");
	if (node->parent == LEVELS_NO_PARENT)
		json_null(json, "parent");
	else
		json_uint(json, "parent", node->parent);
	JSON_FIELDS(json, node, depth, calls, untimed);
	report_json_cell(json, "bytes", node->bytes);
	report_json_cell(json, "time_ns", node->time_ns);
	report_json_cell(json, "own_ns", node->own_ns);
	JSON_FIELDS(json, node, bytes_a_call, growth);
}

void report_json_levels(struct json *json, const struct report *report, size_t top)
{
	const struct levels *levels = &report->levels;
	size_t count = 0;

	while (count < levels->count &&
	       (levels->nodes[count].depth || levels->nodes[count].place < top))
		count++;

	json_open(json, "levels", '{');
	json_open(json, "own_ns", '{');
	for (unsigned i = 0; i < LEVEL_COUNT; i++)
		json_uint(json, level_names[i], levels->own_ns[i]);
	json_close(json);
	JSON_FIELDS(json, levels, cut);
	JSON_LIST(json, "operations", levels->nodes, count, print_node);
	json_close(json);
}
