/* N processes as fast as they can be made, in bursts: ALIVE of them wait for each other, then all exit at once.
 *
 *     bomb N ALIVE
 */
#include "workload.h"

#include <sys/wait.h>

/* The gate opens when its last writer closes it. */
static void burst(long count)
{
	int gate[2];
	char byte;

	CHECK(!pipe(gate));
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			close(gate[1]);
			_exit(read(gate[0], &byte, 1) ? 1 : 0);
		}
	}
	close(gate[0]);
	close(gate[1]);
	for (long i = 0; i < count; i++) {
		int status;

		CHECK(wait(&status) > 0 && !status);
	}
}

int main(int argc, char **argv)
{
	long left, alive;

	CHECK(argc == 3);
	left = atol(argv[1]);
	alive = atol(argv[2]);
	for (; left > 0; left -= alive)
		burst(left < alive ? left : alive);
	return 0;
}
