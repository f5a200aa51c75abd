#include "render/table.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"
#include "render/safe.h"

#define GAP   2
#define LEAST 12 /* columns that a cut column keeps */

void table_begin(struct table *table, const char *headers, const char *align)
{
	*table = (struct table){ .align = align, .columns = (unsigned)strlen(align) };
	while (headers) {
		size_t length = strcspn(headers, "|");

		table_text(table, headers, length);
		if (!headers[length])
			return;
		headers += length + 1;
	}
}

static void end_cell(struct table *table, int err)
{
	if (err || buf_append(&table->text, "", 1))
		table->failed = true;
}

void table_cell(struct table *table, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	end_cell(table, safe_append(&table->text, text, strlen(text)));
}

void table_text(struct table *table, const char *bytes, size_t size)
{
	end_cell(table,
		 bytes ? safe_append(&table->text, bytes, size) : buf_append(&table->text, "?", 1));
}

void table_bar(struct table *table, double share)
{
	char bar[TABLE_BAR + 1];
	int length = (int)(share * TABLE_BAR + 0.5);

	length = length < 0 ? 0 : length > TABLE_BAR ? TABLE_BAR : length;
	memset(bar, '#', (size_t)length);
	bar[length] = 0;
	table_cell(table, "%s", bar);
}

void table_duration(struct table *table, uint64_t ns)
{
	char text[32];

	table_cell(table, "%s", units_format_duration(text, sizeof(text), ns));
}

void table_bytes(struct table *table, uint64_t bytes)
{
	char text[32];

	table_cell(table, "%s", units_format_bytes(text, sizeof(text), bytes));
}

void table_count(struct table *table, uint64_t count)
{
	char text[32];

	table_cell(table, "%s", units_format_count(text, sizeof(text), count));
}

void table_share(struct table *table, double share)
{
	if (isnan(share))
		table_cell(table, "%s", "");
	else if (share > 0 && share < 0.0005)
		table_cell(table, "<0.1 %%");
	else
		table_cell(table, "%.1f %%", share * 100);
}

/* Columns of the terminal: one a character. */
static unsigned shown_width(const char *text)
{
	unsigned width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* Where the last `width` characters begin. */
static const char *last_characters(const char *text, unsigned width)
{
	unsigned skip = shown_width(text);

	for (skip = skip > width ? skip - width : 0; skip; skip--)
		do
			text++;
		while (((unsigned char)*text & 0xc0) == 0x80);
	return text;
}

static void print_cell(FILE *out, const char *text, char align, unsigned width, bool last)
{
	unsigned shown = shown_width(text);

	if (tolower(align) == 'p' && shown > width) {
		fprintf(out, "...%s", last_characters(text, width - 3));
		shown = width;
	} else if (tolower(align) == 'r') {
		fprintf(out, "%*s%s", (int)(width - shown), "", text);
		shown = width;
	} else {
		fputs(text, out);
	}
	if (!last)
		fprintf(out, "%*s", (int)(width - shown + GAP), "");
}

/* Columns of the line, where a column that may be cut keeps its least. */
static unsigned line_width(const struct table *table, const unsigned *widths)
{
	unsigned used = 0;

	for (unsigned i = 0; i < table->columns; i++) {
		bool cut = tolower(table->align[i]) == 'p' && widths[i] > LEAST;

		used += widths[i] ? (cut ? LEAST : widths[i]) + GAP : 0;
	}
	return used;
}

/* Lets columns go until the rest fits, then gives the column that may be cut what the others leave. */
static void fit_widths(const struct table *table, unsigned *widths, unsigned width)
{
	unsigned used;

	for (unsigned i = table->columns; i-- > 0 && line_width(table, widths) > width;)
		if (isupper((unsigned char)table->align[i]))
			widths[i] = 0;
	used = line_width(table, widths);
	for (unsigned i = 0; i < table->columns; i++) {
		unsigned room = width > used ? width - used + LEAST : LEAST;

		if (tolower(table->align[i]) == 'p' && widths[i] > room)
			widths[i] = room;
	}
}

/* The last column that is shown. */
static unsigned last_column(const struct table *table, const unsigned *widths)
{
	unsigned last = table->columns - 1;

	while (last && !widths[last])
		last--;
	return last;
}

void table_print(struct table *table, FILE *out, unsigned width)
{
	unsigned widths[TABLE_MOST_COLUMNS] = { 0 }, column = 0, last;
	const char *end, *at;

	if (table->failed) {
		fputs("(out of memory)\n", out);
		buf_free(&table->text);
		return;
	}
	if (!table->text.size) /* no cell at all */
		return;
	end = (const char *)table->text.data + table->text.size;
	for (at = (const char *)table->text.data; at < end; at += strlen(at) + 1) {
		if (shown_width(at) > widths[column])
			widths[column] = shown_width(at);
		column = (column + 1) % table->columns;
	}
	fit_widths(table, widths, width);
	last = last_column(table, widths);
	column = 0;
	for (at = (const char *)table->text.data; at < end; at += strlen(at) + 1) {
		if (!column)
			fprintf(out, "%*s", GAP, "");
		if (widths[column])
			print_cell(out, at, table->align[column], widths[column], column == last);
		column = (column + 1) % table->columns;
		if (!column)
			putc('\n', out);
	}
	buf_free(&table->text);
}
