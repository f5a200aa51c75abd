/* The dot commands of `strata sql`: what is not SQL. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cmd/sql.h"
#include "query/columns.h"
#include "query/text.h"
#include "query/views.h"
#include "render/safe.h"

struct dot_command {
	const char *name, *argument, *help;
	int (*run)(struct sql *sql, const char *argument);
};

static int dot_help(struct sql *sql, const char *argument);

static uint64_t count_rows(const struct run *run, unsigned table)
{
	struct chunk *chunks = NULL;
	uint64_t rows = 0;
	struct error e;
	size_t count;

	if (table == TABLE_thread)
		return threads_count(dims_threads(run->dims));
	if (table == TABLE_file)
		return dims_file_count(run->dims);
	if (reader_select(run->reader, table, 0, UINT64_MAX, &chunks, &count, &e))
		return 0;
	for (size_t i = 0; i < count; i++)
		rows += chunks[i].rows;
	free(chunks);
	return rows;
}

/* The first sentence of a doc, which says what a row is; .schema prints all of it. */
static int first_sentence(const char *doc)
{
	return (int)strcspn(doc, ";:.");
}

static int dot_tables(struct sql *sql, const char *argument)
{
	const struct runs *runs = database_runs(sql->database);
	char text[32];

	(void)argument;
	fprintf(sql->out, "%-12s %14s  %s\n", "table", "rows", "one row is");
	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		uint64_t rows = 0;

		for (size_t run = 0; run < runs->count; run++)
			rows += count_rows(&runs->items[run], i);
		fprintf(sql->out, "%-12s %14s  %.*s\n", schema_tables[i].name,
			units_format_count(text, sizeof(text), rows),
			first_sentence(schema_tables[i].doc), schema_tables[i].doc);
	}
	fprintf(sql->out, "\n%-12s %14s  %s\n", "view", "", "it shows");
	for (unsigned i = 0; i < view_count; i++)
		fprintf(sql->out, "%-12s %14s  %s\n", views[i].name, "", views[i].doc);
	return 0;
}

static void print_table_schema(FILE *out, const struct schema_table *table)
{
	struct query_column columns[QUERY_MAX_COLUMNS];
	unsigned count = query_columns(table, columns);

	fprintf(out, "%s: %s.\n\n%-12s %-12s %-6s %s\n", table->name, table->doc, "column", "type",
		"unit", "meaning");
	for (unsigned i = 0; i < count; i++) {
		const struct query_column *column = &columns[(i + 2) % count];

		fprintf(out, "%-12s %-12s %-6s %s\n", column->name, query_type_name(column->type),
			column->unit, column->doc);
	}
}

static void print_view_schema(FILE *out, const struct view *view)
{
	struct buf sql = { 0 };

	fprintf(out, "%s: %s.\n\n", view->name, view->doc);
	if (!view_append_sql(view, &sql))
		fprintf(out, "%.*s\n", (int)sql.size, (const char *)sql.data);
	buf_free(&sql);
}

static int unknown_table(const char *name)
{
	const char *names[TABLE_COUNT + 32];
	char hint[512];
	size_t count = 0;

	for (unsigned i = 0; i < TABLE_COUNT; i++)
		names[count++] = schema_tables[i].name;
	for (unsigned i = 0; i < view_count && count < TABLE_COUNT + 32; i++)
		names[count++] = views[i].name;
	log_error("unknown table '%s', %s", name,
		  suggest_names(hint, sizeof(hint), name, names, count));
	return -EINVAL;
}

static int dot_schema(struct sql *sql, const char *argument)
{
	const struct schema_table *table = schema_table_by_name(argument);

	if (!*argument) {
		for (unsigned i = 0; i < TABLE_COUNT; i++) {
			print_table_schema(sql->out, &schema_tables[i]);
			fputs("\n", sql->out);
		}
		for (unsigned i = 0; i < view_count; i++) {
			print_view_schema(sql->out, &views[i]);
			fputs(i + 1 < view_count ? "\n" : "", sql->out);
		}
		return 0;
	}
	if (table) {
		print_table_schema(sql->out, table);
		return 0;
	}
	for (unsigned i = 0; i < view_count; i++)
		if (!strcmp(views[i].name, argument)) {
			print_view_schema(sql->out, &views[i]);
			return 0;
		}
	return unknown_table(argument);
}

