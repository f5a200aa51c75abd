#include "query/text.h"

#include <string.h>

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
