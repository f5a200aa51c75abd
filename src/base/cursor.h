/* Reading hostile bytes: a cursor that never leaves its range.
 *
 * A read past the end gives zero (or NULL), and sets `failed` for good, so a caller may read a whole
 * group of fields and ask once. Numbers are little-endian. The cursor owns nothing.
 */
#ifndef STRATA_BASE_CURSOR_H
#define STRATA_BASE_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static inline struct cursor cursor_over(const void *bytes, size_t size)
{
	const uint8_t *start = bytes;

	return (struct cursor){ .at = start, .end = size ? start + size : start };
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* The next `size` bytes, or NULL. */
static inline const uint8_t *cursor_take(struct cursor *cursor, size_t size)
{
	const uint8_t *bytes = cursor->at;

	if (cursor->failed || size > cursor_left(cursor)) {
		cursor->failed = true;
		return NULL;
	}
	cursor->at += size;
	return bytes;
}

/* The next `size` bytes, 8 at most, as a number. */
static inline uint64_t cursor_number(struct cursor *cursor, size_t size)
{
	const uint8_t *bytes = cursor_take(cursor, size);
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, size);
	return le64toh(value);
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
	return (uint8_t)cursor_number(cursor, 1);
}

static inline uint16_t cursor_u16(struct cursor *cursor)
{
	return (uint16_t)cursor_number(cursor, 2);
}

static inline uint32_t cursor_u32(struct cursor *cursor)
{
	return (uint32_t)cursor_number(cursor, 4);
}

static inline uint64_t cursor_u64(struct cursor *cursor)
{
	return cursor_number(cursor, 8);
}

/* Seven bits a byte, least first; the top bit says that another byte follows. */
static inline uint64_t cursor_varint(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(cursor);

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->failed = true;
	return 0;
}

#endif
