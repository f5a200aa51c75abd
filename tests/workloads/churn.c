/* Names that live short: what the kernel keeps of one is at the same place in memory as what it kept of the one before. Each
 * file is read or written with its own number as the position, so that a test knows which name a row must carry.
 *
 *     churn files DIR N     N files, each made, written at its number and removed before the next
 *     churn links DIR N     one file under N links, each in a directory of its own, both removed before the next
 *     churn dirs DIR N      N files of the same name, each in a directory that is removed before the next
 */
#include "workload.h"

#include <fcntl.h>
#include <sys/stat.h>

static void churn_files(long count)
{
	char name[32];

	for (long i = 0; i < count; i++) {
		int fd;

		snprintf(name, sizeof(name), "f%ld", i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		CHECK(fd >= 0 && pwrite(fd, "x", 1, i) == 1 && !close(fd) && !unlink(name));
	}
}

static void churn_links(long count)
{
	char folder[32], name[64], byte;
	int fd = open("one", O_RDWR | O_CREAT | O_EXCL, 0600);

	CHECK(fd >= 0 && !ftruncate(fd, count) && !close(fd));
	for (long i = 0; i < count; i++) {
		snprintf(folder, sizeof(folder), "d%ld", i);
		snprintf(name, sizeof(name), "d%ld/link", i);
		CHECK(!mkdir(folder, 0700) && !link("one", name));
		fd = open(name, O_RDONLY);
		CHECK(fd >= 0 && pread(fd, &byte, 1, i) == 1 && !close(fd));
		CHECK(!unlink(name) && !rmdir(folder));
	}
}

static void churn_dirs(long count)
{
	char folder[32], name[64];

	for (long i = 0; i < count; i++) {
		int fd;

		snprintf(folder, sizeof(folder), "d%ld", i);
		snprintf(name, sizeof(name), "d%ld/same", i);
		CHECK(!mkdir(folder, 0700));
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		CHECK(fd >= 0 && pwrite(fd, "x", 1, i) == 1 && !close(fd));
		CHECK(!unlink(name) && !unlinkat(AT_FDCWD, folder, AT_REMOVEDIR));
	}
}

int main(int argc, char **argv)
{
	long count = argc == 4 ? atol(argv[3]) : 0;

	CHECK(argc == 4 && !chdir(argv[2]));
	if (!strcmp(argv[1], "files"))
		churn_files(count);
	else if (!strcmp(argv[1], "links"))
		churn_links(count);
	else
		churn_dirs(count);
}
