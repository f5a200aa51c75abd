/* Makes a trace of rows written as text, for tests of what no recording here can hold: rows_to_run FILE <rows
 *
 * A line is a table and its cells: `io ts=1000 dur=20 tid=7 op=read`. In texts %XX is a byte; a name of a fixed list is
 * written as it is. A column that is left out is null.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/builder.h"
#include "store/writer.h"

static void fail(const char *what, const char *which)
{
	fprintf(stderr, "rows_to_run: %s '%s'\n", what, which);
	exit(1);
}

static void check(int err, const struct error *e)
{
	if (err)
		fail("cannot write:", e->text);
}

static void flush(struct builder *builder, struct writer *writer)
{
	struct buf chunk = { 0 };
	struct error e;

	if (!builder || !builder->rows)
		return;
	check(builder_encode(builder, &chunk, &e), &e);
	check(writer_append(writer, &chunk, &e), &e);
	buf_free(&chunk);
}

/* Decodes %XX in place and returns the size. */
static size_t decode(char *text)
{
	char *out = text;

	for (const char *at = text; *at; at++) {
		char digits[3] = { 0 };

		if (*at == '%' && at[1] && at[2]) {
			memcpy(digits, at + 1, 2);
			*out++ = (char)strtol(digits, NULL, 16);
			at += 2;
		} else {
			*out++ = *at;
		}
	}
	return (size_t)(out - text);
}

static int64_t find_name(const struct schema_column *column, const char *text)
{
	for (unsigned i = 0; i < column->names->count; i++)
		if (column->names->names[i] && !strcmp(column->names->names[i], text))
			return i;
	fail("no such name:", text);
	return 0;
}

static void set_cell(struct builder *builder, char *cell)
{
	const struct schema_column *schema;
	char *text = strchr(cell, '=');
	unsigned column;
	int found;

	if (!text)
		fail("not column=value:", cell);
	*text++ = 0;
	found = schema_column_by_name(builder->table, cell);
	if (found < 0)
		fail("no such column:", cell);
	column = (unsigned)found;
	schema = &builder->table->columns[column];
	switch (schema->type) {
	case TYPE_TEXT: builder_set_text(builder, column, text, decode(text)); break;
	case TYPE_NAME: builder_set(builder, column, find_name(schema, text)); break;
	case TYPE_REAL: builder_set_real(builder, column, strtod(text, NULL)); break;
	default: builder_set(builder, column, strtoll(text, NULL, 0)); break;
	}
}

static void add_row(struct builder **builders, struct writer *writer, char *line)
{
	const struct schema_table *table;
	struct builder **builder;
	char *cell = strtok(line, " \n");
	struct error e;

	if (!cell)
		return;
	table = schema_table_by_name(cell);
	if (!table)
		fail("no such table:", cell);
	builder = &builders[table - schema_tables];
	if (!*builder)
		check(builder_open(builder, table, &e), &e);
	while ((cell = strtok(NULL, " \n")))
		set_cell(*builder, cell);
	builder_end_row(*builder);
	if (builder_full(*builder))
		flush(*builder, writer);
}

int main(int argc, char **argv)
{
	struct builder *builders[TABLE_COUNT] = { 0 };
	struct writer *writer;
	char *line = NULL;
	size_t capacity = 0;
	struct error e;
	int fd;

	if (argc != 2)
		fail("usage: rows_to_run FILE", "");
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		fail("cannot write", argv[1]);
	check(writer_open(&writer, fd, &e), &e);
	while (getline(&line, &capacity, stdin) > 0)
		add_row(builders, writer, line);
	for (unsigned table = 0; table < TABLE_COUNT; table++) {
		flush(builders[table], writer);
		if (builders[table])
			builder_close(builders[table]);
	}
	check(writer_close(writer, &e), &e);
	free(line);
	return 0;
}
