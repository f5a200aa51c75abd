/* Uses CPU time, memory and storage in many short-lived processes and threads, and tells what the kernel
 * counted for it: readings of getrusage (itself and its children) and /proc/self/io, which holds those of
 * children once they are reaped. What it does before it reads a byte from standard input is its past.
 *
 *     usage DEVICE N      N processes that read 4096 bytes of DEVICE with O_DIRECT each
 *     usage orphan N      one process that spins N ms and is nobody's child
 *
 * A reading is "CPU_NS MINOR MAJOR VOLUNTARY INVOLUNTARY RCHAR WCHAR READ_BYTES WRITE_BYTES": before the byte
 * is read, after it, and at the end.
 */
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define BLOCK 4096

static const char *device;

static void spin(long microseconds)
{
	struct timespec now;
	long end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	end = now.tv_sec * 1000000 + now.tv_nsec / 1000 + microseconds;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec * 1000000 + now.tv_nsec / 1000 < end);
}

static void touch(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	for (size_t i = 0; i < size; i += 4096)
		memory[i] = 1;
	CHECK(!munmap(memory, size));
}

static void read_direct(void)
{
	int fd = open(device, O_RDONLY | O_DIRECT | O_CLOEXEC);
	void *block = aligned_alloc(BLOCK, BLOCK);

	CHECK(fd >= 0 && block && pread(fd, block, BLOCK, 0) == BLOCK && !close(fd));
	free(block);
}

static void *work(void *unused)
{
	touch(32 * 4096);
	spin(50);
	return unused;
}

/* Every fifth process has a thread beside its first; every seventh ends by a signal. */
static void child(long number)
{
	pthread_t thread;

	read_direct();
	work(NULL);
	if (number % 5 == 0)
		CHECK(!pthread_create(&thread, NULL, work, NULL) && !pthread_join(thread, NULL));
	if (number % 7 == 0)
		raise(SIGKILL);
	_exit(0);
}

static void children(long count)
{
	for (long number = 0; number < count; number++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid)
			child(number);
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
}

/* Its parent exits first, so that no counter of this process ever holds what it used. */
static void orphan(long milliseconds)
{
	int told[2];
	char byte;

	CHECK(!pipe(told));
	if (!fork()) {
		if (fork())
			_exit(0);
		close(told[0]);
		while (getppid() != 1)
			usleep(1000);
		spin(milliseconds * 1000);
		_exit(0);
	}
	close(told[1]);
	CHECK(wait(NULL) > 0 && read(told[0], &byte, 1) == 0);
}

static long sum(struct timeval one, struct timeval other)
{
	return (one.tv_sec + other.tv_sec) * 1000000000 + (one.tv_usec + other.tv_usec) * 1000;
}

static void tell(void)
{
	struct rusage own, reaped;
	long rchar, wchar, reads, writes;
	FILE *io = fopen("/proc/self/io", "re");

	CHECK(io && fscanf(io,
			   "rchar: %ld wchar: %ld syscr: %*d syscw: %*d read_bytes: %ld "
			   "write_bytes: %ld",
			   &rchar, &wchar, &reads, &writes) == 4);
	fclose(io);
	CHECK(!getrusage(RUSAGE_SELF, &own) && !getrusage(RUSAGE_CHILDREN, &reaped));
	printf("%ld %ld %ld %ld %ld %ld %ld %ld %ld\n",
	       sum(own.ru_utime, own.ru_stime) + sum(reaped.ru_utime, reaped.ru_stime),
	       own.ru_minflt + reaped.ru_minflt, own.ru_majflt + reaped.ru_majflt,
	       own.ru_nvcsw + reaped.ru_nvcsw, own.ru_nivcsw + reaped.ru_nivcsw, rchar, wchar,
	       reads, writes);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char byte;

	CHECK(argc == 3);
	device = argv[1];
	spin(300000);
	touch(64 << 20);
	if (strcmp(device, "orphan"))
		children(20);
	tell();
	CHECK(read(0, &byte, 1) == 1);
	tell();
	if (strcmp(device, "orphan"))
		children(atol(argv[2]));
	else
		orphan(atol(argv[2]));
	tell();
	return 0;
}
