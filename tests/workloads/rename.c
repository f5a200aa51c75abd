/* Threads change their names, each in one of the ways there are, and write one byte before and after.
 *
 *     rename DIR      prints one line a thread: tid, name before, name after
 */
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>

static void leave(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, "x", 1) == 1 && !close(fd));
}

/* Another thread than the renamed one writes the name, through /proc. */
static void rename_other(pid_t tid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	fd = open(path, O_WRONLY);
	CHECK(fd >= 0 && write(fd, name, strlen(name)) == (ssize_t)strlen(name) && !close(fd));
}

static void *by_prctl(void *unused)
{
	leave("prctl-before");
	CHECK(!prctl(PR_SET_NAME, "by prctl"));
	leave("prctl-after");
	printf("%d rename by prctl\n", gettid());
	return unused;
}

static pthread_barrier_t meeting;
static pid_t other_tid;

static void *by_proc(void *unused)
{
	leave("proc-before");
	other_tid = gettid();
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	leave("proc-after");
	printf("%d rename by proc\n", gettid());
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	CHECK(argc == 2 && !chdir(argv[1]) && !pthread_barrier_init(&meeting, NULL, 2));
	CHECK(!pthread_create(&thread, NULL, by_prctl, NULL) && !pthread_join(thread, NULL));
	CHECK(!pthread_create(&thread, NULL, by_proc, NULL));
	pthread_barrier_wait(&meeting);
	rename_other(other_tid, "by proc");
	pthread_barrier_wait(&meeting);
	CHECK(!pthread_join(thread, NULL));
	CHECK(!prctl(PR_SET_NAME, "the main thread"));
	leave("main-after");
	printf("%d rename the main thread\n", gettid());
	return 0;
}
