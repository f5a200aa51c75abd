/* A thread that is not the leader calls execve: the kernel ends the other threads and gives the caller the
 * leader's id. Each of the three lives writes one byte to its own file.
 *
 *     execthread DIR      DIR/leader, DIR/thread and, after the exec, DIR/after
 */
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>

static void leave(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, "x", 1) == 1 && !close(fd));
}

static void *work(void *argument)
{
	char **argv = argument;

	leave("thread");
	printf("%d %d\n", getpid(), gettid());
	fflush(stdout);
	execl("/proc/self/exe", argv[0], argv[1], "after", NULL);
	CHECK(!"exec");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	CHECK(argc >= 2 && !chdir(argv[1]));
	if (argc == 3) {
		leave("after");
		printf("%d %d\n", getpid(), gettid());
		return 5;
	}
	leave("leader");
	CHECK(!pthread_create(&thread, NULL, work, argv));
	pthread_join(thread, NULL);
	return 1;
}
