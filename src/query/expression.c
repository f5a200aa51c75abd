#include "query/expression.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "query/split.h"

struct piece {
	const char *start, *end;
};

struct parser {
	const char *prefix;
	const struct query_column *columns;
	unsigned column_count;
	struct buf conditions; /* struct condition */
};

static struct piece trim(struct piece span)
{
	while (span.start < span.end && isspace((unsigned char)*span.start))
		span.start++;
	while (span.start < span.end && isspace((unsigned char)span.end[-1]))
		span.end--;
	return span;
}

/* Past one token; a parenthesis and what it holds is one. Never past the end. */
static const char *next_at(const char *at, const char *end)
{
	unsigned depth = 0;

	do {
		const char *past = split_skip(at);

		if (past == at) {
			depth += *at == '(';
			depth -= *at == ')' && depth;
			past = at + 1;
		}
		at = past;
	} while (depth && at < end);
	return at < end ? at : end;
}

/* Without the parentheses that hold all of it. */
static struct piece strip(struct piece span)
{
	span = trim(span);
	while (span.start < span.end && *span.start == '(' &&
	       next_at(span.start, span.end) == span.end && span.end[-1] == ')') {
		span.start++;
		span.end--;
		span = trim(span);
	}
	return span;
}

static bool is_word_at(const char *at, struct piece span, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(span.end - at) >= length && !strncmp(at, word, length) &&
	       (at == span.start || isspace((unsigned char)at[-1]) || at[-1] == ')') &&
	       (at + length == span.end || isspace((unsigned char)at[length]) || at[length] == '(');
}

/* Where the word stands outside parentheses and strings, or NULL. The AND of a BETWEEN does not count. */
static const char *find_word(struct piece span, const char *word)
{
	bool between = false;

	for (const char *at = span.start; at < span.end; at = next_at(at, span.end)) {
		if (is_word_at(at, span, "BETWEEN"))
			between = true;
		if (!is_word_at(at, span, word))
			continue;
		if (!between || strcmp(word, "AND"))
			return at;
		between = false;
	}
	return NULL;
}

/* The column that the text names, or -1. A cast to another kind of number leaves the order as it is. */
static int find_column(const struct parser *parser, struct piece span, bool *cast)
{
	static const char *const kinds[] = { "DOUBLE)", "DECIMAL(", "HUGEINT)", "BIGINT)", NULL };
	size_t prefix = strlen(parser->prefix);
	unsigned kind = 0;

	span = strip(span);
	*cast = false;
	if (span.end - span.start > 5 && !strncmp(span.start, "CAST(", 5)) {
		struct piece inside = { span.start + 5, span.end - 1 };
		const char *as = find_word(inside, "AS");

		while (as && kinds[kind] && strncmp(as + 3, kinds[kind], strlen(kinds[kind])))
			kind++;
		if (!as || !kinds[kind])
			return -1;
		span = trim((struct piece){ inside.start, as });
		*cast = true;
	}
	if ((size_t)(span.end - span.start) <= prefix ||
	    strncmp(span.start, parser->prefix, prefix))
		return -1;
	span.start += prefix;
	for (unsigned i = 0; i < parser->column_count; i++) {
		const char *name = parser->columns[i].name;

		if (strlen(name) == (size_t)(span.end - span.start) &&
		    !strncmp(name, span.start, strlen(name)))
			return (int)i;
	}
	return -1;
}

/* 'it''s': 0, or -EINVAL when there is more than a string, and -ENOMEM. */
static int parse_string(struct piece span, struct buf *out)
{
	const char *at = span.start + 1;
	int err = 0;

	for (; at < span.end && !err; at++) {
		if (*at == '\'' && (at + 1 == span.end || at[1] != '\''))
			break;
		at += *at == '\'';
		err = buf_append(out, at, 1);
	}
	if (err)
		return err;
	return at + 1 == span.end ? 0 : -EINVAL;
}

/* '2026-11-15 05:19:39.5'::TIMESTAMP_NS */
static int parse_time(struct piece span, struct constant *constant)
{
	static const char type[] = "'::TIMESTAMP_NS";
	size_t length = (size_t)(span.end - span.start), tail = strlen(type);
	uint64_t realtime;
	char text[64];
	char *blank;

	if (length <= tail + 1 || length - tail >= sizeof(text) - 1 ||
	    strncmp(span.end - tail, type, tail))
		return -EINVAL;
	snprintf(text, sizeof(text), "%.*sZ", (int)(length - tail - 1), span.start + 1);
	blank = strchr(text, ' ');
	if (blank)
		*blank = 'T';
	if (units_parse_utc(text, &realtime) || realtime > INT64_MAX)
		return -EINVAL;
	constant->number = (int64_t)realtime;
	constant->real = (double)realtime;
	constant->exact = true;
	return 0;
}

static int parse_constant(struct piece span, struct constant *constant)
{
	char text[64];
	char *end;

	span = strip(span);
	*constant = (struct constant){ 0 };
	if (span.start == span.end)
		return -EINVAL;
	if (*span.start == '\'' && span.end[-1] != '\'')
		return parse_time(span, constant);
	if (*span.start == '\'') {
		constant->is_text = true;
		return parse_string(span, &constant->text);
	}
	if ((size_t)(span.end - span.start) >= sizeof(text))
		return -EINVAL;
	snprintf(text, sizeof(text), "%.*s", (int)(span.end - span.start), span.start);
	constant->real = strtod(text, &end);
	if (end == text || *end || !isfinite(constant->real))
		return -EINVAL;
	errno = 0;
	constant->number = strtoll(text, &end, 10);
	constant->exact = !*end && !errno;
	return 0;
}