/* And a blank. */
static void print_padded(FILE *out, const duckdb_string_t *text, size_t width)
{
	safe_write(out, text_bytes(text), text->inlined.length);
	fprintf(out, "%*s",
		text->inlined.length < width ? (int)(width - text->inlined.length + 1) : 1, "");
}

static int dot_runs(struct sql *sql, const char *argument)
{
	const struct runs *runs = database_runs(sql->database);

	(void)argument;
	fprintf(sql->out, "%-24s %-16s %-30s  %s\n", "run", "node", "start", "file");
	for (size_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];
		char start[64] = "";
		uint64_t realtime;

		if (!dims_utc(run->dims, run->start, &realtime))
			units_format_utc(start, sizeof(start), realtime);
		print_padded(sql->out, &run->name, 24);
		print_padded(sql->out, &run->node, 16);
		fprintf(sql->out, "%-30s  ", start);
		safe_print(sql->out, run->path);
		putc('\n', sql->out);
	}
	return 0;
}

static int dot_format(struct sql *sql, const char *argument)
{
	struct error e;
	int err = sql_set_format(sql, argument, &e);

	if (err)
		log_error("%s", e.text);
	else if (sql->parquet && !sql->output) {
		sql->parquet = false;
		log_error("parquet needs -o FILE");
		return -EINVAL;
	}
	return err;
}

static int dot_timing(struct sql *sql, const char *argument)
{
	sql->timing = strcmp(argument, "off") != 0;
	return 0;
}

static int dot_quit(struct sql *sql, const char *argument)
{
	(void)argument;
	sql->quit = true;
	return 0;
}

static const struct dot_command dot_commands[] = {
	{ ".tables", "", "the tables and views, with rows and meaning", dot_tables },
	{ ".schema", "[NAME]", "columns with types, units and meaning", dot_schema },
	{ ".runs", "", "the recordings that are open", dot_runs },
	{ ".format", "NAME", "print table, csv, json, jsonl or markdown", dot_format },
	{ ".timing", "[off]", "print how long each statement took", dot_timing },
	{ ".help", "", "this list", dot_help },
	{ ".quit", "", "leave, as Ctrl-D does", dot_quit },
};

#define DOT_COUNT (sizeof(dot_commands) / sizeof(*dot_commands))

static int dot_help(struct sql *sql, const char *argument)
{
	(void)argument;
	for (size_t i = 0; i < DOT_COUNT; i++)
		fprintf(sql->out, "%-8s %-7s %s\n", dot_commands[i].name, dot_commands[i].argument,
			dot_commands[i].help);
	fputs("A statement may take many lines and ends with a semicolon. Ctrl-C cancels it.\n",
	      sql->out);
	return 0;
}

int sql_dot(struct sql *sql, const char *line)
{
	size_t length = strcspn(line, " \t;");
	const char *names[DOT_COUNT];
	char name[32], argument[128], hint[256];
	const char *start = line + length;
	size_t size;

	snprintf(name, sizeof(name), "%.*s", (int)length, line);
	start += strspn(start, " \t");
	size = strlen(start);
	while (size && (isspace((unsigned char)start[size - 1]) || start[size - 1] == ';'))
		size--;
	snprintf(argument, sizeof(argument), "%.*s", (int)size, start);
	for (size_t i = 0; i < DOT_COUNT; i++) {
		names[i] = dot_commands[i].name;
		if (!strcmp(name, dot_commands[i].name))
			return dot_commands[i].run(sql, argument);
	}
	log_error("unknown command '%s', %s", name,
		  suggest_names(hint, sizeof(hint), name, names, DOT_COUNT));
	return -EINVAL;
}
