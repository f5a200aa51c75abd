/* See plan_tree.h. Only what DuckDB writes there needs to be understood: objects with the members name, children
 * and extra_info; the rest is skipped.
 */
#include "query/plan_tree.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 256

struct plan_text {
	const char *at;
	unsigned depth;
	bool failed;
};

static char next_token(struct plan_text *text)
{
	while (isspace((unsigned char)*text->at))
		text->at++;
	return *text->at;
}

static bool take(struct plan_text *text, char wanted)
{
	if (next_token(text) != wanted)
		return false;
	text->at++;
	return true;
}

static void expect(struct plan_text *text, char wanted)
{
	if (!take(text, wanted))
		text->failed = true;
}

static char unescape(char escaped)
{
	switch (escaped) {
	case 'n': return '\n';
	case 't': return '\t';
	case 'r': return '\r';
	case 'b': return '\b';
	case 'f': return '\f';
	default: return escaped;
	}
}

/* NULL when it fails; characters by number do not occur in what is looked for. */
static char *take_string(struct plan_text *text)
{
	char *out, *to;

	expect(text, '"');
	if (text->failed)
		return NULL;
	out = to = malloc(strlen(text->at) + 1);
	while (out && *text->at && *text->at != '"') {
		if (*text->at == '\\' && (text->at[1] == 'u' || !text->at[1]))
			break;
		*to++ = *text->at == '\\' ? unescape(*++text->at) : *text->at;
		text->at++;
	}
	if (!out || *text->at != '"') {
		text->failed = true;
		free(out);
		return NULL;
	}
	text->at++;
	*to = '\0';
	return out;
}

static void skip_value(struct plan_text *text)
{
	char opener = next_token(text);

	if (opener == '"') {
		free(take_string(text));
		return;
	}
	if (opener != '{' && opener != '[') {
		if (!opener || strchr(",]}", opener))
			text->failed = true; /* no value at all */
		while (*text->at && !strchr(",]}", *text->at))
			text->at++;
		return;
	}
	if (text->depth++ == MAX_DEPTH)
		text->failed = true;
	text->at++;
	while (!text->failed && !take(text, opener == '{' ? '}' : ']')) {
		if (opener == '{') {
			free(take_string(text));
			expect(text, ':');
		}
		if (!text->failed)
			skip_value(text);
		take(text, ',');
		if (!*text->at)
			text->failed = true;
	}
	text->depth--;
}

static void take_extra(struct plan_text *text, struct plan_node *node)
{
	expect(text, '{');
	while (!text->failed && !take(text, '}')) {
		char *key = take_string(text), **place = NULL;

		expect(text, ':');
		if (key && !strcmp(key, "Expression"))
			place = &node->expression;
		else if (key && !strcmp(key, "Join Type"))
			place = &node->join;
		if (place && !*place && next_token(text) == '"')
			*place = take_string(text);
		else if (!text->failed)
			skip_value(text);
		free(key);
		take(text, ',');
	}
}

static struct plan_node *take_node(struct plan_text *text);

static void take_children(struct plan_text *text, struct plan_node *node)
{
	expect(text, '[');
	while (!text->failed && !take(text, ']')) {
		struct plan_node *child = take_node(text), **grown;

		grown = realloc(node->children, (node->count + 1) * sizeof(*grown));
		if (grown)
			node->children = grown;
		if (!child || !grown) {
			plan_tree_free(child);
			text->failed = true;
			return;
		}
		grown[node->count++] = child;
		take(text, ',');
	}
}

static struct plan_node *take_node(struct plan_text *text)
{
	struct plan_node *node = calloc(1, sizeof(*node));

	if (!node || text->depth++ == MAX_DEPTH)
		text->failed = true;
	expect(text, '{');
	while (!text->failed && !take(text, '}')) {
		char *key = take_string(text);

		expect(text, ':');
		if (key && !strcmp(key, "name") && !node->name)
			node->name = take_string(text);
		else if (key && !strcmp(key, "children"))
			take_children(text, node);
		else if (key && !strcmp(key, "extra_info"))
			take_extra(text, node);
		else if (!text->failed)
			skip_value(text);
		free(key);
		take(text, ',');
	}
	text->depth--;
	if (!text->failed && node->name)
		return node;
	text->failed = true;
	plan_tree_free(node);
	return NULL;
}

struct plan_node *plan_tree_parse(const char *json)
{
	struct plan_text text = { .at = json };

	expect(&text, '[');
	return text.failed ? NULL : take_node(&text);
}

void plan_tree_free(struct plan_node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->count; i++)
		plan_tree_free(node->children[i]);
	free(node->children);
	free(node->name);
	free(node->expression);
	free(node->join);
	free(node);
}