static const char *mirrored(const char *op)
{
	return *op == '<' ? (op[1] ? ">=" : ">") : *op == '>' ? (op[1] ? "<=" : "<") : op;
}

static int parse_comparison(const struct parser *parser, struct piece span,
			    struct condition *condition)
{
	static const char *const ops[] = { "<=", ">=", "=", "<", ">" };
	struct constant constant = { 0 };
	bool cast = false;
	int err = -EINVAL;

	for (const char *at = span.start; at < span.end; at = next_at(at, span.end)) {
		for (unsigned i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
			size_t size = strlen(ops[i]);
			struct piece left = { span.start, at }, right = { at + size, span.end };
			const char *op = ops[i];
			int column;

			/* DuckDB sets operators off with blanks; != and <> are none of these. */
			if (strncmp(at, op, size) || at == span.start || at[-1] != ' ' ||
			    at[size] != ' ')
				continue;
			column = find_column(parser, left, &cast);
			if (column < 0) {
				column = find_column(parser, right, &cast);
				right = left;
				op = mirrored(op);
			}
			if (column >= 0)
				err = parse_constant(right, &constant);
			if (!err && cast)
				constant.exact = false; /* equal as that other kind of number */
			if (!err)
				err = condition_compare(condition, parser->columns,
							(unsigned)column, op, &constant);
			buf_free(&constant.text);
			return err;
		}
	}
	return -EINVAL;
}

static int parse_between(const struct parser *parser, struct piece span, const char *between,
			 struct condition *condition)
{
	struct piece rest = { between + strlen("BETWEEN"), span.end };
	const char *joint = find_word(rest, "AND");
	struct constant low = { 0 }, high = { 0 };
	bool cast;
	int column = find_column(parser, (struct piece){ span.start, between }, &cast);
	int err = column < 0 || !joint ? -EINVAL : 0;

	if (!err)
		err = parse_constant((struct piece){ rest.start, joint }, &low);
	if (!err)
		err = parse_constant((struct piece){ joint + strlen("AND"), span.end }, &high);
	if (!err) {
		low.exact &= !cast;
		high.exact &= !cast;
		err = condition_between(condition, parser->columns, (unsigned)column, &low, &high);
	}
	buf_free(&low.text);
	buf_free(&high.text);
	return err;
}

/* column IN (a, b, ...) */
static int parse_in(const struct parser *parser, struct piece span, const char *in,
		    struct condition *condition)
{
	struct piece list = strip((struct piece){ in + strlen("IN"), span.end });
	bool cast;
	int column = find_column(parser, (struct piece){ span.start, in }, &cast);
	int err = column < 0 || cast ? -EINVAL : 0;

	*condition = (struct condition){ .column = column < 0 ? 0 : (unsigned)column };
	for (const char *start = list.start, *at = start; at <= list.end && !err;) {
		struct constant constant = { 0 };

		if (at < list.end && *at != ',') {
			at = next_at(at, list.end);
			continue;
		}
		err = parse_constant((struct piece){ start, at }, &constant);
		if (!err)
			err = condition_add(condition, parser->columns, &constant);
		buf_free(&constant.text);
		start = ++at;
	}
	return err;
}

static int parse_leaf(const struct parser *parser, struct piece span, struct condition *condition)
{
	const char *word = find_word(span, "BETWEEN");
	int err;

	*condition = (struct condition){ 0 };
	if (word) {
		err = parse_between(parser, span, word, condition);
	} else {
		word = find_word(span, "IN");
		err = word ? parse_in(parser, span, word, condition)
			   : parse_comparison(parser, span, condition);
	}
	if (err)
		condition_free(condition);
	return err;
}

/* (a = 1) OR (a = 2): one set, when all are of one column. */
static int parse_or(const struct parser *parser, struct piece span, struct condition *condition)
{
	struct condition next;
	int err = 0;
	bool first = true;

	*condition = (struct condition){ 0 };
	while (span.start < span.end && !err) {
		const char *joint = find_word(span, "OR");
		struct piece part = { span.start, joint ? joint : span.end };

		err = parse_leaf(parser, strip(part), &next);
		if (err)
			break;
		if (first)
			condition->column = next.column;
		first = false;
		if (next.is_range || next.column != condition->column)
			err = -EINVAL;
		else
			err = condition_join(condition, &next);
		condition_free(&next);
		span.start = joint ? joint + strlen("OR") : span.end;
	}
	if (err)
		condition_free(condition);
	return err;
}

/* What one part of a conjunction says, if it is understood. Only -ENOMEM is a failure. */
static int parse_part(struct parser *parser, struct piece span)
{
	struct condition condition;
	int err;

	span = strip(span);
	for (const char *joint = find_word(span, "AND"); joint; joint = find_word(span, "AND")) {
		err = parse_part(parser, (struct piece){ span.start, joint });
		if (err)
			return err;
		span = trim((struct piece){ joint + strlen("AND"), span.end });
		if (!find_word(span, "AND"))
			return parse_part(parser, span);
	}
	err = find_word(span, "OR") ? parse_or(parser, span, &condition)
				    : parse_leaf(parser, span, &condition);
	if (!err) {
		err = buf_append(&parser->conditions, &condition, sizeof(condition));
		if (err)
			condition_free(&condition);
	}
	return err == -ENOMEM ? err : 0;
}

int expression_conditions(const char *expression, const char *prefix,
			  const struct query_column *columns, unsigned column_count,
			  struct condition **conditions, size_t *count)
{
	struct parser parser = { .prefix = prefix,
				 .columns = columns,
				 .column_count = column_count };
	struct piece all = { expression, expression + strlen(expression) };
	int err = parse_part(&parser, all);

	*conditions = (struct condition *)parser.conditions.data;
	*count = parser.conditions.size / sizeof(**conditions);
	return err;
}
