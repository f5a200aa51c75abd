/* A loop of one system call after another, each for a given time, with nothing else in it: what a call
 * costs bare and what a tracer adds. Prints one JSON object:
 *
 *     {"cpu_ns": N, "ops": {"pread": {"calls": N, "mean_ns": N, "batch_ns": N}, ...}}
 *
 * mean_ns is the time of a thread by its calls; batch_ns the median over batches of 256 calls, which
 * leaves out the batches during which something else had the CPU. File and device are only read.
 *
 * A turn of `switch` is a byte to a thread on the same CPU and back: two switches. One of `direct` reads the
 * device with DEPTH requests at once, so that what it measures is work, and not how long an idle CPU takes to
 * wake up. `mixed` is some of everything, with a request of its own.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BATCH	256
#define BATCHES (1 << 18) /* kept for the median; later ones count for the mean only */
#define PAGE	4096
#define THREADS 64
#define DEPTH	32

/* Of each kind in a turn of `mixed`. */
#define MIXED_PREADS   128
#define MIXED_OPENS    4
#define MIXED_STATS    8
#define MIXED_MAPS     4
#define MIXED_SWITCHES 4

struct job;

struct op {
	const char *name;
	int (*call)(struct job *job); /* 0, or -1 with errno */
	bool paired;		      /* needs a partner on its CPU */
	bool device;
};

/* One thread's loop. */
struct job {
	const struct op *op;
	const char *path, *device;
	double seconds;
	double rate; /* calls a second; 0: as fast as it goes */
	int fd, device_fd;
	off_t pos, size, device_pos, device_size;
	int number;	       /* among the threads */
	int there[2], back[2]; /* to the partner and from it */
	pthread_t partner;
	uint64_t calls, ns;
	float *batches; /* ns a call */
	size_t batch_count;
	char page[PAGE];
	char *direct; /* DEPTH pages that O_DIRECT may read into */
	aio_context_t queue;
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int call_pread(struct job *job)
{
	ssize_t got = pread(job->fd, job->page, PAGE, job->pos);

	job->pos = job->pos + 2 * PAGE > job->size ? 0 : job->pos + PAGE;
	return got == PAGE ? 0 : -1;
}

static int call_openclose(struct job *job)
{
	int fd = openat(AT_FDCWD, job->path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : close(fd);
}

static int call_stat(struct job *job)
{
	struct stat status;

	return fstatat(AT_FDCWD, job->path, &status, 0);
}

static int call_getppid(struct job *job)
{
	(void)job;
	return getppid() < 0 ? -1 : 0;
}

static int call_switch(struct job *job)
{
	char byte = 0;

	return write(job->there[1], &byte, 1) == 1 && read(job->back[0], &byte, 1) == 1 ? 0 : -1;
}

/* Every second page: neighbours would become one request. */
static int call_direct(struct job *job)
{
	struct iocb blocks[DEPTH], *list[DEPTH];
	struct io_event events[DEPTH];

	memset(blocks, 0, sizeof(blocks));
	for (int i = 0; i < DEPTH; i++) {
		list[i] = &blocks[i];
		blocks[i].aio_lio_opcode = IOCB_CMD_PREAD;
		blocks[i].aio_fildes = (uint32_t)job->device_fd;
		blocks[i].aio_buf = (uintptr_t)job->direct + (uintptr_t)i * PAGE;
		blocks[i].aio_nbytes = PAGE;
		blocks[i].aio_offset = job->device_pos;
		job->device_pos = job->device_pos + 3 * PAGE > job->device_size
					  ? 0
					  : job->device_pos + 2 * PAGE;
	}
	if (syscall(SYS_io_submit, job->queue, DEPTH, list) != DEPTH ||
	    syscall(SYS_io_getevents, job->queue, DEPTH, DEPTH, events, NULL) != DEPTH)
		return -1;
	for (int i = 0; i < DEPTH; i++)
		if (events[i].res != PAGE)
			return -1;
	return 0;
}

static int call_request(struct job *job)
{
	ssize_t got = pread(job->device_fd, job->direct, PAGE, job->device_pos);

	job->device_pos =
		job->device_pos + 2 * PAGE > job->device_size ? 0 : job->device_pos + PAGE;
	return got == PAGE ? 0 : -1;
}

static int call_map(struct job *job)
{
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, job->fd, 0);

	return page == MAP_FAILED ? -1 : munmap(page, PAGE);
}

static int repeat(int (*call)(struct job *job), struct job *job, int times)
{
	int err = 0;

	while (!err && times--)
		err = call(job);
	return err;
}

static int call_mixed(struct job *job)
{
	return repeat(call_pread, job, MIXED_PREADS) || repeat(call_openclose, job, MIXED_OPENS) ||
			       repeat(call_stat, job, MIXED_STATS) ||
			       repeat(call_map, job, MIXED_MAPS) ||
			       repeat(call_switch, job, MIXED_SWITCHES) || call_request(job)
		       ? -1
		       : 0;
}

static const struct op ops[] = {
	{ .name = "pread", .call = call_pread },
	{ .name = "openclose", .call = call_openclose },
	{ .name = "stat", .call = call_stat },
	{ .name = "getppid", .call = call_getppid },
	{ .name = "switch", .call = call_switch, .paired = true },
	{ .name = "direct", .call = call_direct, .device = true },
	{ .name = "mixed", .call = call_mixed, .paired = true, .device = true },
};

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- the partner of a thread, tied to the same CPU: each wakes the other and sleeps ---- */

static void tie_to_cpu(int number)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(cpus - 1 - number % cpus, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu))
		die("sched_setaffinity");
}

