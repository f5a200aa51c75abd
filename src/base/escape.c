#include "base/escape.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* What becomes of a byte. */
enum action {
	KEEP = 0,
	QUOTED,	  /* kept, but the text must stand in quotes */
	DOUBLED,  /* twice, and the text must stand in quotes */
	BROKEN,	  /* '\'': out of the quotes and in again */
	LOOK,	  /* kept if a character of UTF-8 begins with it */
	HEX,	  /* \xNN */
	HEX_JSON, /* the same in a string of JSON: \\xNN */
	UNICODE,  /* \u00NN */
	SLASHED,  /* after a backslash */
	ENTITY,	  /* &#N; */
};

static const uint8_t actions[ESCAPE_STYLE_COUNT][256] = {
	[ESCAPE_SHOWN] = { [0] = HEX, ['\\'] = HEX, [0x80 ... 0xff] = LOOK },
	[ESCAPE_CSV] = { [0] = HEX,
			 ['\n'] = QUOTED,
			 ['\r'] = QUOTED,
			 ['"'] = DOUBLED,
			 [','] = QUOTED,
			 ['\\'] = HEX,
			 [0x80 ... 0xff] = LOOK },
	[ESCAPE_CSV_SHOWN] = { ['\n'] = QUOTED, ['\r'] = QUOTED, ['"'] = DOUBLED, [','] = QUOTED },
	[ESCAPE_CSV_TERMINAL] = { [0 ... 0x1f] = HEX,
				  ['"'] = DOUBLED,
				  [','] = QUOTED,
				  ['\\'] = HEX,
				  [0x7f] = HEX,
				  [0x80 ... 0xff] = LOOK },
	[ESCAPE_CSV_SHOWN_TERMINAL] = { [0 ... 0x1f] = HEX,
					['"'] = DOUBLED,
					[','] = QUOTED,
					[0x7f] = HEX,
					[0x80 ... 0xff] = LOOK },
	[ESCAPE_FIELD] = { [0 ... ' '] = HEX, ['\\'] = HEX, [0x7f] = HEX, [0x80 ... 0xff] = LOOK },
	[ESCAPE_JSON] = { [0 ... 0x1f] = UNICODE,
			  ['"'] = SLASHED,
			  ['\\'] = SLASHED,
			  [0x7f] = UNICODE,
			  [0x80 ... 0xff] = LOOK },
	[ESCAPE_JSON_SHOWN] = { [0] = HEX_JSON,
				[1 ... 0x1f] = UNICODE,
				['"'] = SLASHED,
				['\\'] = HEX_JSON,
				[0x7f] = UNICODE,
				[0x80 ... 0xff] = LOOK },
	[ESCAPE_JSON_WHOLE] = { [0 ... 0x08] = UNICODE,
				[0x0b ... 0x0c] = UNICODE,
				[0x0e ... 0x1f] = UNICODE,
				[0x7f] = UNICODE,
				[0x80 ... 0xff] = LOOK },
	[ESCAPE_MESSAGE] = { [0 ... 0x08] = HEX,
			     [0x0b ... 0x1f] = HEX,
			     [0x7f] = HEX,
			     [0x80 ... 0xff] = LOOK },
	[ESCAPE_TERMINAL] = { [0 ... 0x1f] = HEX, [0x7f] = HEX, [0x80 ... 0xff] = LOOK },
	[ESCAPE_XML] = { [0 ... 0x1f] = HEX,
			 ['"'] = ENTITY,
			 ['&'] = ENTITY,
			 ['\''] = ENTITY,
			 ['<'] = ENTITY,
			 ['>'] = ENTITY,
			 [0x7f] = HEX,
			 [0x80 ... 0xff] = LOOK },
	[ESCAPE_SCRIPT] = { ['<'] = UNICODE },
	[ESCAPE_MARKDOWN] = { ['|'] = SLASHED },
	[ESCAPE_SHELL] = { [0 ... '$'] = QUOTED,
			   ['&'] = QUOTED,
			   ['\''] = BROKEN,
			   ['(' ... '*'] = QUOTED,
			   [';' ... '<'] = QUOTED,
			   ['>' ... '?'] = QUOTED,
			   ['[' ... ']'] = QUOTED,
			   ['`'] = QUOTED,
			   ['{' ... 0xff] = QUOTED },
	[ESCAPE_SQL] = { ['\''] = DOUBLED },
};

static bool is_json(enum escape_style style)
{
	return style == ESCAPE_JSON || style == ESCAPE_JSON_SHOWN || style == ESCAPE_JSON_WHOLE;
}

/* A character of more than one byte that could steer a terminal: all are below U+10000. 0: it is none. */
static unsigned steering_character(const char *bytes, size_t size)
{
	unsigned character = 0;

	if (size > 1 && ((unsigned char)bytes[0] & 0xe0) == 0xc0)
		character =
			((unsigned char)bytes[0] & 0x1fu) << 6 | ((unsigned char)bytes[1] & 0x3fu);
	else if (size > 2 && (unsigned char)bytes[0] == 0xe2)
		character = 0x2000u | ((unsigned char)bytes[1] & 0x3fu) << 6 |
			    ((unsigned char)bytes[2] & 0x3fu);
	if ((character >= 0x80 && character <= 0x9f) || character == 0x061c ||
	    character == 0x200e || character == 0x200f ||
	    (character >= 0x2028 && character <= 0x202e) ||
	    (character >= 0x2066 && character <= 0x2069))
		return character;
	return 0;
}

