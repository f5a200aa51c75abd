/* Protocol buffers as they lie on the wire, written by hand into memory that the caller has made sure is
 * there. A writer is a pointer that each call moves on.
 *
 *     uint8_t *body = proto_open(&at, 3);     field 3, a message
 *     proto_uint(&at, 1, 42);
 *     proto_close(&at, body);
 *
 * A message gets one byte for its length and is moved when it turns out longer than 127 bytes: most are
 * not.
 */
#ifndef STRATA_RENDER_PROTO_H
#define STRATA_RENDER_PROTO_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2 };

#define PROTO_MAX_VARINT 10

static inline void proto_varint(uint8_t **at, uint64_t value)
{
	uint8_t *out = *at;

	while (value >= 0x80) {
		*out++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*out++ = (uint8_t)value;
	*at = out;
}

static inline void proto_tag(uint8_t **at, unsigned field, unsigned kind)
{
	proto_varint(at, field << 3 | kind);
}

static inline void proto_uint(uint8_t **at, unsigned field, uint64_t value)
{
	proto_tag(at, field, PROTO_VARINT);
	proto_varint(at, value);
}

/* Of an int64 or int32: a negative one takes ten bytes. */
static inline void proto_int(uint8_t **at, unsigned field, int64_t value)
{
	proto_uint(at, field, (uint64_t)value);
}

static inline void proto_fixed64(uint8_t **at, unsigned field, uint64_t value)
{
	proto_tag(at, field, PROTO_FIXED64);
	value = htole64(value);
	memcpy(*at, &value, sizeof(value));
	*at += sizeof(value);
}

static inline void proto_double(uint8_t **at, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_fixed64(at, field, bits);
}

static inline void proto_bytes(uint8_t **at, unsigned field, const void *bytes, size_t size)
{
	proto_tag(at, field, PROTO_BYTES);
	proto_varint(at, size);
	memcpy(*at, bytes, size);
	*at += size;
}

static inline void proto_string(uint8_t **at, unsigned field, const char *text)
{
	proto_bytes(at, field, text, strlen(text));
}

static inline uint8_t *proto_open(uint8_t **at, unsigned field)
{
	proto_tag(at, field, PROTO_BYTES);
	return ++*at;
}

static inline void proto_close(uint8_t **at, uint8_t *body)
{
	size_t size = (size_t)(*at - body), rest = size;
	unsigned more = 0;

	while (rest >>= 7)
		more++;
	if (more)
		memmove(body + more, body, size);
	body--;
	proto_varint(&body, size);
	*at = body + size;
}

#endif
