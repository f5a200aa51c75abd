/* Arguments that mean something else than they look like, and calls that end otherwise than most. Tells the truth about each.
 *
 *     oddargs DIR
 */
#include "workload.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

/* A path of so many bytes that leads to `name`. */
static char *padded(char *path, size_t length, const char *name)
{
	size_t room = length - strlen(name);

	for (size_t i = 0; i < room; i++)
		path[i] = i % 2 ? '/' : '.';
	if (room % 2) /* ./././/name */
		path[room - 1] = '/';
	strcpy(path + room, name);
	return path;
}

/* The second path of a call whose first one is as long as can be. */
static void long_paths(void)
{
	static char path[PATH_MAX + 1];

	for (size_t length = PATH_MAX - 3; length < PATH_MAX; length++) {
		long made = RAW(symlink, padded(path, length, "text"), "second");

		truth("symlink arg_path=%s arg_path2=second returned=%ld", path, made);
		truth("unlink arg_path=second returned=%ld", RAW(unlink, "second"));
		truth("rename arg_path=%s arg_path2=second returned=%ld", path,
		      RAW(rename, path, "second"));
	}
	/* One byte more is refused, and so is its neighbour. */
	truth("rename arg_path=- returned=%ld",
	      RAW(rename, padded(path, PATH_MAX, "text"), "second"));
}

static void empty_paths(const char *directory)
{
	long fd = RAW(open, "file", O_RDWR | O_CREAT, 0600);
	long folder = RAW(open, ".", O_RDONLY | O_DIRECTORY);
	struct statx more;
	struct stat about;

	truth("open fd=%ld", fd);
	truth("open fd=%ld", folder);
	truth("newfstatat fd=%ld path=%s/file returned=%ld", fd, directory,
	      RAW(newfstatat, fd, "", &about, AT_EMPTY_PATH));
	truth("newfstatat fd=%ld path=%s/file arg_path=- returned=%ld", fd, directory,
	      RAW(newfstatat, fd, NULL, &about, AT_EMPTY_PATH));
	truth("statx fd=%ld path=%s/file arg_path=- returned=%ld", fd, directory,
	      RAW(statx, fd, NULL, AT_EMPTY_PATH, STATX_SIZE, &more));
	truth("newfstatat fd=- path=%s returned=%ld", directory,
	      RAW(newfstatat, AT_FDCWD, "", &about, AT_EMPTY_PATH));
	/* O_DSYNC is the same bit as AT_EMPTY_PATH. */
	truth("openat fd=- file=- flags=%d returned=%ld", O_DSYNC,
	      RAW(openat, folder, "", O_DSYNC));
	RAW(close, folder);
	truth("close fd=%ld", folder);
	RAW(close, fd);
	truth("close fd=%ld", fd);
}

/* Numbers at the ends of their range are no nulls. */
static void extremes(void)
{
	long fd = RAW(open, "file", O_RDWR);
	char byte;

	truth("open fd=%ld", fd);
	truth("pread64 pos=-1 requested=1 returned=%ld", RAW(pread64, fd, &byte, 1L, -1L));
	truth("pread64 pos=-9223372036854775808 requested=1 returned=%ld",
	      RAW(pread64, fd, &byte, 1L, LONG_MIN));
	truth("pread64 pos=0 requested=9223372036854775808 returned=%ld",
	      RAW(pread64, fd, &byte, LONG_MIN, 0L));
	truth("ftruncate length=9223372036854775808 returned=%ld", RAW(ftruncate, fd, LONG_MIN));
	RAW(close, fd);
	truth("close fd=%ld", fd);
}

static void ignore(int number)
{
	(void)number;
}

static void *interrupt(void *thread)
{
	usleep(50000);
	pthread_kill(*(pthread_t *)thread, SIGUSR1);
	return NULL;
}

/* A receive with a time-out is never begun anew: it ends with EINTR by itself. */
static void timed_receive(void)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART };
	struct timeval limit = { .tv_sec = 5 };
	pthread_t self = pthread_self(), other;
	char byte;
	int pair[2];

	CHECK(!sigaction(SIGUSR1, &action, NULL) && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	CHECK(!setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	CHECK(!pthread_create(&other, NULL, interrupt, &self));
	truth("recvfrom fd=%d restarted=False returned=%ld", pair[0],
	      RAW(recvfrom, pair[0], &byte, 1, 0, NULL, NULL));
	pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2 && !chdir(argv[1]));
	truth_begin();
	long_paths();
	empty_paths(argv[1]);
	extremes();
	timed_receive();
	truth_end();
	return 0;
}
