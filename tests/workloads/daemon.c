/* A job whose first process exits at once (with 4) while a grandchild in a session of its own goes on for
 * half a second, then writes 3 bytes to DIR/late.
 *
 *     daemon DIR
 */
#include "workload.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
	int fd;

	CHECK(argc == 2 && !chdir(argv[1]));
	if (fork())
		return 4;
	setsid();
	if (fork())
		return 0;
	usleep(500000);
	fd = open("late", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, "end", 3) == 3 && !close(fd));
	return 0;
}
