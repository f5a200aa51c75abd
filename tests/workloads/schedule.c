/* A thread that works, sleeps, yields and is preempted, and tells what the kernel counted for it between
 * two moments:
 *
 *     tid T from NS to NS run NS wait NS switches N steal NS
 *
 * run and wait are from /proc/thread-self/schedstat, switches from its status, steal from /proc/stat.
 * Two more threads compete with it for the CPU that all three are tied to.
 */
#include "workload.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

struct counts {
	unsigned long long run, wait, switches, steal, at;
};

static atomic_bool done;

static unsigned long long boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

static unsigned long long switches(void)
{
	unsigned long long sum = 0, value;
	char line[256];
	FILE *file = fopen("/proc/thread-self/status", "r");

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &value) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &value) == 1)
			sum += value;
	fclose(file);
	return sum;
}

static unsigned long long steal_ns(void)
{
	unsigned long long steal;
	FILE *file = fopen("/proc/stat", "r");

	CHECK(file);
	CHECK(fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) == 1);
	fclose(file);
	return steal * 10000000;
}

/* All counts of one moment: taken anew if a switch came in between. */
static struct counts counts_read(void)
{
	struct counts counts;
	FILE *file;

	do {
		counts.switches = switches();
		counts.steal = steal_ns();
		file = fopen("/proc/thread-self/schedstat", "r");
		CHECK(file);
		CHECK(fscanf(file, "%llu %llu", &counts.run, &counts.wait) == 2);
		fclose(file);
		counts.at = boot_ns();
	} while (counts.switches != switches());
	return counts;
}

static void work(unsigned long long ns)
{
	unsigned long long end = boot_ns() + ns;

	while (boot_ns() < end)
		;
}

static void *compete(void *unused)
{
	(void)unused;
	while (!done)
		work(1000000);
	return NULL;
}

int main(void)
{
	struct counts before, after;
	pthread_t rivals[2];
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	CHECK(!sched_setaffinity(0, sizeof(cpu), &cpu));
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&rivals[i], NULL, compete, NULL));
	before = counts_read();
	for (int i = 0; i < 60; i++) {
		work(3000000);
		usleep(500);
		sched_yield();
	}
	after = counts_read();
	done = true;
	for (int i = 0; i < 2; i++)
		pthread_join(rivals[i], NULL);
	printf("tid %ld from %llu to %llu run %llu wait %llu switches %llu steal %llu\n",
	       syscall(SYS_gettid), before.at, after.at, after.run - before.run,
	       after.wait - before.wait, after.switches - before.switches,
	       after.steal - before.steal);
	return 0;
}
