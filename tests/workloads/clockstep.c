/* Writes a byte at each of 48 positions of a file, tells what the wall clock showed before and after each, logs a line of an
 * MLPerf log for each, and sets that clock 3 s ahead and back again in between: of the whole machine, so only where that
 * disturbs nobody.
 *
 *     clockstep FILE LOG
 */
#include <fcntl.h>
#include <time.h>

#include "workload.h"

#define STEP  3
#define COUNT 48

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void set(int seconds)
{
	struct timespec time;

	CHECK(!clock_gettime(CLOCK_REALTIME, &time));
	time.tv_sec += seconds;
	CHECK(!clock_settime(CLOCK_REALTIME, &time));
	usleep(200000); /* who is told of it needs a CPU */
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
	FILE *log = argc == 3 ? fopen(argv[2], "w") : NULL;

	CHECK(fd >= 0 && log);
	for (int i = 0; i < COUNT; i++) {
		long long before = now();

		CHECK(pwrite(fd, "x", 1, i) == 1);
		printf("%d %lld %lld\n", i, before, now());
		fprintf(log, ":::MLLOG {\"key\": \"at\", \"value\": %d, \"time_ms\": %lld}\n", i,
			before / 1000000);
		fflush(log);
		usleep(60000);
		if (i == COUNT / 3 || i == COUNT * 2 / 3)
			set(i == COUNT / 3 ? STEP : -STEP);
	}
	fclose(log);
	return 0;
}
