/* A result as a table for people, and as one of Markdown. All rows shown are held in memory, because the width of a
 * column is known only after its last row; that is what the limit of rows is for.
 *
 * A table that is wider than the terminal has its widest texts cut, in the middle, where paths can be spared most.
 * One with more columns than can stand side by side shows each row as a list instead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "render/result.h"
#include "schema/schema.h"

#define LEAST_WIDTH 8 /* of a column that has been cut */
#define GAP	    2

struct cell_text {
	size_t start, size;
	unsigned width; /* characters */
};

struct table {
	const struct result *result;
	struct buf bytes;
	struct buf texts; /* struct cell_text: the columns' names, then row by row */
	unsigned *widths;
	bool *plain; /* numbers that name something */
	uint64_t rows;
};

static unsigned count_characters(const char *bytes, size_t size)
{
	unsigned count = 0;

	for (size_t i = 0; i < size; i++)
		count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return count;
}

/* Of a number whose digits matter and whose size does not: an id, a time on some clock, bits. */
static bool is_name(const struct schema_column *column)
{
	switch (column->role) {
	case ROLE_TIME:
	case ROLE_INSTANT:
	case ROLE_PID:
	case ROLE_TID:
	case ROLE_KEY:
	case ROLE_FILE:
	case ROLE_RESULT: /* of some calls an address */
	case ROLE_ID: return true;
	case ROLE_GIVEN: return !*column->unit;
	default: return false;
	}
}

/* Whether numbers under this name are such: a result knows its columns by name alone. */
static bool names_something(const char *name)
{
	for (unsigned t = 0; t < TABLE_COUNT; t++) {
		int column = schema_column_by_name(&schema_tables[t], name);

		if (column >= 0 && is_name(&schema_tables[t].columns[column]))
			return true;
	}
	return false;
}

static int table_add_text(struct table *table, const struct cell *cell, unsigned column)
{
	struct cell_text text = { .start = table->bytes.size };
	int err = result_humane(cell, table->plain[column], &table->bytes);

	if (err)
		return err;
	text.size = table->bytes.size - text.start;
	text.width = count_characters((const char *)table->bytes.data + text.start, text.size);
	if (text.width > table->widths[column])
		table->widths[column] = text.width;
	return buf_append(&table->texts, &text, sizeof(text));
}

/* A name may be of data too, as of a PIVOT. */
static int table_add_name(struct table *table, unsigned column)
{
	struct cell cell = { .kind = CELL_IS_TEXT };

	cell.text.bytes = table->result->columns[column].name;
	cell.text.size = strlen(cell.text.bytes);
	return table_add_text(table, &cell, column);
}

static int table_open(struct table *table, const struct result *result)
{
	unsigned count = result->column_count;

	*table = (struct table){ .result = result,
				 .widths = calloc(count + 1, sizeof(*table->widths)),
				 .plain = calloc(count + 1, sizeof(*table->plain)) };
	if (!table->widths || !table->plain)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		table->plain[i] = names_something(result->columns[i].name);
		if (table_add_name(table, i))
			return -ENOMEM;
	}
	return 0;
}

static void table_close(struct table *table)
{
	buf_free(&table->bytes);
	buf_free(&table->texts);
	free(table->widths);
	free(table->plain);
}

static int table_fill(struct table *table, struct result *result, uint64_t limit, bool *cut,
		      struct error *e)
{
	int64_t rows;

	while ((rows = result_next(result, e)) > 0) {
		for (uint64_t row = 0; row < (uint64_t)rows; row++) {
			if (limit && table->rows == limit) {
				*cut = true;
				return 0;
			}
			for (unsigned i = 0; i < result->column_count; i++) {
				struct cell cell = result_cell(result, i, row);

				if (table_add_text(table, &cell, i))
					return error_set(e, -ENOMEM,
							 "no memory for the table: use -f csv");
			}
			table->rows++;
		}
	}
	return (int)rows;
}

static unsigned table_width(const struct table *table)
{
	unsigned width = 0;

	for (unsigned i = 0; i < table->result->column_count; i++)
		width += table->widths[i] + (i ? GAP : 0);
	return width;
}

/* Cuts the widest columns of text until the table fits. False: it cannot. */
static bool table_fit(struct table *table, unsigned width)
{
	while (table_width(table) > width) {
		unsigned widest = 0, at = 0;

		for (unsigned i = 0; i < table->result->column_count; i++)
			if (!table->result->columns[i].is_number && table->widths[i] > widest)
				widest = table->widths[at = i];
		if (widest <= LEAST_WIDTH)
			return false;
		table->widths[at]--;
	}
	return true;
}

static void print_characters(FILE *out, const char *bytes, size_t size, unsigned from,
			     unsigned count)
{
	unsigned at = 0;

	for (size_t i = 0; i < size; i++) {
		at += ((unsigned char)bytes[i] & 0xc0) != 0x80;
		if (at > from && at <= from + count)
			putc(bytes[i], out);
	}
}

