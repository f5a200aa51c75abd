/* Calls on stacks other than the thread's own, begun on one and ended after others: coroutines that leave in the middle of a call, and
 * a signal handler on a stack of its own, above and below the thread's. Prints what must be recorded: FUNCTION CALLS.
 *
 *     stacks
 */
#include "workload.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#define ROUNDS 20
#define STACK  (256 << 10)

#define TRACED __attribute__((noinline, noclone, noipa))

long stacks_outer(long a);
long stacks_inner(long a);
long stacks_handler(long a);

static ucontext_t scheduler, coroutines[2];
static volatile long handled;

TRACED long stacks_inner(long a)
{
	return a + 1;
}

/* Leaves in the middle: the other one comes to its end, or to here, before this one goes on. */
TRACED long stacks_outer(long a)
{
	swapcontext(&coroutines[a], &scheduler);
	return stacks_inner(a);
}

TRACED long stacks_handler(long a)
{
	handled += a;
	return handled;
}

static void coroutine(int number)
{
	for (int i = 0; i < ROUNDS; i++)
		CHECK(stacks_outer(number) == number + 1);
}

static void make_coroutine(ucontext_t *made, int number)
{
	CHECK(!getcontext(made));
	made->uc_stack.ss_sp = malloc(STACK);
	made->uc_stack.ss_size = STACK;
	made->uc_link = &scheduler;
	makecontext(made, (void (*)(void))coroutine, 1, number);
}

static void run_coroutines(void)
{
	for (int i = 0; i < 2; i++)
		make_coroutine(&coroutines[i], i);
	for (int i = 0; i <= ROUNDS; i++)
		for (int j = 0; j < 2; j++)
			CHECK(!swapcontext(&scheduler, &coroutines[j]));
}

static void on_signal(int number)
{
	(void)number;
	stacks_handler(1);
}

long stacks_raise(long a);

/* A signal in the middle of a traced call. */
TRACED long stacks_raise(long a)
{
	raise(SIGUSR1);
	return stacks_inner(a);
}

static void *handle(void *stack)
{
	stack_t other = { .ss_sp = stack, .ss_size = STACK };

	CHECK(!sigaltstack(&other, NULL));
	for (int i = 0; i < ROUNDS; i++)
		CHECK(stacks_raise(i) == i + 1);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	char *memory =
		mmap(NULL, 4 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	CHECK(memory != MAP_FAILED && !sigaction(SIGUSR1, &action, NULL));
	run_coroutines();
	/* The thread's stack between two that its handlers run on. */
	for (int i = 0; i < 2; i++) {
		CHECK(!pthread_attr_init(&attributes));
		CHECK(!pthread_attr_setstack(&attributes, memory + STACK, 2 * STACK));
		CHECK(!pthread_create(&thread, &attributes, handle, memory + (i ? 3 * STACK : 0)));
		CHECK(!pthread_join(thread, NULL));
	}
	handle(memory);
	CHECK(handled == 3 * ROUNDS);
	printf("stacks_handler %d\nstacks_inner %d\nstacks_outer %d\nstacks_raise %d\n", 3 * ROUNDS,
	       2 * ROUNDS + 3 * ROUNDS, 2 * ROUNDS, 3 * ROUNDS);
	return 0;
}
