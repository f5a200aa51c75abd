/* Calls functions in a loop and prints how many nanoseconds a call took: of one that begins with a push, on which a probe is cheap, and
 * of one that the kernel has to step over.
 *
 *     function_loop CALLS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

long loop_push(long a);
long loop_step(long a);

__asm__(".text\n"
	".globl loop_push\n"
	".type loop_push, @function\n"
	"loop_push: push %rbx; lea 1(%rdi), %rax; pop %rbx; ret\n"
	".size loop_push, . - loop_push\n"
	".globl loop_step\n"
	".type loop_step, @function\n"
	"loop_step: lea 1(%rdi), %rax; ret\n"
	".size loop_step, . - loop_step\n");

static double measure(long (*function)(long), long calls)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (long i = 0; i < calls; i++)
		function(i);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
	       (double)calls;
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 100000;

	printf("push %.1f\n", measure(loop_push, calls));
	printf("step %.1f\n", measure(loop_step, calls));
	return 0;
}
