/* A loop that waits at the end of longer chains than those of known.c: known_chains JOB [ROUNDS]. Each round it computes for 5 ms, then
 * waits. In the end it prints by its own clock how long it waited, and how long the loop took: WAITED_NS TOTAL_NS.
 *
 *     sleeper   a mutex that a thread holds while it sleeps
 *     reader    a mutex that a thread holds while it reads $FILE past the page cache
 *     passed    a mutex that two more threads hand to each other
 *     barrier   a barrier to which another thread comes late, because it computes
 *     hog       a process that computes on the same CPU; the wait is what the kernel says (run_delay)
 *     quota     nothing: it computes; what it is forbidden to is for the control group to say
 *     mapped    pages of $FILE, which is mapped and not in the page cache
 *     second    reads of $FILE that another thread has begun a moment earlier
 *     sync      fsync of $FILE
 *     throttled writes to $FILE that the kernel slows down
 *     peer      a process behind a socket ($PORT) that computes before it answers; `known_chains serve` is that process
 *     lookup    names in the folder $FOLDER of a file system that answers late
 */
#include "workload.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define MS    1000000ull
#define PIECE (1 << 17)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static atomic_bool over;
static _Atomic int begun; /* rounds that the other reader may begin */
static int file = -1, peer = -1;
static off_t file_size, file_at;
static pid_t hog;
static char bytes[1 << 20] __attribute__((aligned(4096)));

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

static void open_file(int flags)
{
	struct stat status;

	file = open(getenv("FILE"), flags);
	CHECK(file >= 0 && !fstat(file, &status));
	file_size = status.st_size;
}

static void read_direct(uint64_t ns)
{
	static char room[PIECE] __attribute__((aligned(4096)));
	uint64_t end = now(CLOCK_BOOTTIME) + ns;

	while (now(CLOCK_BOOTTIME) < end)
		if (read(file, room, sizeof(room)) <= 0)
			CHECK(!lseek(file, 0, SEEK_SET));
}

static void start(void *(*work)(void *))
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, work, NULL));
	CHECK(!pthread_detach(thread));
}

/* ---- locks ---- */

static void *hold(void (*work)(uint64_t))
{
	while (!over) {
		pthread_mutex_lock(&mutex);
		work(20 * MS);
		pthread_mutex_unlock(&mutex);
		rest(MS);
	}
	return NULL;
}

static void *hold_asleep(void *unused)
{
	(void)unused;
	return hold(rest);
}

static void *hold_reading(void *unused)
{
	(void)unused;
	return hold(read_direct);
}

static void *hold_computing(void *unused)
{
	(void)unused;
	return hold(compute);
}

static void begin_sleeper(void)
{
	start(hold_asleep);
}

static void begin_reader(void)
{
	open_file(O_RDONLY | O_DIRECT);
	start(hold_reading);
}

static void begin_passed(void)
{
	start(hold_computing);
	start(hold_computing);
}

static uint64_t take_lock(void)
{
	uint64_t begin = now(CLOCK_BOOTTIME), end;

	pthread_mutex_lock(&mutex);
	end = now(CLOCK_BOOTTIME);
	compute(2 * MS); /* so that the others wait too */
	pthread_mutex_unlock(&mutex);
	rest(2 * MS);
	return end - begin;
}

static void *come_late(void *unused)
{
	for (;;) {
		compute(20 * MS);
		pthread_barrier_wait(&barrier);
	}
	return unused;
}

static void begin_barrier(void)
{
	CHECK(!pthread_barrier_init(&barrier, NULL, 2));
	start(come_late);
}

static void wait_barrier(void)
{
	pthread_barrier_wait(&barrier);
}

/* ---- CPUs ---- */

static void tie(void)
{
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	CHECK(!sched_setaffinity(0, sizeof(cpu), &cpu));
}

static void begin_hog(void)
{
	tie();
	hog = fork();
	CHECK(hog >= 0);
	if (hog)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "hog");
	for (;;)
		;
}

static uint64_t run_delay(void)
{
	FILE *stat = fopen("/proc/self/schedstat", "r");
	unsigned long long delay;

	CHECK(stat && fscanf(stat, "%*u %llu", &delay) == 1);
	fclose(stat);
	return delay;
}

/* All that it was kept from running since the last time. */
static uint64_t compute_delayed(void)
{
	static uint64_t before;
	uint64_t delay, since;

	compute(20 * MS);
	delay = run_delay();
	since = delay - before;
	before = delay;
	return since;
}

static uint64_t only_compute(void)
{
	compute(20 * MS);
	return 0;
}

/* ---- storage ---- */

static void forget_file(void)
{
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
}

