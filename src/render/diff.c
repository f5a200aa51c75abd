#include "render/diff.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "render/json.h"
#include "render/safe.h"
#include "render/table.h"

static const char *format_amount(char *out, size_t size, enum amount unit, double value)
{
	static char *(*const formats[])(char *, size_t, uint64_t) = {
		[AMOUNT_ns] = units_format_duration,
		[AMOUNT_bytes] = units_format_bytes,
		[AMOUNT_count] = units_format_count,
	};

	if (isnan(value))
		return "-";
	/* A double can be greater than any count. */
	value = fabs(value);
	return formats[unit](out, size, value < 0x1p64 ? (uint64_t)value : UINT64_MAX);
}

static void cell_value(struct table *table, const struct diff_item *item, double value)
{
	char text[32];

	table_cell(table, "%s", format_amount(text, sizeof(text), item->unit, value));
}

static void cell_change(struct table *table, const struct diff_item *item)
{
	char text[32];

	if (isnan(item->change))
		table_cell(table, isnan(item->a) ? "only in B" : "only in A");
	else
		table_cell(table, "%s%s",
			   item->change < 0   ? "-"
			   : item->change > 0 ? "+"
					      : "",
			   format_amount(text, sizeof(text), item->unit, item->change));
	if (isnan(item->share))
		table_cell(table, "%s", "");
	else
		table_cell(table, "%+.1f %%", item->share * 100);
}

static void cell_noise(struct table *table, const struct diff_item *item)
{
	if (isnan(item->noise))
		table_cell(table, "?");
	else if (item->noise == 0)
		table_cell(table, "exact");
	else
		cell_value(table, item, item->noise);
	table_cell(table, "%s", diff_verdicts[item->verdict]);
}

static void print_row(struct table *table, const struct diff_item *item)
{
	table_cell(table, "%s", item->what);
	cell_value(table, item, item->a);
	cell_value(table, item, item->b);
	cell_change(table, item);
	cell_noise(table, item);
	if (item->name.bytes)
		table_text(table, item->name.bytes, item->name.size);
	else
		table_cell(table, "%s", "");
}

static void print_group(const struct diff *diff, enum diff_group group, unsigned width, size_t top,
			FILE *out)
{
	size_t shown = 0, left_out = 0;
	struct table table;

	table_begin(&table, "what|A|B|change||noise||of", "lrrrRRLp");
	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_item *item = &diff->items[i];

		if (item->group != group || item->verdict == DIFF_SAME)
			continue;
		if (shown == top) {
			left_out++;
			continue;
		}
		shown++;
		print_row(&table, item);
	}
	if (!shown) {
		buf_free(&table.text);
		return;
	}
	fprintf(out, "\n%s\n", diff_groups[group]);
	table_print(&table, out, width);
	if (left_out)
		fprintf(out, "  ... and %zu more (--top N shows more)\n", left_out);
}

static void print_head(const struct report *report, const char *name, FILE *out)
{
	char text[32];

	fprintf(out, "%s: ", name);
	safe_print(out, report->summary.path);
	fprintf(out, ", %s",
		units_format_duration(text, sizeof(text), span_length(&report->context.window)));
	if (report->summary.command) {
		fputs(", ", out);
		safe_print(out, report->summary.command);
	}
	if (report->summary.lost)
		fprintf(out, ", %s EVENTS LOST",
			units_format_count(text, sizeof(text), report->summary.lost));
	if (!report->summary.complete)
		fputs(", not complete", out);
	putc('\n', out);
}

static void print_layers(const struct diff *diff, FILE *out)
{
	for (unsigned i = 0; i < LAYER_COUNT; i++)
		if ((diff->only_a | diff->only_b) & LAYER_BIT(i))
			fprintf(out,
				"Layer %s was recorded in %s only: its figures cannot be "
				"compared.\n",
				layer_names.names[i], diff->only_a & LAYER_BIT(i) ? "A" : "B");
}

void diff_print_text(const struct diff *diff, const struct report *a, const struct report *b,
		     unsigned width, size_t top, FILE *out)
{
	print_head(a, "A", out);
	print_head(b, "B", out);
	print_layers(diff, out);
	fputs("Noise is one standard deviation as the runs themselves show it; beyond noise is "
	      "more than "
	      "three.\nIt leaves out what differs from run to run (caches, other load): repeat "
	      "both to "
	      "be sure.\n",
	      out);
	for (unsigned i = 0; i < DIFF_GROUP_COUNT; i++)
		print_group(diff, i, width, i == DIFF_run ? SIZE_MAX : top, out);
}

static void json_number(struct json *json, const char *key, double value)
{
	if (!isnan(value) && value == floor(value) && fabs(value) < 9e15)
		json_int(json, key, (int64_t)value);
	else
		json_real(json, key, value);
}

static void print_layer_list(struct json *json, const char *key, uint32_t layers)
{
	json_open(json, key, '[');
	for (unsigned i = 0; i < LAYER_COUNT; i++)
		if (layers & LAYER_BIT(i))
			json_string(json, NULL, layer_names.names[i]);
	json_close(json);
}

static void print_run(struct json *json, const char *key, const struct report *report)
{
	json_open(json, key, '{');
	json_string(json, "path", report->summary.path);
	json_string(json, "command", report->summary.command);
	json_uint(json, "length_ns", span_length(&report->context.window));
	json_uint(json, "lost", report->summary.lost);
	json_bool(json, "complete", report->summary.complete);
	json_close(json);
}

static void print_item(struct json *json, const struct diff_item *item)
{
	json_open(json, NULL, '{');
	json_string(json, "group", diff_groups[item->group]);
	json_string(json, "what", item->what);
	if (item->name.bytes)
		json_text(json, "name", item->name.bytes, item->name.size);
	else
		json_null(json, "name");
	json_string(json, "unit", amount_names[item->unit]);
	json_number(json, "a", item->a);
	json_number(json, "b", item->b);
	json_number(json, "change", item->change);
	json_real(json, "share", item->share);
	json_number(json, "noise", item->noise);
	json_string(json, "verdict", diff_verdicts[item->verdict]);
	json_close(json);
}

void diff_print_json(const struct diff *diff, const struct report *a, const struct report *b,
		     size_t top, FILE *out)
{
	struct json json = { .out = out };
	size_t shown[DIFF_GROUP_COUNT] = { 0 };

	json_open(&json, NULL, '{');
	print_run(&json, "a", a);
	print_run(&json, "b", b);
	print_layer_list(&json, "layers_only_a", diff->only_a);
	print_layer_list(&json, "layers_only_b", diff->only_b);
	json_open(&json, "items", '[');
	for (size_t i = 0; i < diff->count; i++)
		if (shown[diff->items[i].group]++ < top)
			print_item(&json, &diff->items[i]);
	json_close(&json);
	json_close(&json);
}
