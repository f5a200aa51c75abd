/* Functions of its own, called a known number of times from several threads: recursion, calls that longjmp leaves, a jump in place
 * of a call, a call that ends the thread. Prints a line each of what must be recorded: FUNCTION CALLS RETURNS SUM, where SUM is that
 * of the results, or of the first arguments where there are none.
 *
 *     calls [ROUNDS]
 */
#include "workload.h"

#include <pthread.h>
#include <setjmp.h>

#define THREADS 4
#define DEPTH	10
#define DEEP	100 /* more than the kernel has return probes for */

#define TRACED __attribute__((noinline, noclone, noipa))

long calls_leaf(long a, long b);
long calls_recurse(long depth);
long calls_tail(long a, long b);
long calls_jump(long depth);
long calls_last(long a);
long calls_deep(long depth);

static __thread jmp_buf back;

/* Keeps a recursion from becoming a loop. */
static long after_call(long value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

TRACED long calls_leaf(long a, long b)
{
	return a + b;
}

TRACED long calls_recurse(long depth)
{
	return depth ? 1 + after_call(calls_recurse(depth - 1)) : 0;
}

TRACED long calls_deep(long depth)
{
	return depth ? 1 + after_call(calls_deep(depth - 1)) : 0;
}

/* The compiler makes a jump of it. */
TRACED long calls_tail(long a, long b)
{
	return calls_leaf(b, a);
}

TRACED long calls_jump(long depth)
{
	if (!depth)
		longjmp(back, 1);
	return depth < 0 ? 0 : 1 + after_call(calls_jump(depth - 1));
}

TRACED long calls_last(long a)
{
	pthread_exit((void *)a);
}

static void *work(void *argument)
{
	long rounds = (long)argument;

	for (volatile long i = 0; i < rounds; i++) {
		CHECK(calls_leaf(i, 1) == i + 1);
		CHECK(calls_recurse(DEPTH) == DEPTH);
		CHECK(calls_tail(i, 2) == i + 2);
		if (!setjmp(back))
			calls_jump(2);
	}
	calls_last(7);
	return NULL;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100, all = THREADS * rounds;
	long sum = THREADS * rounds * (rounds - 1) / 2;
	pthread_t threads[THREADS];
	void *result;

	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, (void *)rounds));
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], &result) && result == (void *)7);
	CHECK(calls_deep(DEEP) == DEEP);
	printf("calls_leaf %ld %ld %ld\n", 2 * all, 2 * all, 2 * sum + 3 * all);
	printf("calls_recurse %ld %ld %ld\n", (DEPTH + 1) * all, (DEPTH + 1) * all,
	       all * DEPTH * (DEPTH + 1) / 2);
	printf("calls_tail %ld %ld %ld\n", all, all, sum + 2 * all);
	printf("calls_jump %ld 0 %ld\n", 3 * all, 3 * all);
	printf("calls_last %d 0 %d\n", THREADS, 7 * THREADS);
	printf("calls_deep %d 64 %d\n", DEEP + 1,
	       DEEP * (DEEP + 1) / 2); /* its argument is its result */
	return 0;
}
