#include "base/utf8.h"

#include <stdbool.h>

static bool utf8_follows(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

size_t utf8_character(const char *bytes, size_t size)
{
	const unsigned char *b = (const unsigned char *)bytes;

	if (!size)
		return 0;
	if (b[0] < 0x80)
		return 1;
	if (b[0] >= 0xc2 && b[0] <= 0xdf)
		return size >= 2 && utf8_follows(b[1]) ? 2 : 0;
	if (b[0] >= 0xe0 && b[0] <= 0xef) {
		if (size < 3 || !utf8_follows(b[1]) || !utf8_follows(b[2]))
			return 0;
		if ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f))
			return 0;
		return 3;
	}
	if (b[0] >= 0xf0 && b[0] <= 0xf4) {
		if (size < 4 || !utf8_follows(b[1]) || !utf8_follows(b[2]) || !utf8_follows(b[3]))
			return 0;
		if ((b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f))
			return 0;
		return 4;
	}
	return 0;
}
