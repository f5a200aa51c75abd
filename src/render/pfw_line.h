/* A line of a .pfw file as it is put together in an output's buffer. Between line_open() and line_close() nothing
 * else may write to the output.
 */
#ifndef STRATA_RENDER_PFW_LINE_H
#define STRATA_RENDER_PFW_LINE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/digits.h"
#include "base/escape.h"
#include "base/real.h"
#include "base/units.h"
#include "render/output.h"
#include "schema/schema.h"

/* Of a text is written at once; nearly all fit. */
#define LINE_TEXT_ROOM 512

struct pfw_line {
	struct output *out;
	char *at;
};

/* Makes room for what is to come next. */
static inline char *line_room(struct pfw_line *line, size_t size)
{
	output_advance(line->out, (uint8_t *)line->at);
	line->at = (char *)output_room(line->out, size);
	return line->at;
}

static inline void line_open(struct pfw_line *line, struct output *out)
{
	line->out = out;
	line->at = (char *)out->data + out->used;
}

static inline void line_close(struct pfw_line *line)
{
	output_advance(line->out, (uint8_t *)line->at);
}

static inline void line_literal(struct pfw_line *line, const char *text)
{
	size_t size = strlen(text);

	memcpy(line_room(line, size), text, size);
	line->at += size;
}

static inline void line_uint(struct pfw_line *line, uint64_t value)
{
	line->at = digits_put(line_room(line, DIGITS_MAX), value);
}

static inline void line_int(struct pfw_line *line, int64_t value)
{
	line->at = digits_put_signed(line_room(line, DIGITS_MAX + 1), value);
}

static inline void line_real(struct pfw_line *line, int64_t cell)
{
	double value;

	memcpy(&value, &cell, sizeof(value));
	if (isfinite(value))
		line->at += real_format(line_room(line, 32), 32, value);
	else
		line_literal(line, "null");
}

/* Nanoseconds as seconds, none lost. */
static inline void line_seconds(struct pfw_line *line, uint64_t ns)
{
	char *at = digits_put(line_room(line, DIGITS_MAX + 10), ns / NS_PER_SECOND);
	uint64_t rest = ns % NS_PER_SECOND;

	*at = '.';
	for (unsigned i = 9; i; i--, rest /= 10)
		at[i] = (char)('0' + rest % 10);
	line->at = at + 10;
}

static inline void line_hash(struct pfw_line *line, uint64_t hash)
{
	static const char hex[] = "0123456789abcdef";
	char *at = line_room(line, 18);

	at[0] = at[17] = '"';
	for (unsigned i = 16; i; i--, hash >>= 4)
		at[i] = hex[hash & 15];
	line->at = at + 18;
}

static inline void line_text(struct pfw_line *line, const char *bytes, size_t size)
{
	struct escape_text text = { bytes, size };

	*line_room(line, 1) = '"';
	line->at++;
	do {
		char *at = line_room(line, LINE_TEXT_ROOM);

		line->at = escape_some(ESCAPE_JSON_SHOWN, &text, at, LINE_TEXT_ROOM);
	} while (text.size);
	*line_room(line, 1) = '"';
	line->at++;
}

#endif
