/* A loop of one system call after another, each for a given time, with nothing else in it: what a call
 * costs bare and what a tracer adds. Prints one JSON object:
 *
 *     {"cpu_ns": N, "ops": {"pread": {"calls": N, "mean_ns": N, "batch_ns": N}, ...}}
 *
 * mean_ns is the time of a thread by its calls; batch_ns the median over batches of 256 calls, which
 * leaves out the batches during which something else had the CPU. The file is only read.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BATCH	256
#define BATCHES (1 << 18) /* kept for the median; later ones count for the mean only */
#define PAGE	4096
#define THREADS 64

struct job;

struct op {
	const char *name;
	int (*call)(struct job *job); /* 0, or -1 with errno */
};

/* One thread's loop. */
struct job {
	const struct op *op;
	const char *path;
	double seconds;
	double rate; /* calls a second; 0: as fast as it goes */
	int fd;
	off_t pos, size;
	uint64_t calls, ns;
	float *batches; /* ns a call */
	size_t batch_count;
	char page[PAGE];
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

static const struct op ops[] = {
	{ "pread", call_pread },
	{ "openclose", call_openclose },
	{ "stat", call_stat },
	{ "getppid", call_getppid },
};

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
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
	uint64_t start = clock_ns(), end = start + (uint64_t)(job->seconds * 1e9), now = start;

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
	}
}

static const struct op *op_find(const char *name)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	fprintf(stderr, "calls: no such call: %s\n", name);
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

	while ((option = getopt(argc, argv, "f:s:t:r:")) != -1) {
		if (option == 'f')
			like.path = optarg;
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
			"usage: calls -f FILE [-s SECONDS] [-t THREADS] [-r CALLS] OP...\n");
		return 2;
	}
	printf("{\"ops\": {");
	for (int i = optind; i < argc; i++) {
		printf("%s", i > optind ? ", " : "");
		op_run(op_find(argv[i]), &like, threads);
	}
	printf("}, \"cpu_ns\": %llu}\n", (unsigned long long)cpu_ns());
	return 0;
}
