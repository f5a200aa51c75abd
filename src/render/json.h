/* JSON into a stream, indented, one member a line. Nesting and commas are kept here, so that
 * callers only name what they write:
 *
 *     json_open(&json, NULL, '{');
 *     json_uint(&json, "rows", 42);
 *     json_close(&json);
 *
 * `key` is NULL inside an array and for the outermost value. Bytes that are not UTF-8 become the
 * four characters \xNN of the text; everything else is the text itself. Errors stay in the stream.
 */
#ifndef STRATA_RENDER_JSON_H
#define STRATA_RENDER_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_MAX_DEPTH 16

struct json {
	FILE *out;
	unsigned depth;
	char closers[JSON_MAX_DEPTH];
	bool has_members; /* of the innermost open object or array */
};

void json_open(struct json *json, const char *key, char opener); /* '{' or '[' */
void json_close(struct json *json);
void json_null(struct json *json, const char *key);
void json_bool(struct json *json, const char *key, bool value);
void json_uint(struct json *json, const char *key, uint64_t value);
void json_int(struct json *json, const char *key, int64_t value);
void json_real(struct json *json, const char *key, double value); /* not finite: null */
void json_text(struct json *json, const char *key, const char *bytes, size_t size);
void json_string(struct json *json, const char *key, const char *text); /* NULL: null */
void json_quote(FILE *out, const char *bytes,
		size_t size); /* a text by itself, as json_text has it */

#endif
