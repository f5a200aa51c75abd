/* Formats for programs: CSV as `strata dump` has it, JSON, and JSON by lines. Rows are written as they come. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "render/csv.h"
#include "render/json.h"
#include "render/result.h"

static void csv_cell(struct csv *csv, const struct cell *cell)
{
	char buffer[RESULT_NUMBER];
	const char *text;
	size_t size;

	switch (cell->kind) {
	case CELL_IS_NULL: csv_null(csv); return;
	case CELL_IS_BOOL: csv_bool(csv, cell->truth); return;
	case CELL_IS_REAL: csv_real(csv, cell->real); return;
	case CELL_IS_INT:
		if (cell->number >= INT64_MIN && cell->number <= INT64_MAX) {
			csv_int(csv, (int64_t)cell->number);
			return;
		}
		break;
	case CELL_IS_TEXT: break;
	}
	text = result_text(cell, buffer, &size);
	csv_shown_text(csv, text, size);
}

static int print_csv(struct result *result, bool no_formulas, FILE *out,
		     struct result_counts *counts, struct error *e)
{
	struct csv csv = { 0 };
	int64_t rows = 0;

	fflush(out);
	if (csv_open(&csv, fileno(out)))
		return error_set(e, -ENOMEM, "out of memory");
	csv.no_formulas = no_formulas;
	for (unsigned i = 0; i < result->column_count; i++)
		csv_shown_text(&csv, result->columns[i].name, strlen(result->columns[i].name));
	csv_end_row(&csv);
	while (!csv.error && (rows = result_next(result, e)) > 0) {
		for (uint64_t row = 0; row < (uint64_t)rows; row++) {
			for (unsigned i = 0; i < result->column_count; i++) {
				struct cell cell = result_cell(result, i, row);

				csv_cell(&csv, &cell);
			}
			csv_end_row(&csv);
		}
		counts->rows += (uint64_t)rows;
	}
	csv_flush(&csv);
	/* A reader that has seen enough, such as head, is no failure. */
	if (rows >= 0 && csv.error && csv.error != -EPIPE)
		rows = error_set(e, csv.error, "cannot write: %s", strerror(-csv.error));
	csv_free(&csv);
	return rows < 0 ? (int)rows : 0;
}

static void json_cell(FILE *out, const struct result_column *column, const struct cell *cell)
{
	char buffer[RESULT_NUMBER];
	size_t size;
	const char *text = result_text(cell, buffer, &size);
	bool is_null =
		cell->kind == CELL_IS_NULL || (cell->kind == CELL_IS_REAL && !isfinite(cell->real));

	if (is_null)
		fputs("null", out);
	else if (cell->kind == CELL_IS_TEXT && !column->is_json)
		json_quote(out, text, size);
	else
		escape_print(out, ESCAPE_JSON_WHOLE, text, size);
}

static void json_row(const struct result *result, uint64_t row, FILE *out)
{
	putc('{', out);
	for (unsigned i = 0; i < result->column_count; i++) {
		struct cell cell = result_cell(result, i, row);

		if (i)
			putc(',', out);
		json_quote(out, result->columns[i].name, strlen(result->columns[i].name));
		putc(':', out);
		json_cell(out, &result->columns[i], &cell);
	}
	putc('}', out);
}

static int print_json(struct result *result, bool lines, FILE *out, struct result_counts *counts,
		      struct error *e)
{
	int64_t rows = 0;

	if (!lines)
		putc('[', out);
	while (!ferror(out) && (rows = result_next(result, e)) > 0) {
		for (uint64_t row = 0; row < (uint64_t)rows; row++) {
			if (!lines)
				fputs(counts->rows + row ? ",\n" : "\n", out);
			json_row(result, row, out);
			if (lines)
				putc('\n', out);
		}
		counts->rows += (uint64_t)rows;
	}
	if (!lines)
		fputs(counts->rows ? "\n]\n" : "]\n", out);
	return rows < 0 ? (int)rows : 0;
}

int result_print_lines(struct result *result, const struct result_style *style, FILE *out,
		       struct result_counts *counts, struct error *e)
{
	if (style->format == RESULT_CSV)
		return print_csv(result, style->no_formulas, out, counts, e);
	return print_json(result, style->format == RESULT_JSONL, out, counts, e);
}