static void begin_cached(void)
{
	open_file(O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	forget_file();
}

/* One piece of the file after another, each time one that was not there yet. */
static void touch_pages(void)
{
	const size_t size = 64 * 4096;
	volatile char *pages;

	if (file_at + (off_t)size > file_size) {
		forget_file();
		file_at = 0;
	}
	pages = mmap(NULL, size, PROT_READ, MAP_SHARED, file, file_at);
	CHECK(pages != MAP_FAILED && !madvise((void *)pages, size, MADV_RANDOM));
	for (size_t i = 0; i < size; i += 4096)
		(void)pages[i];
	CHECK(!munmap((void *)pages, size));
	file_at += (off_t)size;
}

static void *read_ahead(void *unused)
{
	static char room[sizeof(bytes)];

	for (int round = 1; !over; round++) {
		while (begun < round && !over)
			rest(MS / 10);
		CHECK(pread(file, room, sizeof(room), file_at) > 0);
	}
	return unused;
}

static void begin_second(void)
{
	begin_cached();
	start(read_ahead);
}

static uint64_t read_second(void)
{
	uint64_t begin;

	file_at += (off_t)sizeof(bytes);
	if (file_at + (off_t)sizeof(bytes) > file_size) {
		forget_file();
		file_at = 0;
	}
	begun++;
	rest(MS / 2);
	begin = now(CLOCK_BOOTTIME);
	CHECK(pread(file, bytes, sizeof(bytes), file_at) > 0);
	return now(CLOCK_BOOTTIME) - begin;
}

static void begin_writes(void)
{
	open_file(O_WRONLY | O_CREAT);
}

static void write_synced(void)
{
	CHECK(pwrite(file, bytes, PIECE, 0) == PIECE);
	CHECK(!fsync(file));
}

static void write_much(void)
{
	CHECK(write(file, bytes, sizeof(bytes)) == sizeof(bytes));
}

/* ---- others ---- */

static struct sockaddr_in address(void)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)atoi(getenv("PORT"))),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void serve(void)
{
	struct sockaddr_in at = address();
	int listener = socket(AF_INET, SOCK_STREAM, 0), client, yes = 1;
	char byte;

	CHECK(!setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)));
	CHECK(!bind(listener, (struct sockaddr *)&at, sizeof(at)) && !listen(listener, 1));
	client = accept(listener, NULL, NULL);
	while (read(client, &byte, 1) == 1) {
		compute(20 * MS);
		CHECK(write(client, &byte, 1) == 1);
	}
}

static void begin_peer(void)
{
	struct sockaddr_in at = address();

	peer = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(!connect(peer, (struct sockaddr *)&at, sizeof(at)));
}

static void ask_peer(void)
{
	char byte = 0;

	CHECK(write(peer, &byte, 1) == 1 && read(peer, &byte, 1) == 1);
}

static void look_up(void)
{
	static int number;
	char path[512];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%d", getenv("FOLDER"), number++);
	CHECK(!stat(path, &status));
}

static void nothing(void)
{
}

/* ---- all of them ---- */

static const struct job {
	const char *name;
	void (*begin)(void);
	uint64_t (*measured)(void); /* a round that says itself how long it waited */
	void (*wait)(void);	    /* or one that only waits, and what that takes of the CPU */
} jobs[] = {
	{ "sleeper", begin_sleeper, take_lock, NULL },
	{ "reader", begin_reader, take_lock, NULL },
	{ "passed", begin_passed, take_lock, NULL },
	{ "barrier", begin_barrier, NULL, wait_barrier },
	{ "hog", begin_hog, compute_delayed, NULL },
	{ "quota", nothing, only_compute, NULL },
	{ "mapped", begin_cached, NULL, touch_pages },
	{ "second", begin_second, read_second, NULL },
	{ "sync", begin_writes, NULL, write_synced },
	{ "throttled", begin_writes, NULL, write_much },
	{ "peer", begin_peer, NULL, ask_peer },
	{ "lookup", nothing, NULL, look_up },
};

static uint64_t round_of(const struct job *job)
{
	uint64_t begin, own;

	compute(5 * MS);
	if (job->measured)
		return job->measured();
	begin = now(CLOCK_BOOTTIME);
	own = now(CLOCK_THREAD_CPUTIME_ID);
	job->wait();
	/* What the kernel did for it on its CPU is no wait. */
	own = now(CLOCK_THREAD_CPUTIME_ID) - own;
	return now(CLOCK_BOOTTIME) - begin - own;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 20;
	uint64_t begin = now(CLOCK_BOOTTIME), waited = 0;
	const struct job *job = jobs;

	CHECK(argc > 1);
	if (!strcmp(argv[1], "serve")) {
		serve();
		return 0;
	}
	while (job < jobs + sizeof(jobs) / sizeof(*jobs) && strcmp(job->name, argv[1]))
		job++;
	CHECK(job < jobs + sizeof(jobs) / sizeof(*jobs));
	job->begin();
	for (int i = 0; i < rounds; i++)
		waited += round_of(job);
	over = true;
	printf("%llu %llu\n", (unsigned long long)waited,
	       (unsigned long long)(now(CLOCK_BOOTTIME) - begin));
	fflush(stdout);
	if (hog) {
		kill(hog, SIGKILL);
		waitpid(hog, NULL, 0);
	}
	_exit(0);
}
