#include "query/split.h"

#include <ctype.h>
#include <string.h>

static bool is_name_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || (unsigned char)byte >= 0x80;
}

/* $$...$$ or $tag$...$tag$. */
static const char *skip_dollars(const char *at)
{
	const char *tag = at + 1, *end;
	size_t size;

	while (is_name_byte(*tag))
		tag++;
	if (*tag != '$')
		return at;
	size = (size_t)(tag + 1 - at);
	for (end = tag + 1; *end; end++)
		if (!strncmp(end, at, size))
			return end + size;
	return end;
}

/* A quote is written twice inside; E'...' escapes with a backslash too. */
static const char *skip_quoted(const char *at, bool escapes)
{
	char quote = *at++;

	for (; *at; at++) {
		if (escapes && *at == '\\' && at[1])
			at++;
		else if (*at == quote && at[1] == quote)
			at++;
		else if (*at == quote)
			return at + 1;
	}
	return at;
}

static const char *skip_comment(const char *at)
{
	unsigned depth = 0;

	if (at[0] == '-') {
		while (*at && *at != '\n')
			at++;
		return at;
	}
	do {
		bool opens = at[0] == '/' && at[1] == '*', closes = at[0] == '*' && at[1] == '/';

		depth += opens;
		depth -= closes;
		at += opens || closes ? 2 : 1;
	} while (*at && depth);
	return at;
}

const char *split_skip(const char *at)
{
	if ((at[0] == 'e' || at[0] == 'E') && at[1] == '\'')
		return skip_quoted(at + 1, true);
	if (at[0] == '\'' || at[0] == '"')
		return skip_quoted(at, false);
	if ((at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*'))
		return skip_comment(at);
	if (at[0] == '$')
		return skip_dollars(at);
	return at;
}

/* Past blanks, comments and empty statements. */
static const char *skip_blank(const char *at)
{
	for (;;) {
		if (isspace((unsigned char)*at) || *at == ';')
			at++;
		else if ((at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*'))
			at = skip_comment(at);
		else
			return at;
	}
}

struct split split_statement(const char *text)
{
	struct split split = { .start = skip_blank(text) };
	const char *at = split.start, *past;

	while (*at && *at != ';') {
		/* The e of a name that ends before a quote is no mark of escapes. */
		if (is_name_byte(*at) && at[1] != '\'') {
			at++;
			continue;
		}
		if (at > split.start && is_name_byte(*at) && is_name_byte(at[-1])) {
			at++;
			continue;
		}
		past = split_skip(at);
		at = past == at ? at + 1 : past;
	}
	split.ended = *at == ';';
	split.next = split.ended ? at + 1 : at;
	while (at > split.start && isspace((unsigned char)at[-1]))
		at--;
	split.size = (size_t)(at - split.start);
	return split;
}
