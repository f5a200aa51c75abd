/* Telling text from bytes: which bytes of a name, path or argument are UTF-8. */
#ifndef STRATA_BASE_UTF8_H
#define STRATA_BASE_UTF8_H

#include <stddef.h>

/* The length of the well-formed UTF-8 character at the start of the bytes, 0 when there is none: no
 * overlong form, no surrogate, nothing past U+10FFFF. */
size_t utf8_character(const char *bytes, size_t size);

#endif
