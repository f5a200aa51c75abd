#include "inject/pool_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define BYTES_AHEAD (32u << 20) /* of free rings that have memory: threads come many at a time */
#define MOST_AHEAD  16
#define LEAST_AHEAD 4
#define LOOK_EVERY  (200 * 1000000ull)

/* Writes a field of struct inject_pool. */
#define POOL_STORE(pool, field, value)                                                          \
	do {                                                                                    \
		__typeof__(((struct inject_pool *)0)->field) stored = (value);                  \
		pool_store(pool, &stored, sizeof(stored), offsetof(struct inject_pool, field)); \
	} while (0)

bool pool_fetch(const struct pool *pool, void *to, size_t size, uint64_t at)
{
	return pread(pool->fd, to, size, (off_t)at) == (ssize_t)size;
}

static bool pool_store(struct pool *pool, const void *from, size_t size, uint64_t at)
{
	return pwrite(pool->fd, from, size, (off_t)at) == (ssize_t)size;
}

/* ---- making ---- */

/* Free rings that are to have memory. */
static uint32_t rings_ahead(const struct pool *pool)
{
	uint64_t rings = BYTES_AHEAD / pool->ring_bytes;

	return rings > MOST_AHEAD    ? MOST_AHEAD
	       : rings < LEAST_AHEAD ? LEAST_AHEAD
				     : (uint32_t)rings;
}

/* Gives memory to rings until so many free ones have it. A process that writes where a file has no memory left gets a signal. */
static void pool_get_ready(struct pool *pool, uint32_t ready)
{
	if (ready > pool->config.rings)
		ready = pool->config.rings;
	if (pool->exhausted || ready <= pool->ready)
		return;
	while (pool->ready < ready && !pool->exhausted) {
		if (fallocate(pool->fd, 0, (off_t)pool_ring_at(pool, pool->ready),
			      (off_t)pool->ring_bytes))
			pool->exhausted = true;
		else
			pool->ready++;
	}
	POOL_STORE(pool, ready, pool->ready);
}

static int pool_allocate(struct pool *pool, struct error *e)
{
	const struct pool_config *config = &pool->config;
	struct stat namespace;

	pool->rings = calloc(config->rings, sizeof(*pool->rings));
	pool->batch = calloc(config->slots, sizeof(*pool->batch));
	pool->area = calloc(1, config->area_bytes + 1);
	if (!pool->rings || !pool->batch || !pool->area)
		return error_set(e, -ENOMEM, "out of memory");
	if (!stat("/proc/self/ns/pid", &namespace))
		pool->namespace = namespace.st_ino;
	return 0;
}

static int pool_make(struct pool *pool, struct error *e)
{
	const struct pool_config *config = &pool->config;
	struct inject_pool first = {
		.magic = INJECT_MAGIC,
		.version = INJECT_VERSION,
		.rings = config->rings,
		.slots = config->slots,
		.area_bytes = config->area_bytes,
		.clock = config->clock,
		.mult = 1,
	};
	void *page;

	if (ftruncate(pool->fd,
		      (off_t)inject_pool_bytes(config->rings, config->slots, config->area_bytes)) ||
	    fallocate(pool->fd, 0, 0, INJECT_RINGS_AT))
		return error_errno(e, "cannot make memory to share with the job");
	pool_get_ready(pool, rings_ahead(pool));
	if (!pool->ready)
		return error_set(e, -ENOSPC, "there is no room for memory to share with the job");
	first.ready = pool->ready;
	page = mmap(NULL, INJECT_PAGE, PROT_READ, MAP_SHARED, pool->fd, 0);
	if (page == MAP_FAILED)
		return error_errno(e, "cannot map memory to share with the job");
	pool->futex = page;
	if (!pool_store(pool, &first, sizeof(first), 0))
		return error_errno(e, "cannot write memory to share with the job");
	return 0;
}

int pool_open(struct pool **out, int fd, const struct pool_config *config, struct error *e)
{
	struct pool *pool = *out = calloc(1, sizeof(*pool));
	int err;

	if (!pool) {
		close(fd);
		return error_set(e, -ENOMEM, "out of memory");
	}
	pool->fd = fd;
	pool->config = *config;
	pool->ring_bytes = inject_ring_bytes(config->slots, config->area_bytes);
	err = pool_allocate(pool, e);
	return err ? err : pool_make(pool, e);
}

void pool_close(struct pool *pool)
{
	if (!pool)
		return;
	if (pool->futex)
		munmap(pool->futex, INJECT_PAGE);
	close(pool->fd);
	free(pool->rings);
	free(pool->batch);
	free(pool->area);
	free(pool);
}

int pool_set(struct pool *pool, enum inject_library library, const void *settings, size_t size,
	     struct error *e)
{
	if (size > INJECT_PAGE || !pool_store(pool, settings, size, inject_settings_at(library)))
		return error_set(e, -EIO, "cannot write settings for the job");
	return 0;
}

void pool_set_pace(struct pool *pool, uint64_t mult, uint32_t shift)
{
	/* A shift that never changes: a reader between the two finds the one or the other pace. */
	POOL_STORE(pool, shift, shift);
	POOL_STORE(pool, mult, mult);
}

void pool_start(struct pool *pool)
{
	POOL_STORE(pool, recording, 1);
}

