/* Protocol buffers on the wire, against bytes from the specification, and messages of every length class. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "render/proto.h"

static void test_numbers(void **state)
{
	static const uint8_t expected[] = {
		0x08, 0x96, 0x01,						  /* field 1: 150 */
		0x10, 0x00,							  /* field 2: 0 */
		0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* field 3: -1 */
		0x21, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* field 4: fixed64 */
		0x92, 0x06, 0x02, 'h',	0xff,			      /* field 98: bytes */
	};
	uint8_t out[64], *at = out;

	(void)state;
	proto_uint(&at, 1, 150);
	proto_uint(&at, 2, 0);
	proto_int(&at, 3, -1);
	proto_fixed64(&at, 4, 0x0102030405060708ull);
	proto_bytes(&at, 98, "h\xff", 2);
	assert_int_equal(at - out, sizeof(expected));
	assert_memory_equal(out, expected, sizeof(expected));
}

/* A message of `size` bytes inside another: both lengths must be right and the bytes in place. */
static void check_nested(size_t size)
{
	uint8_t *out = test_malloc(size + 64), *at = out, *outer, *inner;
	struct cursor cursor;
	const uint8_t *bytes;
	uint64_t length;

	outer = proto_open(&at, 1);
	inner = proto_open(&at, 2);
	for (size_t i = 0; i < size; i++)
		*at++ = (uint8_t)i;
	proto_close(&at, inner);
	proto_close(&at, outer);

	cursor = cursor_over(out, (size_t)(at - out));
	assert_int_equal(cursor_varint(&cursor), 1 << 3 | PROTO_BYTES);
	length = cursor_varint(&cursor);
	assert_int_equal(length, cursor_left(&cursor));
	assert_int_equal(cursor_varint(&cursor), 2 << 3 | PROTO_BYTES);
	assert_int_equal(cursor_varint(&cursor), size);
	bytes = cursor_take(&cursor, size);
	assert_true(size == 0 || bytes);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(bytes[i], (uint8_t)i);
	assert_int_equal(cursor_left(&cursor), 0);
	test_free(out);
}

static void test_messages(void **state)
{
	static const size_t sizes[] = { 0,     1,     125,   126,     127,    128,
					16381, 16383, 16384, 2097151, 2097152 };

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		check_nested(sizes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests_name("proto", tests, NULL, NULL);
}
