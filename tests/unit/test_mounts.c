/* Where this mount namespace shows what lies at a place of a file system, by lines as mountinfo has them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probes/mounts.h"

#define DISK	(8 << 20 | 1)
#define OVERLAY (0 << 20 | 50)

static struct mounts mounts;

static void take(const char *text)
{
	char copy[2048];

	strcpy(copy, text);
	assert_int_equal(mounts_take(&mounts, copy), 0);
}

static void assert_path(uint32_t dev, const char *place, const char *expected)
{
	struct buf out = { 0 };
	int err = mounts_find(&mounts, dev, place, strlen(place), &out);

	if (!expected) {
		assert_int_equal(err, -ENOENT);
	} else {
		assert_int_equal(err, 0);
		assert_int_equal(out.size, strlen(expected));
		assert_memory_equal(out.data, expected, out.size);
	}
	buf_free(&out);
}

static int end(void **state)
{
	(void)state;
	mounts_close(&mounts);
	return 0;
}

static void a_place_has_a_path_where_its_file_system_is_mounted(void **state)
{
	(void)state;
	take("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
	     "2 1 0:50 / /var/lib/engine/a\\040b/merged rw - overlay overlay rw\n"
	     "3 1 0:5 / /dev rw - devtmpfs devtmpfs rw\n");
	assert_path(DISK, "/srv/data/x", "/srv/data/x");
	assert_path(DISK, "/", "/");
	assert_path(OVERLAY, "/etc/passwd", "/var/lib/engine/a b/merged/etc/passwd");
	assert_path(OVERLAY, "/", "/var/lib/engine/a b/merged");
	assert_path(0 << 20 | 51, "/etc/passwd", NULL);
	assert_path(DISK, "/dev/hidden", NULL); /* below what is mounted there */
}

static void a_part_that_is_mounted_shows_no_more_than_itself(void **state)
{
	(void)state;
	take("1 0 8:1 /os / rw - ext4 /dev/sda1 rw\n"
	     "2 1 8:1 /home /home rw - ext4 /dev/sda1 rw\n"
	     "3 1 8:1 /home/a/data /mnt rw - ext4 /dev/sda1 rw\n");
	assert_path(DISK, "/os/bin/sh", "/bin/sh");
	assert_path(DISK, "/home/a/data/x", "/home/a/data/x"); /* the wider one of two */
	assert_path(DISK, "/homes/x", NULL);
	assert_path(DISK, "/other", NULL);
}

/* Device numbers of what has no device are used again. */
static void what_was_unmounted_is_known_until_something_takes_its_number(void **state)
{
	(void)state;
	take("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:50 / /one rw - overlay overlay rw\n");
	take("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
	assert_path(OVERLAY, "/x", "/one/x");
	take("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n3 1 0:50 / /two rw - overlay overlay rw\n");
	assert_path(OVERLAY, "/x", "/two/x");
	take("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
	assert_path(DISK, "/x", "/x");
}

static void lines_that_are_none_are_left_out(void **state)
{
	(void)state;
	take("\nword\n1 0 x / / rw\n1 0 8:1\n");
	assert_path(DISK, "/x", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_place_has_a_path_where_its_file_system_is_mounted, end),
		cmocka_unit_test_teardown(a_part_that_is_mounted_shows_no_more_than_itself, end),
		cmocka_unit_test_teardown(
			what_was_unmounted_is_known_until_something_takes_its_number, end),
		cmocka_unit_test_teardown(lines_that_are_none_are_left_out, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
