/* Threads of one process that change its mappings all the time, and so wait for its mmap_lock.
 *
 *     locks THREADS TIMES
 */
#include <pthread.h>
#include <sys/mman.h>

#include "workload.h"

#define BYTES (2 << 20)

static int times;

static void *change(void *unused)
{
	(void)unused;
	for (int i = 0; i < times; i++) {
		void *place = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		CHECK(place != MAP_FAILED && !munmap(place, BYTES));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count;

	CHECK(argc == 3);
	count = atoi(argv[1]);
	times = atoi(argv[2]);
	CHECK(count > 0 && count <= 64);
	for (int i = 0; i < count; i++)
		CHECK(!pthread_create(&threads[i], NULL, change, NULL));
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
