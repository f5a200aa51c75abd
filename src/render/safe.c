#include "render/safe.h"

#include <string.h>

#include "base/utf8.h"

/* The length of the character that may be shown as it is, or 0. */
static size_t safe_character(const char *text, size_t size)
{
	unsigned char byte = (unsigned char)*text;
	size_t length = utf8_character(text, size);

	/* U+0080 to U+009F are controls too. */
	if (!length || byte < 0x20 || byte == 0x7f ||
	    (byte == 0xc2 && (unsigned char)text[1] < 0xa0))
		return 0;
	return length;
}

void safe_print(FILE *out, const char *text)
{
	safe_write(out, text, strlen(text));
}

void safe_write(FILE *out, const char *bytes, size_t size)
{
	size_t length;

	for (; size; bytes += length, size -= length) {
		length = safe_character(bytes, size);
		if (length) {
			fwrite(bytes, 1, length, out);
			continue;
		}
		fprintf(out, "\\x%02x", (unsigned char)*bytes);
		length = 1;
	}
}

int safe_append(struct buf *out, const char *bytes, size_t size)
{
	size_t length;
	int err = 0;

	for (; size && !err; bytes += length, size -= length) {
		length = safe_character(bytes, size);
		if (length) {
			err = buf_append(out, bytes, length);
			continue;
		}
		err = buf_printf(out, "\\x%02x", (unsigned char)*bytes);
		length = 1;
	}
	return err;
}
