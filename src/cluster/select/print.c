/* See print.h. */
#include "cluster/select/print.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/real.h"
#include "base/units.h"
#include "render/csv.h"
#include "render/table.h"

#define STARS 40 /* of a full bar */

/* ---- for people ---- */

static void print_title(const struct select_node *node, const struct select_series *series,
			const struct select_point *point, FILE *out)
{
	char start[40], length[32];

	escape_print(out, ESCAPE_TERMINAL, node->name, strlen(node->name));
	fprintf(out, " %s", series->metric.name);
	if (*series->label) {
		putc(' ', out);
		escape_print(out, ESCAPE_TERMINAL, series->label, strlen(series->label));
	}
	if (*series->op)
		fprintf(out, " %s", series->op);
	fprintf(out, ", %s of %s\n", units_format_duration(length, sizeof(length), point->covered),
		units_format_utc(start, sizeof(start), point->start));
}

/* As the bcc tools print one: a line a slot, from the first to the last that has something. */
static void print_slots(const struct select_point *point, FILE *out)
{
	unsigned first = 0;
	double most = 0;

	while (first < point->slot_count && point->slots[first] == 0)
		first++;
	for (unsigned i = first; i < point->slot_count; i++)
		most = point->slots[i] > most ? point->slots[i] : most;
	fprintf(out, "     usecs               : count     distribution\n");
	for (unsigned i = first; i < point->slot_count; i++) {
		unsigned long long low = i ? 1ull << i : 0;
		int stars = most > 0 ? (int)(point->slots[i] / most * STARS) : 0;
		char value[32];

		real_format(value, sizeof(value), point->slots[i]);
		if (strlen(value) > 8)
			snprintf(value, sizeof(value), "%.3f", point->slots[i]);
		fprintf(out, "%10llu -> %-10llu : %-8s |%-*.*s|\n", low, (2ull << i) - 1, value,
			STARS, stars, "****************************************");
	}
}

static void print_histograms(const struct select_answer *answer, FILE *out)
{
	for (unsigned n = 0; n < answer->count; n++)
		for (unsigned s = 0; s < answer->nodes[n].series_count; s++) {
			const struct select_series *series = &answer->nodes[n].series[s];

			for (unsigned p = 0;
			     select_is_slots(&series->metric) && p < series->point_count; p++) {
				print_title(&answer->nodes[n], series, &series->points[p], out);
				print_slots(&series->points[p], out);
				putc('\n', out);
			}
		}
}

static void table_value(struct table *table, const struct select_series *series,
			const struct select_point *point)
{
	char start[40];

	units_format_utc(start, sizeof(start), point->start);
	table_cell(table, "%.19sZ", start);
	if (point->known)
		table_cell(table, point->value < 1e6 ? "%.3f" : "%.0f", point->value);
	else
		table_cell(table, " ");
	table_cell(table, "%s", select_unit(&series->metric));
}

static void print_values(const struct select_answer *answer, unsigned width, FILE *out)
{
	struct table table;
	bool any = false;

	table_begin(&table, "node|metric|label|op|from|value|unit", "lllllrl");
	for (unsigned n = 0; n < answer->count; n++) {
		const struct select_node *node = &answer->nodes[n];

		for (unsigned s = 0; s < node->series_count; s++)
			for (unsigned p = 0; !select_is_slots(&node->series[s].metric) &&
					     p < node->series[s].point_count;
			     p++) {
				const struct select_series *series = &node->series[s];

				any = true;
				table_text(&table, node->name, strlen(node->name));
				table_cell(&table, "%s", series->metric.name);
				table_text(&table, series->label, strlen(series->label));
				table_cell(&table, "%s", series->op);
				table_value(&table, series, &series->points[p]);
			}
	}
	if (any)
		table_print(&table, out, width);
	else
		buf_free(&table.text);
}

/* ---- for programs ---- */

