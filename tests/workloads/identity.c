/* One inode under several names and descriptors: renamed while open, linked twice, unlinked while open,
 * duplicated, shared with a child, replaced by another file of the same name. Each step reads a different
 * number of bytes, so that a test finds it: the comment beside it names the path that the row must carry.
 *
 *     identity DIR
 */
#include "workload.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char buffer[4096];

static int make(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, buffer, sizeof(buffer)) == sizeof(buffer));
	return fd;
}

static void take(int fd, size_t bytes)
{
	CHECK(pread(fd, buffer, bytes, 0) == (ssize_t)bytes);
}

int main(int argc, char **argv)
{
	int first, second, twin;

	CHECK(argc == 2 && !chdir(argv[1]));
	first = make("a");
	take(first, 101); /* a */
	CHECK(!rename("a", "b"));
	take(first, 102); /* b, a new id with the same inode */
	CHECK(!link("b", "c"));
	second = open("c", O_RDONLY);
	CHECK(second >= 0);
	take(second, 103); /* c, a third id with the same inode */
	take(first, 104);  /* b still */
	twin = dup(first);
	take(twin, 105); /* b, the same id as 102 */
	if (!fork()) {
		take(first, 106); /* b, the same id, from a child */
		_exit(0);
	}
	CHECK(wait(NULL) > 0);
	CHECK(!unlink("b"));
	take(first, 107); /* b: the last name stays */
	close(first);
	close(twin);
	close(second);
	first = make("b");
	take(first, 108); /* b, but another inode, another id */
	CHECK(!mkdir("sub", 0700) && !rename("b", "sub/d"));
	take(first, 109); /* sub/d */
	CHECK(!rename("sub", "moved"));
	take(first, 110); /* moved/d: a directory above was renamed */
	return 0;
}
