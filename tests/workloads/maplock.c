/* Two threads that fight for the lock of their address space: one maps and touches memory, so that it holds it for long, the
 * other changes the protection of a page, again and again. No file and no device is in it. */
#include "workload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define ROUNDS 200
#define BYTES  (8ul << 20)

static atomic_bool done;

static void *hold(void *nothing)
{
	while (!done) {
		void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		CHECK(memory != MAP_FAILED);
		CHECK(!munmap(memory, BYTES));
	}
	return nothing;
}

int main(void)
{
	pthread_t holder;
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	CHECK(!pthread_create(&holder, NULL, hold, NULL));
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(!mprotect(page, 4096, i & 1 ? PROT_READ : PROT_READ | PROT_WRITE));
		usleep(200);
	}
	done = true;
	CHECK(!pthread_join(holder, NULL));
	return 0;
}
