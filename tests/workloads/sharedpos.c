/* Threads and children that read, or append to, one open file through one description: where each call worked is known by the
 * bytes themselves.
 *
 *     sharedpos reads DIR       prints `TID POS` for each read, in the order of its thread's reads
 *     sharedpos appends DIR     prints `TID POS` for each write likewise
 */
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define RECORD	 16
#define RECORDS	 20000
#define THREADS	 3
#define CHILDREN 2
#define WORKERS	 (THREADS + CHILDREN)

/* What each worker has seen, in memory that children share. */
struct seen {
	int tid;
	int count;
	long places[RECORDS];
};

static struct seen *seen;
static int fd;

static void read_records(struct seen *mine)
{
	char record[RECORD + 1] = { 0 };

	mine->tid = (int)syscall(SYS_gettid);
	while (read(fd, record, RECORD) == RECORD)
		mine->places[mine->count++] = atol(record) * RECORD;
}

/* Each record names its writer and its turn, so that it is found in the file afterwards. */
static void append_records(struct seen *mine)
{
	char record[2 * RECORD];

	mine->tid = (int)syscall(SYS_gettid);
	for (; mine->count < RECORDS / WORKERS; mine->count++) {
		snprintf(record, sizeof(record), "%07d %07d\n", (int)(mine - seen), mine->count);
		CHECK(write(fd, record, RECORD) == RECORD);
	}
}

static void (*work)(struct seen *mine);

static void *thread(void *mine)
{
	work(mine);
	return NULL;
}

static void run(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < CHILDREN; i++)
		if (!fork()) {
			work(&seen[THREADS + i]);
			_exit(0);
		}
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, thread, &seen[i]));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	while (wait(NULL) > 0)
		;
}

static void find_records(void)
{
	char record[RECORD + 1] = { 0 };

	for (long at = 0; pread(fd, record, RECORD, at) == RECORD; at += RECORD)
		seen[atoi(record)].places[atoi(record + 8)] = at;
}

int main(int argc, char **argv)
{
	bool appends = argc > 1 && !strcmp(argv[1], "appends");
	char record[RECORD + 1];

	CHECK(argc == 3 && !chdir(argv[2]));
	seen = mmap(NULL, WORKERS * sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fd = open("shared", O_RDWR | O_CREAT | (appends ? O_APPEND : 0), 0600);
	CHECK(fd >= 0 && seen != MAP_FAILED);
	for (int i = 0; i < RECORDS && !appends; i++) {
		snprintf(record, sizeof(record), "%015d\n", i);
		CHECK(pwrite(fd, record, RECORD, (long)i * RECORD) == RECORD);
	}
	work = appends ? append_records : read_records;
	run();
	if (appends)
		find_records();
	for (int i = 0; i < WORKERS; i++)
		for (int j = 0; j < seen[i].count; j++)
			printf("%d %ld\n", seen[i].tid, seen[i].places[j]);
	return 0;
}
