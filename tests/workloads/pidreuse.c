/* Two processes, one after the other, with the same process id (clone3 with set_tid, which needs root):
 * each takes a name of its own, opens a file of its own on the same descriptor number and writes to it.
 *
 *     pidreuse DIR      prints the id; leaves DIR/first (10 bytes) and DIR/second (20 bytes)
 */
#include "workload.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static pid_t clone_with_id(pid_t wanted)
{
	struct clone_args arguments = {
		.exit_signal = SIGCHLD,
		.set_tid = wanted ? (uintptr_t)&wanted : 0,
		.set_tid_size = wanted ? 1 : 0,
	};

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

static pid_t run(pid_t wanted, const char *name, size_t size)
{
	char buffer[64] = { 0 };
	int status, fd;
	pid_t pid = clone_with_id(wanted);

	CHECK(pid >= 0);
	if (!pid) {
		CHECK(!prctl(PR_SET_NAME, name));
		fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		CHECK(fd == 3 && write(fd, buffer, size) == (ssize_t)size);
		_exit((int)size);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == size);
	return pid;
}

int main(int argc, char **argv)
{
	pid_t pid;

	CHECK(argc == 2 && !chdir(argv[1]));
	pid = run(0, "first", 10);
	CHECK(run(pid, "second", 20) == pid);
	printf("%d\n", pid);
	return 0;
}
