/* Reads on an empty pipe that a signal ends: without SA_RESTART (EINTR), with it (begun anew, then fed), and
 * by a signal that kills.
 *
 *     signals      prints the number of the pipe's descriptor; dies by SIGTERM inside a read
 */
#include "workload.h"

#include <signal.h>
#include <sys/wait.h>

static int pipes[2];

static void ignore(int number)
{
	(void)number;
}

/* The one place that waits: a signal or bytes must meet a read that sleeps already. */
static void wait_until_asleep(pid_t pid)
{
	char path[64], text[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	do {
		usleep(2000);
		file = fopen(path, "r");
		CHECK(file && fgets(text, sizeof(text), file));
		fclose(file);
	} while (strncmp(text, "0 ", 2)); /* number of read; "running" while it is not asleep */
}

static void read_pipe(int flags)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = flags };
	char buffer[8];
	pid_t parent = getpid(), pid;

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	pid = fork();
	if (!pid) {
		wait_until_asleep(parent);
		kill(parent, SIGUSR1);
		if (flags) {
			usleep(20000);
			wait_until_asleep(parent);
			CHECK(write(pipes[1], "12345", 5) == 5);
		}
		_exit(0);
	}
	if (flags)
		CHECK(read(pipes[0], buffer, sizeof(buffer)) == 5);
	else
		CHECK(read(pipes[0], buffer, sizeof(buffer)) == -1 && errno == EINTR);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

int main(void)
{
	pid_t parent = getpid();
	char buffer[8];

	CHECK(!pipe(pipes));
	printf("%d\n", pipes[0]);
	fflush(stdout);
	read_pipe(0);
	read_pipe(SA_RESTART);
	if (!fork()) {
		wait_until_asleep(parent);
		kill(parent, SIGTERM);
		_exit(0);
	}
	(void)!read(pipes[0], buffer, 7);
	return 1;
}
