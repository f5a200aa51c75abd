/* Calls functions of the C library known numbers of times: in threads, in signal handlers, in children of fork, vfork and posix_spawn, in
 * programs that those become, and in processes that are killed or crash. Prints each function with its calls and the sum of its results,
 * as it counted them itself.
 *
 *     inprocess COUNT            prints FUNCTION CALLS SUM, and "handler RUNS"
 *     inprocess part COUNT FD    what a child becomes: COUNT writes of 5 bytes, counted in the memory behind FD
 */
#define _FORTIFY_SOURCE 2
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ODD	12345 /* bytes to allocate: nobody else does */

/* clang-format off */
#define FUNCTIONS(F) \
	F(open) F(openat) F(close) F(read) F(write) F(pread) F(pwrite) F(readv) F(writev) \
	F(lseek) F(fstat) F(stat) F(access) F(unlink) F(fsync) F(fcntl) F(dup) F(mmap) F(munmap) \
	F(fopen) F(fclose) F(fread) F(fwrite) F(fgets) F(fprintf) F(fseek) F(ftell) F(malloc) \
	F(calloc) F(realloc)
/* clang-format on */

enum {
#define F(name) T_##name,
	FUNCTIONS(F)
#undef F
		T_COUNT
};

/* Shared with all children. */
static struct truth {
	atomic_long calls[T_COUNT], sums[T_COUNT];
	atomic_long handled;
} * truth;

static int null = -1, memory = -1;
static long count;

static long counted(int function, long result)
{
	truth->calls[function]++;
	if (result > 0 && result < 1 << 20)
		truth->sums[function] += result;
	return result;
}

#define C(name, ...)  counted(T_##name, name(__VA_ARGS__))
#define CP(name, ...) ((void *)counted(T_##name, (long)name(__VA_ARGS__)))

static void check(int right, const char *what)
{
	char text[128];

	if (right)
		return;
	if (write(2, text, (size_t)snprintf(text, sizeof(text), "inprocess: %s\n", what)) < 0)
		_exit(4);
	_exit(3);
}

