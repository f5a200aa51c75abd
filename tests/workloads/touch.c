/* Maps FILE and touches its pages: touch FILE read|write|random|wait. `random` goes through them in an order that
 * leaps, without readahead; `wait` says that it is ready and reads them after SIGUSR1. Prints the address of the
 * mapping, the minor and major faults that the kernel counted meanwhile, and the nanoseconds that it took. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define PAGE 4096

static void touch(volatile unsigned char *page, int write)
{
	if (write)
		*page = 1;
	else
		(void)*page;
}

static void await_signal(void)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&set, &signal);
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
	int write = argc == 3 && !strcmp(argv[2], "write");
	struct rusage before, after;
	struct timespec start, end;
	unsigned char *map;
	struct stat file;
	size_t pages, step = 1;

	if (fd < 0 || fstat(fd, &file))
		return 1;
	pages = (size_t)file.st_size / PAGE;
	map = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return 1;
	if (!strcmp(argv[2], "random")) {
		madvise(map, (size_t)file.st_size, MADV_RANDOM);
		step = 7919; /* prime, so every page has its turn */
	}
	if (!strcmp(argv[2], "wait"))
		await_signal();
	for (int again = 0; again < 2; again++) { /* so that these calls fault no more */
		getrusage(RUSAGE_SELF, &after);
		clock_gettime(CLOCK_MONOTONIC, &end);
		getrusage(RUSAGE_SELF, &before);
		clock_gettime(CLOCK_MONOTONIC, &start);
	}
	for (size_t i = 0; i < pages; i++)
		touch(map + i * step % pages * PAGE, write);
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_SELF, &after);
	printf("%lu %ld %ld %lld\n", (unsigned long)map, after.ru_minflt - before.ru_minflt,
	       after.ru_majflt - before.ru_majflt,
	       (end.tv_sec - start.tv_sec) * 1000000000ll + end.tv_nsec - start.tv_nsec);
	return 0;
}