static void *partner_run(void *argument)
{
	struct job *job = argument;
	char byte;

	tie_to_cpu(job->number);
	while (read(job->there[0], &byte, 1) == 1)
		if (write(job->back[1], &byte, 1) != 1)
			die("partner");
	return NULL;
}

static void partner_start(struct job *job)
{
	if (pipe(job->there) || pipe(job->back))
		die("pipe");
	if (pthread_create(&job->partner, NULL, partner_run, job))
		die("pthread_create");
	tie_to_cpu(job->number);
}

static void partner_stop(struct job *job)
{
	close(job->there[1]);
	pthread_join(job->partner, NULL);
	close(job->there[0]);
	close(job->back[0]);
	close(job->back[1]);
}

static void sleep_until(uint64_t ns)
{
	struct timespec then = { .tv_sec = (time_t)(ns / 1000000000),
				 .tv_nsec = (long)(ns % 1000000000) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL);
}

static void *job_run(void *argument)
{
	struct job *job = argument;
	uint64_t start, end, now;

	if (job->op->paired)
		partner_start(job);
	start = now = clock_ns();
	end = start + (uint64_t)(job->seconds * 1e9);
	while (now < end) {
		uint64_t before = now;

		for (int i = 0; i < BATCH; i++)
			if (job->op->call(job))
				die(job->op->name);
		now = clock_ns();
		job->calls += BATCH;
		job->ns += now - before;
		if (job->batch_count < BATCHES)
			job->batches[job->batch_count++] = (float)(now - before) / BATCH;
		if (job->rate) {
			sleep_until(start + (uint64_t)((double)job->calls / job->rate * 1e9));
			now = clock_ns();
		}
	}
	if (job->op->paired)
		partner_stop(job);
	return NULL;
}

static void job_open(struct job *job)
{
	struct stat status;

	job->fd = open(job->path, O_RDONLY | O_CLOEXEC);
	if (job->fd < 0 || fstat(job->fd, &status))
		die(job->path);
	job->size = status.st_size;
	job->batches = malloc(BATCHES * sizeof(*job->batches));
	if (!job->batches)
		die("malloc");
	/* Touched now, so that no page fault falls into the loop. */
	memset(job->batches, 0, BATCHES * sizeof(*job->batches));
	memset(job->page, 0, PAGE);
	if (!job->op->device)
		return;
	job->device_fd = open(job->device, O_RDONLY | O_DIRECT | O_CLOEXEC);
	job->device_size = job->device_fd < 0 ? -1 : lseek(job->device_fd, 0, SEEK_END);
	job->direct = aligned_alloc(PAGE, (size_t)DEPTH * PAGE);
	if (job->device_size < PAGE || !job->direct || syscall(SYS_io_setup, DEPTH, &job->queue))
		die(job->device);
	memset(job->direct, 0, (size_t)DEPTH * PAGE);
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static double job_median(struct job *job)
{
	qsort(job->batches, job->batch_count, sizeof(*job->batches), compare_floats);
	return job->batch_count ? (double)job->batches[job->batch_count / 2] : 0;
}

/* Runs one op in all threads, and prints its results. */
static void op_run(const struct op *op, const struct job *like, int threads)
{
	static struct job jobs[THREADS];
	pthread_t ids[THREADS];
	uint64_t calls = 0, ns = 0;

	for (int i = 0; i < threads; i++) {
		jobs[i] = *like;
		jobs[i].op = op;
		jobs[i].number = i;
		job_open(&jobs[i]);
	}
	for (int i = 1; i < threads; i++)
		if (pthread_create(&ids[i], NULL, job_run, &jobs[i]))
			die("pthread_create");
	job_run(&jobs[0]);
	for (int i = 0; i < threads; i++) {
		if (i)
			pthread_join(ids[i], NULL);
		calls += jobs[i].calls;
		ns += jobs[i].ns;
	}
	printf("\"%s\": {\"calls\": %llu, \"mean_ns\": %.2f, \"batch_ns\": %.2f}", op->name,
	       (unsigned long long)calls, calls ? (double)ns / (double)calls : 0,
	       job_median(&jobs[0]));
	for (int i = 0; i < threads; i++) {
		close(jobs[i].fd);
		free(jobs[i].batches);
		if (op->device) {
			close(jobs[i].device_fd);
			syscall(SYS_io_destroy, jobs[i].queue);
		}
		free(jobs[i].direct);
	}
}

static const struct op *op_find(const char *name, const struct job *like)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(ops[i].name, name) && (like->device || !ops[i].device))
			return &ops[i];
	fprintf(stderr, "calls: no such call, or no device for it: %s\n", name);
	exit(2);
}

static uint64_t cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

int main(int argc, char **argv)
{
	struct job like = { .seconds = 0.3 };
	int threads = 1, option;

	while ((option = getopt(argc, argv, "f:d:s:t:r:")) != -1) {
		if (option == 'f')
			like.path = optarg;
		else if (option == 'd')
			like.device = optarg;
		else if (option == 's')
			like.seconds = strtod(optarg, NULL);
		else if (option == 't')
			threads = atoi(optarg);
		else if (option == 'r')
			like.rate = strtod(optarg, NULL);
		else
			return 2;
	}
	if (!like.path || threads < 1 || threads > THREADS || optind == argc) {
		fprintf(stderr,
			"usage: calls -f FILE [-d DEVICE] [-s SECONDS] [-t THREADS] [-r CALLS] "
			"OP...\n");
		return 2;
	}
	printf("{\"ops\": {");
	for (int i = optind; i < argc; i++) {
		printf("%s", i > optind ? ", " : "");
		op_run(op_find(argv[i], &like), &like, threads);
	}
	printf("}, \"cpu_ns\": %llu}\n", (unsigned long long)cpu_ns());
	return 0;
}
