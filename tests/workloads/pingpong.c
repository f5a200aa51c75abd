/* Two processes that wake each other over two pipes, N times, each tied to a CPU of its own or both to
 * one. Prints their ids: `first second`. */
#include "workload.h"

#include <sched.h>
#include <sys/wait.h>

static void tie(int number)
{
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(number, &cpu);
	CHECK(!sched_setaffinity(0, sizeof(cpu), &cpu));
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000, second_cpu = argc > 2 ? atoi(argv[2]) : 0;
	int there[2], back[2];
	char byte = 'x';
	pid_t child;

	CHECK(!pipe(there) && !pipe(back));
	child = fork();
	CHECK(child >= 0);
	tie(child ? 0 : second_cpu);
	for (int i = 0; i < rounds; i++) {
		if (child)
			CHECK(write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1);
		else
			CHECK(read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1);
	}
	if (child) {
		printf("%d %d\n", (int)getpid(), (int)child);
		CHECK(waitpid(child, NULL, 0) == child);
	}
	return 0;
}
