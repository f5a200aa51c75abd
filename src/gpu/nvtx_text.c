/* Names of NVTX ranges, narrow and wide, as UTF-8. */
#include <string.h>

#include "gpu/library.h"

void nvtx_copy(char *out, const char *text)
{
	size_t size = text ? strnlen(text, NVTX_MOST_NAME - 1) : 0;

	if (size)
		memcpy(out, text, size);
	out[size] = '\0';
}

void nvtx_copy_wide(char *out, const wchar_t *text)
{
	size_t used = 0;

	for (; text && *text && used + 5 < NVTX_MOST_NAME; text++) {
		uint32_t c = (uint32_t)*text;

		if (c < 0x80) {
			out[used++] = (char)c;
		} else if (c < 0x800) {
			out[used++] = (char)(0xc0 | c >> 6);
			out[used++] = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			out[used++] = (char)(0xe0 | c >> 12);
			out[used++] = (char)(0x80 | (c >> 6 & 0x3f));
			out[used++] = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x110000) {
			out[used++] = (char)(0xf0 | c >> 18);
			out[used++] = (char)(0x80 | (c >> 12 & 0x3f));
			out[used++] = (char)(0x80 | (c >> 6 & 0x3f));
			out[used++] = (char)(0x80 | (c & 0x3f));
		}
	}
	out[used] = '\0';
}
