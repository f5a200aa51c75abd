/* N threads at once, each with a file of its own: create, three writes of 100 bytes, one read of them all,
 * close. All threads live at the same time: none ends before the last has started.
 *
 *     threads DIR N      leaves DIR/0 .. DIR/N-1, of 300 bytes each
 */
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>

static pthread_barrier_t all_there;

static void *work(void *argument)
{
	char name[32], buffer[300] = { 0 };
	int fd;

	pthread_barrier_wait(&all_there);
	snprintf(name, sizeof(name), "%ld", (long)argument);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0);
	for (int i = 0; i < 3; i++)
		CHECK(write(fd, buffer, 100) == 100);
	CHECK(pread(fd, buffer, sizeof(buffer), 0) == sizeof(buffer));
	CHECK(!close(fd));
	return NULL;
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? atol(argv[2]) : 0;
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_t small;

	CHECK(count > 0 && threads && !chdir(argv[1]));
	CHECK(!pthread_barrier_init(&all_there, NULL, (unsigned)count));
	CHECK(!pthread_attr_init(&small) && !pthread_attr_setstacksize(&small, 64 << 10));
	for (long i = 0; i < count; i++)
		CHECK(!pthread_create(&threads[i], &small, work, (void *)i));
	for (long i = 0; i < count; i++)
		CHECK(!pthread_join(threads[i], NULL));
	free(threads);
	return 0;
}
