#include "cluster/push/sql_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void sql_add(struct sql_text *sql, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text || sql->failed || buf_printf(&sql->buf, "%s", text))
		sql->failed = true;
	free(text);
}

static void add_quoted(struct sql_text *sql, const char *text, char mark)
{
	sql_add(sql, "%c", mark);
	for (; *text; text++)
		sql_add(sql, "%s%c", *text == mark || *text == '\\' ? "\\" : "", *text);
	sql_add(sql, "%c", mark);
}

void sql_string(struct sql_text *sql, const char *text)
{
	add_quoted(sql, text, '\'');
}

void sql_name(struct sql_text *sql, const char *name)
{
	add_quoted(sql, name, '`');
}

const char *sql_get(const struct sql_text *sql)
{
	if (sql->failed)
		return NULL;
	return sql->buf.size ? (const char *)sql->buf.data : "";
}

void sql_clear(struct sql_text *sql)
{
	sql->buf.size = 0;
	sql->failed = false;
}

void sql_free(struct sql_text *sql)
{
	buf_free(&sql->buf);
	sql->failed = false;
}
