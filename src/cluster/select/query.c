/* See query.h. A lexer of words and signs, and a descent through the clauses in their order. */
#include "cluster/select/query.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"

enum token {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_QUOTED,
	TOKEN_COMMA,
	TOKEN_EQUALS,
	TOKEN_STAR,
	TOKEN_BAD
};

struct parser {
	const char *text, *at; /* at: behind the token */
	const char *start;     /* of the token */
	enum token token;
	char word[SELECT_NAME]; /* of a word or a quoted text */
	bool too_long;
	struct error *e;
};

/* ---- failures ---- */

#define SHOWN 100 /* characters of the question that are shown around the place */

/* Puts the question and a caret below what was said. */
static int point_at(struct parser *parser, const char *place, int err)
{
	size_t offset = (size_t)(place - parser->text),
	       from = offset > SHOWN / 2 ? offset - SHOWN / 2 : 0;
	struct error said = *parser->e;
	char shown[SHOWN + 1];
	size_t size = strnlen(parser->text + from, SHOWN);

	memcpy(shown, parser->text + from, size);
	for (size_t i = 0; i < size; i++)
		if (iscntrl((unsigned char)shown[i]) || (unsigned char)shown[i] >= 0x80)
			shown[i] = '?';
	shown[size] = '\0';
	return error_set(parser->e, err, "%.700s\n  %s\n  %*s^", said.text, shown,
			 (int)(offset - from), "");
}

static int expected(struct parser *parser, const char *what)
{
	error_set(parser->e, -EINVAL, "%s is expected here", what);
	return point_at(parser, parser->start, -EINVAL);
}

/* ---- words ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-.:", c));
}

static void keep_word(struct parser *parser, const char *from, size_t size)
{
	parser->too_long = size >= sizeof(parser->word);
	snprintf(parser->word, sizeof(parser->word), "%.*s",
		 parser->too_long ? (int)sizeof(parser->word) - 1 : (int)size, from);
}

static void next_quoted(struct parser *parser)
{
	size_t size = strcspn(parser->at + 1, "'");

	parser->token = parser->at[1 + size] ? TOKEN_QUOTED : TOKEN_BAD;
	keep_word(parser, parser->at + 1, size);
	parser->at += 1 + size + (parser->token == TOKEN_QUOTED);
}

static void next(struct parser *parser)
{
	static const char signs[] = ",=*";
	static const enum token tokens[] = { TOKEN_COMMA, TOKEN_EQUALS, TOKEN_STAR };
	const char *sign;
	size_t size = 0;

	while (isspace((unsigned char)*parser->at))
		parser->at++;
	parser->start = parser->at;
	parser->word[0] = '\0';
	if (!*parser->at ||
	    (*parser->at == ';' && !parser->at[1 + strspn(parser->at + 1, " \t\n")])) {
		parser->token = TOKEN_END;
	} else if (*parser->at == '\'') {
		next_quoted(parser);
	} else if ((sign = strchr(signs, *parser->at))) {
		parser->token = tokens[sign - signs];
		parser->at++;
	} else if (is_word(*parser->at)) {
		while (is_word(parser->at[size]))
			size++;
		keep_word(parser, parser->at, size);
		parser->token = TOKEN_WORD;
		parser->at += size;
	} else {
		parser->token = TOKEN_BAD;
		parser->at++;
	}
}

/* Takes the word if it comes next. */
static bool take(struct parser *parser, const char *word)
{
	if (parser->token != TOKEN_WORD || strcasecmp(parser->word, word))
		return false;
	next(parser);
	return true;
}

static bool is_name(const struct parser *parser)
{
	return (parser->token == TOKEN_WORD || parser->token == TOKEN_QUOTED) &&
	       !parser->too_long && *parser->word;
}

/* ---- clauses ---- */

static int parse_metrics(struct parser *parser, struct select_query *query)
{
	do {
		if (query->metric_count)
			next(parser);
		if (!is_name(parser))
			return expected(parser, "a metric, such as cpu_avg or runqlat_p99,");
		if (query->metric_count == SELECT_METRICS) {
			error_set(parser->e, -EINVAL, "more than %d metrics", SELECT_METRICS);
			return point_at(parser, parser->start, -EINVAL);
		}
		if (select_find_metric(parser->word, &query->metrics[query->metric_count++],
				       parser->e))
			return point_at(parser, parser->start, -ENOENT);
		next(parser);
	} while (parser->token == TOKEN_COMMA);
	return 0;
}

