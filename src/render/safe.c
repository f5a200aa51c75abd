#include "render/safe.h"

#include <string.h>

#include "base/escape.h"

void safe_print(FILE *out, const char *text)
{
	safe_write(out, text, strlen(text));
}

void safe_write(FILE *out, const char *bytes, size_t size)
{
	escape_print(out, ESCAPE_TERMINAL, bytes, size);
}

int safe_append(struct buf *out, const char *bytes, size_t size)
{
	return escape_append(out, ESCAPE_TERMINAL, bytes, size);
}