/* Files and programs get text as it is; where it may come before eyes, and in JSON, nothing steers. */
static bool style_steers(enum escape_style style)
{
	return style == ESCAPE_SHOWN || style == ESCAPE_CSV;
}

/* Bytes of the character that may stay as it is, 0: it may not. */
static size_t kept_character(enum escape_style style, const char *bytes, size_t size)
{
	size_t length = utf8_character(bytes, size);

	if (length > 1 && !style_steers(style) && steering_character(bytes, size))
		return 0;
	return length;
}

bool escape_is_plain(enum escape_style style, const char *bytes, size_t size)
{
	const uint8_t *table = actions[style];

	while (size) {
		uint8_t action = table[(unsigned char)*bytes];
		size_t length =
			action == LOOK ? kept_character(style, bytes, size) : action == KEEP;

		if (!length)
			return false;
		bytes += length;
		size -= length;
	}
	return true;
}

bool escape_needs_quotes(enum escape_style style, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		uint8_t action = actions[style][(unsigned char)bytes[i]];

		if (action == QUOTED || action == DOUBLED || action == BROKEN)
			return true;
	}
	return !size;
}

static char *put_text(char *out, const char *text)
{
	size_t size = strlen(text);

	memcpy(out, text, size);
	return out + size;
}

static char *put_hex(char *out, const char *before, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";

	out = put_text(out, before);
	*out++ = digits[byte >> 4];
	*out++ = digits[byte & 15];
	return out;
}

static char *put_entity(char *out, unsigned char byte)
{
	out = put_text(out, "&#");
	if (byte >= 10)
		*out++ = (char)('0' + byte / 10);
	*out++ = (char)('0' + byte % 10);
	*out++ = ';';
	return out;
}

static char *put_escaped(char *out, enum action action, char byte)
{
	switch (action) {
	case DOUBLED: *out++ = byte; break;
	case BROKEN: return put_text(out, "'\\''");
	case HEX: return put_hex(out, "\\x", (unsigned char)byte);
	case HEX_JSON: return put_hex(out, "\\\\x", (unsigned char)byte);
	case UNICODE: return put_hex(out, "\\u00", (unsigned char)byte);
	case SLASHED: *out++ = '\\'; break;
	case ENTITY: return put_entity(out, (unsigned char)byte);
	default: break;
	}
	*out++ = byte;
	return out;
}

/* The text begins with a byte that is not simply kept. Takes a character, or one byte, off it. */
static char *escape_one(enum escape_style style, struct escape_text *text, char *out)
{
	enum action action = actions[style][(unsigned char)*text->bytes];
	size_t length = 0;

	if (action == LOOK) {
		length = kept_character(style, text->bytes, text->size);
		action = is_json(style) ? HEX_JSON : HEX;
	}
	if (!length && action == HEX_JSON && utf8_character(text->bytes, text->size) > 1) {
		unsigned character = steering_character(text->bytes, text->size);

		length = utf8_character(text->bytes, text->size);
		out = put_hex(out, "\\u", (unsigned char)(character >> 8));
		out = put_hex(out, "", (unsigned char)character);
	} else if (length) {
		memcpy(out, text->bytes, length);
		out += length;
	} else {
		length = 1;
		out = put_escaped(out, action, *text->bytes);
	}
	text->bytes += length;
	text->size -= length;
	return out;
}

size_t escape_copy_kept(enum escape_style style, const char *bytes, size_t size, char *out)
{
	const uint8_t *table = actions[style];
	size_t run = 0;

	while (run < size && table[(unsigned char)bytes[run]] == KEEP) {
		out[run] = bytes[run];
		run++;
	}
	return run;
}

char *escape_some(enum escape_style style, struct escape_text *text, char *out, size_t room)
{
	char *end = out + room;

	for (;;) {
		size_t left = (size_t)(end - out), most = text->size < left ? text->size : left;
		size_t run = escape_copy_kept(style, text->bytes, most, out);

		out += run;
		text->bytes += run;
		text->size -= run;
		if (!text->size || end - out < ESCAPE_MOST)
			return out;
		out = escape_one(style, text, out);
	}
}

int escape_append(struct buf *out, enum escape_style style, const char *bytes, size_t size)
{
	struct escape_text text = { bytes, size };
	size_t before = out->size;

	while (text.size) {
		size_t room = text.size + ESCAPE_MOST;
		char *at = buf_reserve(out, room);

		if (!at) {
			out->size = before;
			return -ENOMEM;
		}
		out->size += (size_t)(escape_some(style, &text, at, room) - at);
	}
	return 0;
}

void escape_print(FILE *out, enum escape_style style, const char *bytes, size_t size)
{
	struct escape_text text = { bytes, size };
	char buffer[1024];

	while (text.size)
		fwrite(buffer, 1,
		       (size_t)(escape_some(style, &text, buffer, sizeof(buffer)) - buffer), out);
}
