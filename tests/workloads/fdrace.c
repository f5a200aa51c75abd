/* While one thread sleeps in a read on a pipe, another puts a regular file in the place of the descriptor:
 * the read belongs to the pipe, the next one on the same number to the file.
 *
 *     fdrace DIR      prints the descriptor's number
 */
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>

static int pipes[2];
static volatile pid_t reader_tid;

static void *reader(void *unused)
{
	char buffer[16];

	reader_tid = gettid();
	CHECK(read(pipes[0], buffer, 16) == 4);
	CHECK(read(pipes[0], buffer, 9) == 9); /* the file by now */
	return unused;
}

static void wait_until_asleep(void)
{
	char path[64], text[512] = "";
	FILE *file;

	do {
		usleep(2000);
		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", reader_tid);
		file = reader_tid ? fopen(path, "r") : NULL;
		if (!file)
			continue;
		CHECK(fgets(text, sizeof(text), file));
		fclose(file);
	} while (strncmp(text, "0 ", 2));
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int fd;

	CHECK(argc == 2 && !chdir(argv[1]) && !pipe(pipes));
	fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, "0123456789", 10) == 10 && lseek(fd, 0, SEEK_SET) == 0);
	printf("%d\n", pipes[0]);
	CHECK(!pthread_create(&thread, NULL, reader, NULL));
	wait_until_asleep();
	CHECK(dup2(fd, pipes[0]) == pipes[0]);
	CHECK(write(pipes[1], "pipe", 4) == 4);
	CHECK(!pthread_join(thread, NULL));
	return 0;
}
