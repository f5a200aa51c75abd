#include "query/hint.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "query/columns.h"
#include "query/views.h"

#define MAX_NAMES (TABLE_COUNT * QUERY_MAX_COLUMNS)

/* What stands between two pieces of the message: the name that DuckDB does not know. */
static bool find_between(const char *message, const char *before, const char *after, char *out,
			 size_t size)
{
	const char *start = strstr(message, before), *end;

	if (!start)
		return false;
	start += strlen(before);
	end = strstr(start, after);
	if (!end || (size_t)(end - start) >= size)
		return false;
	memcpy(out, start, (size_t)(end - start));
	out[end - start] = '\0';
	return true;
}

/* Whether the word stands in the query by itself. */
static bool mentions(const char *sql, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = strcasestr(sql, word); at; at = strcasestr(at + 1, word)) {
		bool begins = at == sql || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');

		if (begins && !isalnum((unsigned char)at[length]) && at[length] != '_')
			return true;
	}
	return false;
}

static size_t table_names(const char **names)
{
	size_t count = 0;

	for (unsigned i = 0; i < TABLE_COUNT; i++)
		names[count++] = schema_tables[i].name;
	for (unsigned i = 0; i < view_count; i++)
		names[count++] = views[i].name;
	return count;
}

/* The columns of the tables that the query mentions. */
static size_t column_names(const char *sql, const char **names)
{
	struct query_column columns[QUERY_MAX_COLUMNS];
	size_t count = 0;

	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		if (!mentions(sql, schema_tables[i].name))
			continue;
		for (unsigned c = 0, n = query_columns(&schema_tables[i], columns); c < n; c++) {
			size_t known = 0;

			while (known < count && strcmp(names[known], columns[c].name))
				known++;
			if (known == count)
				names[count++] = columns[c].name;
		}
	}
	return count;
}

/* What looks like a file, or was refused as one. */
static bool is_about_files(const char *message, const char *wrong)
{
	return strstr(message, "file system operations are disabled") || strpbrk(wrong, "/.");
}

void hint_set(struct error *e, const char *message, const char *sql)
{
	const char *names[MAX_NAMES];
	char wrong[128] = "", hint[512];
	size_t count = 0, length;

	if (!message)
		message = "DuckDB gave no reason";
	if (find_between(message, "Table with name ", " does not exist", wrong, sizeof(wrong)))
		count = table_names(names);
	else if (find_between(message, "Referenced column \"", "\" not found", wrong,
			      sizeof(wrong)) ||
		 find_between(message, "does not have a column named \"", "\"", wrong,
			      sizeof(wrong)))
		count = column_names(sql, names);
	length = strlen(message);
	while (length && isspace((unsigned char)message[length - 1]))
		length--;
	if (is_about_files(message, wrong)) {
		error_set(
			e, -EINVAL,
			"%.*s\nqueries read and write no other file unless --allow-files is given",
			(int)length, message);
		return;
	}
	if (!count) {
		error_set(e, -EINVAL, "%.*s", (int)length, message);
		return;
	}
	suggest_names(hint, sizeof(hint), wrong, names, count);
	error_set(e, -EINVAL, "%.*s\nno '%s' in the recording: %s", (int)length, message, wrong,
		  hint);
}
