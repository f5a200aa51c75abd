/* A steady beat: spins and sleeps for fixed times, and says how often it was switched away from.
 *
 *     beat ROUNDS SPIN_US SLEEP_US [FILE]     prints its process id, waits for SIGUSR1, then ROUNDS times spins, sleeps, and
 *                                             reads 4 KiB of FILE; prints `done VOLUNTARY INVOLUNTARY`, the switches since
 *                                             the signal, and sleeps until it is killed
 */
#include "workload.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

static unsigned long long now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (unsigned long long)time.tv_sec * 1000000 + (unsigned long long)time.tv_nsec / 1000;
}

static void spin(unsigned long long us)
{
	unsigned long long end = now_us() + us;

	while (now_us() < end)
		;
}

int main(int argc, char **argv)
{
	int file = argc > 4 ? open(argv[4], O_RDONLY) : -1, signal;
	struct rusage before, after;
	static char page[4096];
	sigset_t go;

	CHECK(argc > 3);
	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	sigprocmask(SIG_BLOCK, &go, NULL);
	printf("%d\n", getpid());
	fflush(stdout);
	CHECK(!sigwait(&go, &signal));
	CHECK(!getrusage(RUSAGE_SELF, &before));
	for (int i = 0; i < atoi(argv[1]); i++) {
		struct timespec rest = { .tv_nsec = atol(argv[3]) * 1000 };

		spin((unsigned long long)atoll(argv[2]));
		nanosleep(&rest, NULL);
		if (file >= 0)
			CHECK(pread(file, page, sizeof(page), 0) == sizeof(page));
	}
	CHECK(!getrusage(RUSAGE_SELF, &after));
	printf("done %ld %ld\n", after.ru_nvcsw - before.ru_nvcsw,
	       after.ru_nivcsw - before.ru_nivcsw);
	fflush(stdout);
	for (;;)
		pause();
}