static void use_file(const char *path)
{
	char data[64] = "0123456789", back[64];
	struct iovec parts[] = { { data, 3 }, { data, 4 } };
	volatile size_t size = 10; /* the compiler does not know: a checked read */
	struct stat file;
	void *map;
	int fd = (int)C(open, path, O_RDWR | O_CREAT | O_TRUNC, 0640), copy;

	check(fd >= 0 && !C(fstat, fd, &file) && (file.st_mode & 0777) == 0640, "the mode of open");
	check(C(write, fd, data, 10) == 10 && C(pwrite, fd, data, 6, 10) == 6, "writes");
	check(C(writev, fd, parts, 2) == 7 && C(lseek, fd, 0, SEEK_SET) == 0, "writev");
	check(C(read, fd, back, size) == 10 && !memcmp(back, data, 10), "read");
	check(C(pread, fd, back, size - 4, 10) == 6 && C(readv, fd, parts, 2) > 0, "pread, readv");
	errno = 0;
	check(C(read, -1, back, 1) == -1 && errno == EBADF, "errno of read");
	copy = (int)C(fcntl, fd, F_DUPFD_CLOEXEC, 100);
	check(copy >= 100 && C(fcntl, copy, F_GETFD) == FD_CLOEXEC, "the argument of fcntl");
	check(!C(close, copy) && (copy = (int)C(dup, fd)) >= 0 && !C(close, copy), "dup");
	map = CP(mmap, NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	check(map != MAP_FAILED && !memcmp(map, data, 10) && !C(munmap, map, 4096), "mmap");
	check(!C(fsync, fd) && !C(close, fd) && !C(stat, path, &file) && !C(access, path, R_OK),
	      "fsync, stat");
	fd = (int)C(openat, AT_FDCWD, path, O_RDONLY);
	check(fd >= 0 && !C(close, fd) && !C(unlink, path), "openat, unlink");
}

static void use_stream(const char *path)
{
	char back[64];
	FILE *stream = CP(fopen, path, "w+");

	check(stream && C(fwrite, "abcdef", 2, 3, stream) == 3, "fwrite");
	check(C(fprintf, stream, "%d %s\n", 42, "x") == 5 && C(ftell, stream) == 11, "fprintf");
	check(!C(fseek, stream, 0, SEEK_SET) && C(fread, back, 1, 6, stream) == 6, "fread");
	check(!memcmp(back, "abcdef", 6) && CP(fgets, back, 64, stream) == back, "fgets");
	check(!strcmp(back, "42 x\n") && !C(fclose, stream) && !C(unlink, path), "a stream");
}

static void use_memory(void)
{
	char *one = CP(malloc, ODD), *two = CP(calloc, 5, ODD / 5);

	check(one && two && !two[ODD / 5], "allocations");
	one = CP(realloc, one, ODD + 1);
	check(!!one, "realloc");
	free(one);
	free(two);
}

static void *thread_run(void *argument)
{
	char path[64];

	snprintf(path, sizeof(path), "inprocess.%d.%d", (int)getpid(), (int)(long)argument);
	for (long i = 0; i < count; i++) {
		use_file(path);
		use_stream(path);
		use_memory();
	}
	return NULL;
}

/* ---- signals ---- */

static void on_alarm(int number)
{
	int before = errno;

	(void)number;
	truth->handled++;
	counted(T_write, write(null, "12", 2));
	errno = before;
}

static void run_handlers(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (truth->handled < 200) {
		use_memory();
		for (volatile int i = 0; i < 20000; i++) /* no faster than it can be written down */
			;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
}

/* ---- processes ---- */

static void write_some(long bytes)
{
	for (long i = 0; i < count; i++)
		C(write, null, "123456789", (size_t)bytes);
}

static int end_of(pid_t child)
{
	int status;

	check(child > 0 && waitpid(child, &status, 0) == child, "a child");
	return status;
}

static void crash(int number)
{
	void *volatile nowhere = NULL;
	pid_t child = fork();

	if (!child) {
		write_some(3);
		if (number == SIGKILL)
			kill(getpid(), SIGKILL);
		else
			*(volatile int *)nowhere = 1;
	}
	check(WTERMSIG(end_of(child)) == number, "a process that was to die");
}

static void run_processes(char **argv)
{
	char text[32], memory_text[32];
	char *part[] = { argv[0], "part", text, memory_text, NULL };
	extern char **environ;
	pid_t child;

	snprintf(text, sizeof(text), "%ld", count);
	snprintf(memory_text, sizeof(memory_text), "%d", memory);
	child = fork();
	if (!child) {
		write_some(1);
		if (!fork()) { /* of a child, after the child has written */
			write_some(2);
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	check(!end_of(child), "a forked process");
	child = vfork();
	if (!child) {
		C(write, null, "1234", 4);
		C(close, -1);
		execv(argv[0], part);
		_exit(1);
	}
	C(write, null, "12345678", 8); /* as itself again */
	check(!end_of(child), "a program behind vfork");
	child = vfork();
	if (!child) {
		C(write, null, "1234", 4);
		_exit(0);
	}
	check(!end_of(child), "a child of vfork");
	check(!posix_spawn(&child, argv[0], NULL, NULL, part, environ) && !end_of(child),
	      "a spawned program");
	crash(SIGKILL);
	crash(SIGSEGV);
}

static void print_truth(void)
{
	static const char *const names[] = {
#define F(name) #name,
		FUNCTIONS(F)
#undef F
	};
	char text[64];

	for (int i = 0; i < T_COUNT; i++)
		check(write(1, text,
			    (size_t)snprintf(text, sizeof(text), "%s %ld %ld\n", names[i],
					     (long)truth->calls[i], (long)truth->sums[i])) > 0,
		      "output");
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	bool part = argc == 4 && !strcmp(argv[1], "part");

	if (argc != 2 && !part)
		return 2;
	count = atol(argv[part ? 2 : 1]);
	memory = part ? atoi(argv[3]) : memfd_create("truth", 0);
	check(part || !ftruncate(memory, sizeof(struct truth)), "memory");
	truth = mmap(NULL, sizeof(struct truth), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	check(truth != MAP_FAILED, "memory");
	null = open("/dev/null", O_WRONLY);
	if (part) {
		write_some(5);
		return 0;
	}
	for (long i = 0; i < THREADS; i++)
		check(!pthread_create(&threads[i], NULL, thread_run, (void *)i), "a thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	run_handlers();
	run_processes(argv);
	print_truth();
	return 0;
}
