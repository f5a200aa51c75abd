/* base/outfile.h: files appear whole or not at all; links, devices and inputs. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/outfile.h"

static int enter_folder(void **state)
{
	static char folder[64];

	strcpy(folder, "/tmp/strata-outfile-XXXXXX");
	*state = folder;
	return !mkdtemp(folder) || chdir(folder);
}

static int leave_folder(void **state)
{
	static const char *const names[] = { "a", "b", "target", "pipe" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i]);
	return chdir("/") || rmdir(*state); /* what else lies there would be left over */
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_int_not_equal(fputs(text, file), EOF);
	assert_int_equal(fclose(file), 0);
}

static void check(const char *name, const char *text)
{
	char found[64] = "";
	FILE *file = fopen(name, "r");

	assert_non_null(file);
	assert_non_null(fgets(found, sizeof(found), file));
	fclose(file);
	assert_string_equal(found, text);
}

static void open_and_write(struct outfile *file, const char *name)
{
	struct error e;

	assert_int_equal(outfile_open(file, name, 0600, NULL, &e), 0);
	assert_int_equal(write(file->fd, "new", 3), 3);
}

static void test_whole(void **state)
{
	struct outfile file;
	struct stat about;
	struct error e;

	(void)state;
	put("a", "old");
	open_and_write(&file, "a");
	check("a", "old");
	outfile_free(&file); /* given up */
	check("a", "old");
	open_and_write(&file, "a");
	assert_int_equal(outfile_commit(&file, &e), 0);
	outfile_free(&file);
	check("a", "new");
	assert_int_equal(stat("a", &about), 0);
	assert_int_equal(about.st_mode & 07777, 0600);
	open_and_write(&file, "b");
	assert_int_equal(access("b", F_OK), -1);
	assert_int_equal(outfile_publish(&file, &e), 0);
	assert_int_equal(write(file.fd, "er", 2), 2); /* it has its name, and is written on */
	outfile_free(&file);
	check("b", "newer");
}

static void test_links(void **state)
{
	struct outfile file;
	struct stat about;
	struct error e;

	(void)state;
	put("target", "precious");
	assert_int_equal(symlink("target", "a"), 0);
	open_and_write(&file, "a");
	assert_int_equal(outfile_commit(&file, &e), 0);
	outfile_free(&file);
	check("target", "precious");
	check("a", "new");
	assert_int_equal(lstat("a", &about), 0);
	assert_true(S_ISREG(about.st_mode));
}

static void test_inputs(void **state)
{
	const char *const inputs[] = { NULL, "a" };
	struct outfile_inputs both = { inputs, 2 };
	struct outfile file;
	struct error e;

	(void)state;
	put("a", "input");
	assert_int_equal(link("a", "b"), 0);
	assert_int_equal(symlink("a", "target"), 0);
	assert_int_equal(outfile_open(&file, "./a", 0666, &both, &e), -EINVAL);
	assert_int_equal(outfile_open(&file, "b", 0666, &both, &e), -EINVAL);
	assert_int_equal(outfile_open(&file, "target", 0666, &both, &e), -EINVAL);
	assert_int_equal(outfile_open(&file, ".", 0666, &both, &e), -EISDIR);
	check("a", "input");
}

static void test_kinds(void **state)
{
	char name[32];
	int fd;

	(void)state;
	put("a", "text");
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(symlink("/dev/null", "b"), 0);
	fd = open("a", O_RDONLY);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	assert_int_equal(outfile_look("nothing"), OUTFILE_NEW);
	assert_int_equal(outfile_look("a"), OUTFILE_REGULAR);
	assert_int_equal(outfile_look("."), OUTFILE_FOLDER);
	assert_int_equal(outfile_look("pipe"), OUTFILE_STREAM);
	assert_int_equal(outfile_look("b"), OUTFILE_STREAM);
	assert_int_equal(outfile_look("-"), OUTFILE_STREAM);
	assert_int_equal(outfile_look("/dev/stdout"), OUTFILE_STREAM);
	assert_int_equal(outfile_look(name),
			 OUTFILE_STREAM); /* though a regular file is behind it */
	close(fd);
	if (!getuid()) {
		assert_int_equal(lchown("b", 65534, 65534), 0);
		assert_int_equal(outfile_look("b"), OUTFILE_REFUSED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(test_links, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(test_inputs, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(test_kinds, enter_folder, leave_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
