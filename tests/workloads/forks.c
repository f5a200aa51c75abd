/* N short-lived processes, one after the other, two alive at a time: each reads 16 bytes of a file through
 * the descriptor it inherited and exits with its number modulo 100. Every tenth execs this program anew,
 * which then opens and reads the file itself.
 *
 *     forks FILE N
 */
#include "workload.h"

#include <fcntl.h>
#include <sys/wait.h>

static void child(long number, int fd, char **argv)
{
	char buffer[16], text[16];

	if (number % 10 == 0) {
		snprintf(text, sizeof(text), "%ld", number % 100);
		execl("/proc/self/exe", argv[0], argv[1], "child", text, NULL);
		_exit(98);
	}
	CHECK(pread(fd, buffer, sizeof(buffer), number) == sizeof(buffer));
	_exit((int)(number % 100));
}

static void reap(long number)
{
	int status;

	CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= number % 100 + 1);
}

int main(int argc, char **argv)
{
	char buffer[16];
	int fd;

	CHECK(argc >= 3);
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	if (argc == 4) {
		CHECK(read(fd, buffer, sizeof(buffer)) == sizeof(buffer));
		return atoi(argv[3]);
	}
	for (long number = 0; number < atol(argv[2]); number++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid)
			child(number, fd, argv);
		if (number)
			reap(99);
	}
	reap(99);
	return 0;
}
