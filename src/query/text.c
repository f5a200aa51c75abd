#include "query/text.h"

#include <string.h>

#include "base/utf8.h"

static bool is_plain(unsigned char byte)
{
	return byte && byte < 0x80 && byte != '\\';
}

bool text_is_plain(const char *bytes, size_t size)
{
	size_t length;

	for (; size; bytes += length, size -= length) {
		length = is_plain((unsigned char)*bytes) ? 1 : utf8_character(bytes, size);
		if (!length || !*bytes || *bytes == '\\')
			return false;
	}
	return true;
}

int text_append_shown(struct buf *out, const char *bytes, size_t size)
{
	size_t length;
	int err = 0;

	for (; size && !err; bytes += length, size -= length) {
		length = utf8_character(bytes, size);
		if (length && *bytes && *bytes != '\\') {
			err = buf_append(out, bytes, length);
			continue;
		}
		length = 1;
		err = buf_printf(out, "\\x%02x", (unsigned char)*bytes);
	}
	return err;
}

duckdb_string_t text_string(const char *bytes, size_t size)
{
	duckdb_string_t text = { .inlined = { .length = (uint32_t)size } };

	if (size <= DUCKDB_STRING_INLINED) {
		memcpy(text.inlined.inlined, bytes, size);
	} else {
		memcpy(text.pointer.prefix, bytes, sizeof(text.pointer.prefix));
		text.pointer.ptr = bytes;
	}
	return text;
}

const char *text_bytes(const duckdb_string_t *text)
{
	return text->inlined.length <= DUCKDB_STRING_INLINED ? text->inlined.inlined
							     : text->pointer.ptr;
}

bool text_equals(const duckdb_string_t *a, const duckdb_string_t *b)
{
	return a->inlined.length == b->inlined.length &&
	       !memcmp(text_bytes(a), text_bytes(b), a->inlined.length);
}