void pool_stop(struct pool *pool)
{
	POOL_STORE(pool, recording, 0);
}

/* ---- reading ---- */

static uint32_t pool_used(const struct pool *pool)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < pool->ready; i++)
		used += !!pool->owners.of[i];
	return used;
}

/* Gives the ring to whoever comes next. */
static void pool_free_ring(struct pool *pool, uint32_t number)
{
	struct pool_ring *ring = &pool->rings[number];
	uint64_t nobody = 0;

	if (ring->broken) { /* goes on with numbers that no slot has had yet */
		ring->next += 2ull * pool->config.slots;
		pool_store(pool, &ring->next, sizeof(ring->next),
			   pool_ring_at(pool, number) + offsetof(struct inject_ring, head));
	}
	ring->owner = 0;
	ring->broken = false;
	pool->owners.of[number] = 0;
	pool_store(pool, &nobody, sizeof(nobody),
		   INJECT_OWNERS_AT + offsetof(struct inject_owners, of[number]));
}

static size_t pool_end_writers(struct pool *pool, const struct pool_visitor *visitor, bool all)
{
	bool ended[INJECT_MOST_RINGS] = { false };
	size_t records = 0;

	pool_find_ended(pool, ended);
	for (uint32_t i = 0; i < pool->config.rings; i++) {
		struct pool_ring *ring = &pool->rings[i];

		if (!ring->owner || (!ended[i] && !all))
			continue;
		records += pool_read_ring(pool, ring, visitor, true);
		if (visitor->end)
			visitor->end(visitor->context, &ring->writer);
		pool_free_ring(pool, i);
		ring->survives = !ended[i];
	}
	return records;
}

static bool pool_has_ended(const struct pool *pool)
{
	for (uint32_t i = 0; i < pool->ready; i++)
		if (pool->rings[i].owner && pool->owners.of[i] & INJECT_ENDED)
			return true;
	return false;
}

size_t pool_read(struct pool *pool, const struct pool_visitor *visitor, bool last)
{
	uint64_t now = clock_monotonic();
	size_t records = 0;
	bool look = last || now >= pool->next_look;

	if (!pool_fetch(pool, &pool->bell, sizeof(pool->bell),
			offsetof(struct inject_pool, bell)) ||
	    !pool_fetch(pool, &pool->owners, sizeof(pool->owners), INJECT_OWNERS_AT))
		return 0;
	look |= pool_find_writers(pool); /* it may have left another ring */
	for (uint32_t i = 0; i < pool->ready; i++)
		if (pool->rings[i].owner)
			records += pool_read_ring(pool, &pool->rings[i], visitor, false);
	if (look || pool_has_ended(pool)) {
		records += pool_end_writers(pool, visitor, last);
		pool->next_look = now + LOOK_EVERY;
	}
	pool_get_ready(pool, pool_used(pool) + rings_ahead(pool));
	return records;
}

const void *pool_area(struct pool *pool, const struct pool_writer *writer)
{
	return pool_fetch(pool, pool->area, pool->config.area_bytes,
			  pool_ring_at(pool, writer->ring) + INJECT_PAGE)
		       ? pool->area
		       : NULL;
}

void pool_each_writer(struct pool *pool, enum inject_library library,
		      void (*take)(void *context, const struct pool_writer *writer), void *context)
{
	for (uint32_t i = 0; i < pool->ready; i++)
		if (pool->rings[i].owner && pool->rings[i].writer.library == library)
			take(context, &pool->rings[i].writer);
}

void pool_reject(struct pool *pool, enum inject_library library)
{
	pool_lose(pool, library, POOL_TORN, 1);
}

bool pool_has_survivors(const struct pool *pool)
{
	for (uint32_t i = 0; i < pool->config.rings; i++)
		if (pool->rings[i].survives && pool_process_is_there(&pool->rings[i].writer))
			return true;
	return false;
}

/* ---- waiting ---- */

bool pool_wait(struct pool *pool, unsigned milliseconds)
{
	struct timespec timeout = { .tv_sec = milliseconds / 1000,
				    .tv_nsec = (long)(milliseconds % 1000) * 1000000 };
	long err;

	POOL_STORE(pool, asleep, 1);
	err = syscall(SYS_futex, &pool->futex->bell, FUTEX_WAIT, pool->bell, &timeout, NULL, 0);
	if (err && errno == EFAULT) /* somebody has cut the file off */
		nanosleep(&timeout, NULL);
	POOL_STORE(pool, asleep, 0);
	return !err || errno == EAGAIN;
}

void pool_wake(struct pool *pool)
{
	syscall(SYS_futex, &pool->futex->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- counts ---- */

uint64_t pool_refused(const struct pool *pool, enum inject_library library, enum inject_refusal why)
{
	uint64_t count;

	return pool_fetch(pool, &count, sizeof(count),
			  offsetof(struct inject_pool, refused[library][why]))
		       ? count
		       : 0;
}

uint64_t pool_lost(const struct pool *pool, enum inject_library library, enum pool_loss loss)
{
	if (loss == POOL_NO_RING)
		return pool_refused(pool, library, INJECT_NO_RING);
	return atomic_load_explicit(&pool->lost[library][loss], memory_order_relaxed);
}

uint64_t pool_writers(const struct pool *pool, enum inject_library library)
{
	return atomic_load_explicit(&pool->writers[library], memory_order_relaxed);
}
