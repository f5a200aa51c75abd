/* Threads that compete for two CPUs while the first of them moves the others from one to the other, whether they run or
 * wait. Prints for each of those, as the kernel counts it between its beginning and its end:
 *
 *     tid T from NS to NS wait NS stays N
 */
#include "workload.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#define THREADS 4
#define FLIPS	400

static atomic_bool done;
static _Atomic pid_t tids[THREADS];

static unsigned long long boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

static void read_schedstat(unsigned long long *wait, unsigned long long *stays)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");

	CHECK(file);
	CHECK(fscanf(file, "%*u %llu %llu", wait, stays) == 2);
	fclose(file);
}

static void *compete(void *argument)
{
	_Atomic pid_t *tid = argument;
	unsigned long long from, wait, stays, wait_before, stays_before;

	read_schedstat(&wait_before, &stays_before);
	from = boot_ns();
	*tid = (pid_t)syscall(SYS_gettid);
	while (!done)
		;
	read_schedstat(&wait, &stays);
	printf("tid %d from %llu to %llu wait %llu stays %llu\n", (int)*tid, from, boot_ns(),
	       wait - wait_before, stays - stays_before);
	return NULL;
}

static void move(pid_t tid, int number)
{
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(number, &cpu);
	CHECK(!sched_setaffinity(tid, sizeof(cpu), &cpu));
}

int main(void)
{
	struct timespec pause = { .tv_nsec = 2000000 };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		CHECK(!pthread_create(&threads[i], NULL, compete, (void *)&tids[i]));
		while (!tids[i])
			nanosleep(&pause, NULL);
	}
	for (int flip = 0; flip < FLIPS; flip++) {
		move(tids[flip % THREADS], flip / THREADS & 1);
		nanosleep(&pause, NULL);
	}
	done = true;
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	return 0;
}