static int add_node(struct parser *parser, struct select_query *query)
{
	char(*nodes)[SELECT_NAME];

	if (!is_name(parser))
		return expected(parser, "a node's name, or *,");
	for (unsigned i = 0; i < query->node_count; i++)
		if (!strcmp(query->nodes[i], parser->word))
			return 0;
	if (query->node_count == SELECT_NODES) {
		error_set(parser->e, -EINVAL, "more than %d nodes", SELECT_NODES);
		return point_at(parser, parser->start, -EINVAL);
	}
	nodes = realloc(query->nodes, (query->node_count + 1) * sizeof(*nodes));
	if (!nodes)
		return error_set(parser->e, -ENOMEM, "out of memory");
	query->nodes = nodes;
	memcpy(nodes[query->node_count++], parser->word, SELECT_NAME);
	return 0;
}

static int parse_nodes(struct parser *parser, struct select_query *query)
{
	int err;

	if (!take(parser, "from"))
		return expected(parser, "'from'");
	if (parser->token == TOKEN_STAR) {
		next(parser);
		return 0;
	}
	for (;;) {
		err = add_node(parser, query);
		if (err)
			return err;
		next(parser);
		if (parser->token != TOKEN_COMMA)
			return 0;
		next(parser);
	}
}

static int parse_condition(struct parser *parser, struct select_query *query)
{
	bool of_pid = take(parser, "pid");
	uint64_t pid;

	if (!of_pid && !take(parser, "comm"))
		return expected(parser, "'pid' or 'comm'");
	if (parser->token != TOKEN_EQUALS)
		return expected(parser, "'='");
	next(parser);
	if (of_pid) {
		if (parser->token != TOKEN_WORD || units_parse_count(parser->word, &pid) || !pid ||
		    pid > INT32_MAX)
			return expected(parser, "a process id");
		query->pid = (int64_t)pid;
	} else {
		if (!is_name(parser) || strlen(parser->word) >= SELECT_COMM)
			return expected(parser,
					"a name of up to 15 characters, such as 'python3',");
		snprintf(query->comm, sizeof(query->comm), "%.15s", parser->word);
	}
	next(parser);
	return 0;
}

static int parse_where(struct parser *parser, struct select_query *query)
{
	const char *where = parser->start;
	int err = 0;

	if (!take(parser, "where"))
		return 0;
	do
		err = parse_condition(parser, query);
	while (!err && take(parser, "and"));
	for (unsigned i = 0; i < query->metric_count && !err; i++) {
		const struct metric_info *info = &metrics[query->metrics[i].metric];

		if (info->per_process)
			continue;
		error_set(parser->e, -EINVAL, "%s is not kept for each process, only of the node",
			  query->metrics[i].name);
		err = point_at(parser, where, -EINVAL);
	}
	return err;
}

static int parse_duration(struct parser *parser, const char *word, uint64_t *out)
{
	if (!take(parser, word))
		return 0;
	if (parser->token != TOKEN_WORD || units_parse_duration(parser->word, out) ||
	    *out < NS_PER_SECOND / 10 || *out > 366ull * 86400 * NS_PER_SECOND)
		return expected(parser, "a time of 100ms or more, such as 10s, 5m or 2h,");
	next(parser);
	return 0;
}

static int parse_until(struct parser *parser, struct select_query *query)
{
	if (!take(parser, "until"))
		return 0;
	if (!is_name(parser) || units_parse_utc(parser->word, &query->until) || !query->until)
		return expected(parser, "a time in UTC, such as 2026-11-15T03:57:25Z,");
	next(parser);
	return 0;
}

static int parse_clauses(struct parser *parser, struct select_query *query)
{
	int err = parse_metrics(parser, query);

	if (!err)
		err = parse_nodes(parser, query);
	if (!err)
		err = parse_where(parser, query);
	if (!err)
		err = parse_duration(parser, "over", &query->over);
	if (!err)
		err = parse_duration(parser, "every", &query->every);
	if (!err)
		err = parse_until(parser, query);
	if (!err && parser->token != TOKEN_END)
		err = expected(parser, "where, over, every, until or the end");
	return err;
}

int select_parse(const char *text, struct select_query *query, struct error *e)
{
	struct parser parser = { .text = text, .at = text, .e = e };
	int err;

	*query = (struct select_query){ .pid = -1 };
	if (strnlen(text, SELECT_TEXT) == SELECT_TEXT)
		return error_set(e, -EINVAL, "a question has %d bytes at most", SELECT_TEXT - 1);
	next(&parser);
	take(&parser, "select");
	err = parse_clauses(&parser, query);
	if (err)
		select_query_free(query);
	return err;
}

void select_query_free(struct select_query *query)
{
	free(query->nodes);
	query->nodes = NULL;
	query->node_count = 0;
}
