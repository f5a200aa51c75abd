/* See mapping.h. The handler knows mappings by a list that only grows; an element without a mapping is used again. */
#include "store/mapping.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct mapped {
	struct mapped *next;
	_Atomic uintptr_t start; /* 0: free; 1: being filled */
	_Atomic size_t size;
	_Atomic bool cut;
};

/* A signal handler has no other way to what it serves. */
static struct mapped *_Atomic all_mapped;
static struct sigaction before;
static pthread_once_t installed = PTHREAD_ONCE_INIT;

/* From the page that is gone on the file has no more: zeros stand for all of it. */
static bool put_zeros(struct mapped *mapped, uintptr_t address)
{
	uintptr_t start = mapped->start, page = (uintptr_t)sysconf(_SC_PAGESIZE);
	size_t size = mapped->size;

	if (start <= 1 || address < start || address - start >= size)
		return false;
	mapped->cut = true;
	address -= address % page;
	return mmap((void *)address, start + size - address, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	int err = errno;

	(void)context;
	for (struct mapped *mapped = all_mapped; mapped; mapped = mapped->next)
		if (put_zeros(mapped, (uintptr_t)info->si_addr)) {
			errno = err;
			return;
		}
	sigaction(number, &before, NULL); /* it comes again, and is not ours */
}

static void install(void)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &before);
}

static struct mapped *mapped_take(void)
{
	struct mapped *mapped;

	for (mapped = all_mapped; mapped; mapped = mapped->next) {
		uintptr_t none = 0;

		if (atomic_compare_exchange_strong(&mapped->start, &none, 1))
			return mapped;
	}
	mapped = calloc(1, sizeof(*mapped));
	if (!mapped)
		return NULL;
	mapped->start = 1;
	mapped->next = all_mapped;
	while (!atomic_compare_exchange_weak(&all_mapped, &mapped->next, mapped))
		;
	return mapped;
}

int mapping_open(struct mapping *mapping, int fd, size_t size)
{
	struct mapped *mapped;
	void *bytes;

	pthread_once(&installed, install);
	mapped = mapped_take();
	if (!mapped)
		return -ENOMEM;
	bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		int err = -errno;

		mapped->start = 0;
		return err;
	}
	mapped->cut = false;
	mapped->size = size;
	mapped->start = (uintptr_t)bytes;
	*mapping = (struct mapping){ .bytes = bytes, .size = size, .known = mapped };
	return 0;
}

void mapping_close(struct mapping *mapping)
{
	if (!mapping->known)
		return;
	mapping->known->start = 1; /* not the handler's any more, nor anybody else's yet */
	munmap((void *)mapping->bytes, mapping->size);
	mapping->known->start = 0;
	*mapping = (struct mapping){ 0 };
}

bool mapping_cut(const struct mapping *mapping)
{
	return mapping->known && mapping->known->cut;
}
