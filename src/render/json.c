#include "render/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/real.h"

static void json_quoted(struct json *json, const char *bytes, size_t size)
{
	putc('"', json->out);
	escape_print(json->out, ESCAPE_JSON, bytes, size);
	putc('"', json->out);
}

/* Everything before a value: the comma after its elder sibling, the line and its key. */
static void json_begin(struct json *json, const char *key)
{
	if (json->has_members)
		putc(',', json->out);
	if (json->depth)
		fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
	if (key) {
		json_quoted(json, key, strlen(key));
		fputs(": ", json->out);
	}
	json->has_members = true;
}

void json_open(struct json *json, const char *key, char opener)
{
	assert(json->depth < JSON_MAX_DEPTH);
	json_begin(json, key);
	putc(opener, json->out);
	json->closers[json->depth++] = opener == '{' ? '}' : ']';
	json->has_members = false;
}

void json_close(struct json *json)
{
	assert(json->depth);
	json->depth--;
	if (json->has_members)
		fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
	putc(json->closers[json->depth], json->out);
	json->has_members = true;
	if (!json->depth)
		putc('\n', json->out);
}

void json_null(struct json *json, const char *key)
{
	json_begin(json, key);
	fputs("null", json->out);
}

void json_bool(struct json *json, const char *key, bool value)
{
	json_begin(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_uint(struct json *json, const char *key, uint64_t value)
{
	json_begin(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_int(struct json *json, const char *key, int64_t value)
{
	json_begin(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_real(struct json *json, const char *key, double value)
{
	char digits[32];

	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	json_begin(json, key);
	real_format(digits, sizeof(digits), value);
	fputs(digits, json->out);
}

void json_text(struct json *json, const char *key, const char *bytes, size_t size)
{
	json_begin(json, key);
	json_quoted(json, bytes, size);
}

void json_string(struct json *json, const char *key, const char *text)
{
	if (text)
		json_text(json, key, text, strlen(text));
	else
		json_null(json, key);
}

void json_quote(FILE *out, const char *bytes, size_t size)
{
	struct json json = { .out = out };

	json_quoted(&json, bytes, size);
}