static void csv_start(struct csv *csv, const struct select_node *node,
		      const struct select_series *series, const struct select_point *point)
{
	csv_text(csv, node->name, strlen(node->name));
	csv_text(csv, series->metric.name, strlen(series->metric.name));
	csv_text(csv, series->label, strlen(series->label));
	csv_text(csv, series->op, strlen(series->op));
	csv_uint(csv, point->start);
	csv_uint(csv, point->start + point->length);
}

static void csv_point(struct csv *csv, const struct select_node *node,
		      const struct select_series *series, const struct select_point *point)
{
	char name[48];

	for (unsigned i = 0; select_is_slots(&series->metric) && i < point->slot_count; i++) {
		csv_start(csv, node, series, point);
		select_slot_name(i, name);
		csv_text(csv, name, strlen(name));
		csv_real(csv, point->slots[i]);
		csv_end_row(csv);
	}
	if (select_is_slots(&series->metric))
		return;
	csv_start(csv, node, series, point);
	csv_null(csv);
	if (point->known)
		csv_real(csv, point->value);
	else
		csv_null(csv);
	csv_end_row(csv);
}

static int print_csv(const struct select_answer *answer, FILE *out, struct error *e)
{
	static const char *const headers[] = { "node", "metric", "label", "op",
					       "from", "to",	 "slot",  "value" };
	struct csv csv;

	fflush(out);
	if (csv_open(&csv, fileno(out)))
		return error_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		csv_text(&csv, headers[i], strlen(headers[i]));
	csv_end_row(&csv);
	for (unsigned n = 0; n < answer->count; n++)
		for (unsigned s = 0; s < answer->nodes[n].series_count; s++)
			for (unsigned p = 0; p < answer->nodes[n].series[s].point_count; p++)
				csv_point(&csv, &answer->nodes[n], &answer->nodes[n].series[s],
					  &answer->nodes[n].series[s].points[p]);
	csv_flush(&csv);
	csv_free(&csv);
	return 0;
}

static int print_json(const struct select_answer *answer, FILE *out, struct error *e)
{
	struct buf json = { 0 };
	int err = select_answer_json(answer, &json);

	if (err)
		error_set(e, err, "out of memory");
	else
		fwrite(json.data, 1, json.size, out);
	buf_free(&json);
	return err;
}

/* Its client showed what Python makes of a dictionary: JSON, but for the quotes. */
static int print_original(const struct select_answer *answer, FILE *out, struct error *e)
{
	static const char rule[] = "====================================================";

	for (unsigned n = 0; n < answer->count; n++) {
		const struct select_node *node = &answer->nodes[n];

		if (*node->error)
			continue;
		fprintf(out, "\n%.20s %s %.20s\n", "********************", node->name,
			"********************");
		for (unsigned s = 0; s < node->series_count; s++) {
			struct select_node one = { .series = &node->series[s], .series_count = 1 };
			struct buf json = { 0 };
			char *value;

			if (select_node_original(&one, &json))
				return error_set(e, -ENOMEM, "out of memory");
			json.data[json.size - 1] = '\0'; /* without the brace behind the value */
			value = strstr((char *)json.data, "\": ") + 3;
			for (char *quote = value; (quote = strchr(quote, '"'));)
				*quote = '\'';
			fprintf(out, "\n%s :\n%s\n%s\n%s\n", node->series[s].metric.name, rule,
				strcmp(value, "null") ? value : "None", rule);
			buf_free(&json);
		}
	}
	return 0;
}

int select_print(const struct select_answer *answer, enum select_format format, unsigned width,
		 FILE *out, struct error *e)
{
	switch (format) {
	case SELECT_CSV: return print_csv(answer, out, e);
	case SELECT_JSON: return print_json(answer, out, e);
	case SELECT_ORIGINAL: return print_original(answer, out, e);
	case SELECT_TABLE: break;
	}
	print_histograms(answer, out);
	print_values(answer, width, out);
	return 0;
}