static void print_cut(FILE *out, const char *bytes, size_t size, unsigned has, unsigned width)
{
	unsigned tail = (width - 1) * 2 / 3, head = width - 1 - tail;

	if (has <= width) {
		fwrite(bytes, 1, size, out);
		return;
	}
	print_characters(out, bytes, size, 0, head);
	fputs("…", out);
	print_characters(out, bytes, size, has - tail, tail);
}

static void print_cell(const struct table *table, FILE *out, unsigned column, const char *bytes,
		       size_t size, unsigned has)
{
	unsigned width = table->widths[column];
	int blank = has < width ? (int)(width - has) : 0;
	bool right = table->result->columns[column].is_number;
	bool last = column + 1 == table->result->column_count;

	if (column)
		fprintf(out, "%*s", GAP, "");
	if (right)
		fprintf(out, "%*s", blank, "");
	print_cut(out, bytes, size, has, width);
	if (!right && !last)
		fprintf(out, "%*s", blank, "");
}

/* Of a name, and of a cell. */
static const struct cell_text *name_at(const struct table *table, unsigned column)
{
	return (const struct cell_text *)table->texts.data + column;
}

static const struct cell_text *text_at(const struct table *table, uint64_t row, unsigned column)
{
	return name_at(table, column) + (row + 1) * table->result->column_count;
}

static const char *bytes_of(const struct table *table, const struct cell_text *text)
{
	return (const char *)table->bytes.data + text->start;
}

static void print_rows(const struct table *table, const struct result_style *style, FILE *out)
{
	const struct result *result = table->result;

	if (style->color)
		fputs("\033[1m", out);
	for (unsigned i = 0; i < result->column_count; i++) {
		const struct cell_text *name = name_at(table, i);

		print_cell(table, out, i, bytes_of(table, name), name->size, name->width);
	}
	fputs(style->color ? "\033[0m\n" : "\n", out);
	for (unsigned i = 0; i < result->column_count; i++) {
		if (i)
			fprintf(out, "%*s", GAP, "");
		for (unsigned c = 0; c < table->widths[i]; c++)
			fputs("─", out);
	}
	putc('\n', out);
	for (uint64_t row = 0; row < table->rows; row++) {
		for (unsigned i = 0; i < result->column_count; i++) {
			const struct cell_text *text = text_at(table, row, i);

			print_cell(table, out, i, bytes_of(table, text), text->size, text->width);
		}
		putc('\n', out);
	}
}

/* Row after row, a column a line. */
static void print_lists(const struct table *table, FILE *out)
{
	const struct result *result = table->result;
	unsigned widest = 0;

	for (unsigned i = 0; i < result->column_count; i++)
		if (name_at(table, i)->width > widest)
			widest = name_at(table, i)->width;
	for (uint64_t row = 0; row < table->rows; row++) {
		if (row)
			putc('\n', out);
		for (unsigned i = 0; i < result->column_count; i++) {
			const struct cell_text *text = text_at(table, row, i);
			const struct cell_text *name = name_at(table, i);

			fprintf(out, "%*s%.*s: ", (int)(widest - name->width), "", (int)name->size,
				bytes_of(table, name));
			fwrite(bytes_of(table, text), 1, text->size, out);
			putc('\n', out);
		}
	}
}

static void print_markdown_cell(FILE *out, const char *bytes, size_t size)
{
	fputs(" ", out);
	escape_print(out, ESCAPE_MARKDOWN, bytes, size);
	fputs(" |", out);
}

static void print_markdown(const struct table *table, FILE *out)
{
	const struct result *result = table->result;

	putc('|', out);
	for (unsigned i = 0; i < result->column_count; i++)
		print_markdown_cell(out, bytes_of(table, name_at(table, i)),
				    name_at(table, i)->size);
	fputs("\n|", out);
	for (unsigned i = 0; i < result->column_count; i++)
		fputs(result->columns[i].is_number ? "---:|" : "---|", out);
	putc('\n', out);
	for (uint64_t row = 0; row < table->rows; row++) {
		putc('|', out);
		for (unsigned i = 0; i < result->column_count; i++) {
			const struct cell_text *text = text_at(table, row, i);

			print_markdown_cell(out, bytes_of(table, text), text->size);
		}
		putc('\n', out);
	}
}

int result_print_table(struct result *result, const struct result_style *style, FILE *out,
		       struct result_counts *counts, struct error *e)
{
	struct table table;
	int err;

	err = table_open(&table, result);
	if (err)
		error_set(e, err, "out of memory");
	if (!err)
		err = table_fill(&table, result, style->format == RESULT_TABLE ? style->limit : 0,
				 &counts->cut, e);
	counts->rows = table.rows;
	if (err || !result->column_count)
		goto out;
	if (style->format == RESULT_MARKDOWN)
		print_markdown(&table, out);
	else if (style->width && !table_fit(&table, style->width))
		print_lists(&table, out);
	else
		print_rows(&table, style, out);
out:
	table_close(&table);
	return err;
}
