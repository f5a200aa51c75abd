/* A loop of which it is known what it waits for: known CAUSE [ROUNDS]. Each round it computes for 5 ms, then waits for some 20 ms
 * for what CAUSE says. In the end it prints by its own clock how long it waited, and how long the loop took: WAITED_NS TOTAL_NS.
 *
 *     sleep     a time
 *     lock      a thread that holds a mutex and computes
 *     thread    a thread that computes for it, and tells it by a condition
 *     input     a forked process that computes, through a pipe
 *     idle      a forked process that sleeps, through a pipe
 *     storage   reads of FILE ($FILE) past the page cache
 *     stopped   SIGSTOP, until a forked process says SIGCONT
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, state_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static unsigned asks, answers;
static volatile bool over;
static int to_child[2], from_child[2], file = -1;

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void compute(uint64_t ns)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void rest(uint64_t ns)
{
	struct timespec time = { 0, (long)ns };

	nanosleep(&time, NULL);
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- who is waited for ---- */

static void *hold_lock(void *unused)
{
	while (!over) {
		pthread_mutex_lock(&mutex);
		compute(20 * MS);
		pthread_mutex_unlock(&mutex);
		rest(MS);
	}
	return unused;
}

static void *answer(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&state_mutex);
		while (asks == answers && !over)
			pthread_cond_wait(&asked, &state_mutex);
		pthread_mutex_unlock(&state_mutex);
		if (over)
			return unused;
		compute(20 * MS);
		pthread_mutex_lock(&state_mutex);
		answers++;
		pthread_cond_signal(&answered);
		pthread_mutex_unlock(&state_mutex);
	}
}

static void serve(const char *cause)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(to_child[0], &byte, 1) == 1) {
		if (!strcmp(cause, "input"))
			compute(20 * MS);
		else
			rest(20 * MS);
		if (!strcmp(cause, "stopped"))
			kill(getppid(), SIGCONT);
		else if (write(from_child[1], &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static pthread_t begin(const char *cause)
{
	pthread_t thread = 0;

	if (!strcmp(cause, "lock") && pthread_create(&thread, NULL, hold_lock, NULL))
		fail("pthread_create");
	if (!strcmp(cause, "thread") && pthread_create(&thread, NULL, answer, NULL))
		fail("pthread_create");
	if (!strcmp(cause, "storage")) {
		file = open(getenv("FILE"), O_RDONLY | O_DIRECT);
		if (file < 0)
			fail("FILE");
	}
	if (!strcmp(cause, "input") || !strcmp(cause, "idle") || !strcmp(cause, "stopped")) {
		if (pipe(to_child) || pipe(from_child))
			fail("pipe");
		if (!fork()) {
			close(to_child[1]);
			serve(cause);
		}
	}
	return thread;
}

/* ---- waiting ---- */

static void ask_thread(void)
{
	pthread_mutex_lock(&state_mutex);
	asks++;
	pthread_cond_signal(&asked);
	while (asks != answers)
		pthread_cond_wait(&answered, &state_mutex);
	pthread_mutex_unlock(&state_mutex);
}

static void ask_child(bool stop)
{
	char byte = 0;

	if (write(to_child[1], &byte, 1) != 1)
		fail("write");
	if (stop)
		raise(SIGSTOP);
	else if (read(from_child[0], &byte, 1) != 1)
		fail("read");
}

static void read_file(void)
{
	static char bytes[1 << 20] __attribute__((aligned(4096)));
	uint64_t end = now(CLOCK_BOOTTIME) + 20 * MS;

	while (now(CLOCK_BOOTTIME) < end)
		if (read(file, bytes, sizeof(bytes)) <= 0 && lseek(file, 0, SEEK_SET))
			fail("lseek");
}

/* The time that it waited. */
static uint64_t wait_for(const char *cause)
{
	uint64_t start = now(CLOCK_BOOTTIME), end;

	if (!strcmp(cause, "sleep"))
		rest(20 * MS);
	else if (!strcmp(cause, "lock"))
		pthread_mutex_lock(&mutex);
	else if (!strcmp(cause, "thread"))
		ask_thread();
	else if (!strcmp(cause, "storage"))
		read_file();
	else
		ask_child(!strcmp(cause, "stopped"));
	end = now(CLOCK_BOOTTIME);
	if (!strcmp(cause, "lock")) { /* held while it computes, so that the other waits too */
		compute(5 * MS);
		pthread_mutex_unlock(&mutex);
		rest(2 * MS);
	}
	return end - start;
}

int main(int argc, char **argv)
{
	const char *cause = argc > 1 ? argv[1] : "sleep";
	int rounds = argc > 2 ? atoi(argv[2]) : 20;
	uint64_t start = now(CLOCK_BOOTTIME), waited = 0;
	pthread_t thread = begin(cause);

	for (int i = 0; i < rounds; i++) {
		compute(5 * MS);
		waited += wait_for(cause);
	}
	printf("%llu %llu\n", (unsigned long long)waited,
	       (unsigned long long)(now(CLOCK_BOOTTIME) - start));
	over = true;
	pthread_cond_broadcast(&asked);
	if (thread)
		pthread_join(thread, NULL);
	close(to_child[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
