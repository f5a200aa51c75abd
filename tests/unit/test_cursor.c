/* The cursor over bytes, at and beyond their end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cursor.h"

static void a_cursor_stays_inside(void **state)
{
	static const uint8_t bytes[] = { 0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0x02, 0x05 };
	struct cursor cursor = cursor_over(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(cursor_varint(&cursor), 128);
	assert_int_equal(cursor_varint(&cursor), 0); /* more than 64 bits */
	assert_true(cursor.failed);
	assert_int_equal(cursor_u8(&cursor), 0);
	cursor = cursor_over(bytes, 3);
	assert_int_equal(cursor_u32(&cursor), 0);
	assert_true(cursor.failed);
	assert_null(cursor_take(&cursor, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cursor_stays_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
