/* The side of the pool that a library inside of the job uses. Nothing here calls the C library, allocates, touches errno or makes
 * a system call, but for the setup of a process, the first record of a thread, and a doorbell each quarter of a ring:
 *
 *     static struct injector injector;
 *     static __thread struct inject_thread thread __attribute__((tls_model("initial-exec")));
 *
 *     inject_open(&injector, INJECT_GPU, getenv(INJECT_ENVIRONMENT));     once, in a constructor
 *
 *     struct my_record record = { .head = { .kind = MY_KIND, .slots = sizeof(record) / INJECT_SLOT }, ... };
 *     inject_write(&injector, &thread, &record);                          anywhere, signal handlers included
 *
 * A record begins with a struct inject_head and is a multiple of INJECT_SLOT bytes long. One of a single slot may be written in place,
 * between inject_reserve and inject_commit, which is faster.
 *
 * fork: the child has no ring, whichever way it was made: a page that the kernel wipes at fork holds the number that a thread's
 * ring was taken under. vfork: the child runs on its parent's memory; see inject_enter_vfork. exec: the new program loads the
 * library again, or does not. A thread that ends should call inject_end_thread; the recorder finds out otherwise, a little later.
 */
#ifndef STRATA_INJECT_WRITER_H
#define STRATA_INJECT_WRITER_H

#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "inject/shared.h"

#ifndef __x86_64__
#	error "inject/writer.h knows the system calls of x86-64 only"
#endif

#if defined(__SANITIZE_THREAD__)
#	define INJECT_CHECKED
#elif defined(__has_feature)
#	if __has_feature(thread_sanitizer)
#		define INJECT_CHECKED /* by a sanitizer that does not see into assembly */
#	endif
#endif

/* Of a process, and a library. */
struct injector {
	uint8_t *base;	      /* of the pool; NULL: nothing is recorded */
	uint64_t *generation; /* 0 in a process that was forked off: its rings are its parent's */
	uint64_t ring_bytes;
	uint64_t namespace;
	uint32_t rings, slots, area_bytes; /* as they were when the pool was mapped and checked */
	uint32_t library;
};

/* Of a thread, and a library. */
struct inject_thread {
	struct inject_ring *ring; /* NULL: it has none */
	uint64_t generation;	  /* of the process when the ring was taken */
	uint32_t number;	  /* of the ring */
	uint32_t missed;	  /* records, for want of a ring */
	bool busy;		  /* is getting one */
};

#define INJECT_RETRY \
	1024 /* records that a thread without a ring misses before it looks for one again */

/* ---- what the C library would do ---- */

static inline long inject_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* Adds without a lock: one instruction is enough between a thread and its own signal handlers. */
static inline uint64_t inject_add(uint64_t *value, uint64_t more)
{
#ifdef INJECT_CHECKED
	return __atomic_fetch_add(value, more, __ATOMIC_RELAXED);
#else
	__asm__ volatile("xaddq %0, %1" : "+r"(more), "+m"(*value) : : "memory");
	return more;
#endif
}

/* ---- a process ---- */

static inline struct inject_pool *inject_pool_of(const struct injector *injector)
{
	return (struct inject_pool *)injector->base;
}

static inline const void *inject_settings(const struct injector *injector)
{
	return injector->base + inject_settings_at(injector->library);
}

static inline void *inject_area(const struct inject_ring *ring)
{
	return (uint8_t *)ring + INJECT_PAGE;
}

static inline void inject_refuse(const struct injector *injector, enum inject_refusal why)
{
	__atomic_fetch_add(&inject_pool_of(injector)->refused[injector->library][why], 1,
			   __ATOMIC_RELAXED);
}

/* The pid namespace, whose numbers the thread knows itself by. */
static inline uint64_t inject_namespace(void)
{
	struct stat file;

	if (inject_syscall(SYS_stat, (long)"/proc/self/ns/pid", (long)&file, 0, 0, 0, 0))
		return 0;
	return file.st_ino;
}

static inline long inject_map(long bytes, int protection, int flags, int fd)
{
	long at = inject_syscall(SYS_mmap, 0, bytes, protection, flags, fd, 0);

	return at < 0 && at > -4096 ? 0 : at;
}

/* Maps the pool whole. The numbers are kept: what stands in the pool later may be another process's mischief. */
static inline bool inject_map_pool(struct injector *injector, int fd)
{
	struct inject_pool pool;
	struct rlimit space = { RLIM_INFINITY, RLIM_INFINITY };
	uint64_t bytes;

	if (inject_syscall(SYS_pread64, fd, (long)&pool, sizeof(pool), 0, 0, 0) != sizeof(pool) ||
	    pool.magic != INJECT_MAGIC || pool.version != INJECT_VERSION || !pool.slots ||
	    pool.slots & (pool.slots - 1) || pool.rings > INJECT_MOST_RINGS)
		return false;
	inject_syscall(SYS_getrlimit, RLIMIT_AS, (long)&space, 0, 0, 0, 0);
	bytes = space.rlim_cur == RLIM_INFINITY
			? inject_pool_bytes(pool.rings, pool.slots, pool.area_bytes)
			: INJECT_PAGE;
	injector->base = (uint8_t *)inject_map((long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	if (!injector->base)
		return false;
	injector->rings = pool.rings;
	injector->slots = pool.slots;
	injector->area_bytes = pool.area_bytes;
	injector->ring_bytes = inject_ring_bytes(pool.slots, pool.area_bytes);
	if (space.rlim_cur == RLIM_INFINITY)
		return true;
	inject_refuse(injector, INJECT_LIMITED_SPACE);
	inject_syscall(SYS_munmap, (long)injector->base, INJECT_PAGE, 0, 0, 0, 0);
	injector->base = NULL;
	return false;
}

/* Sets the process up; path: of the pool. Returns whether there is something to write to. */
static inline bool inject_open(struct injector *injector, enum inject_library library,
			       const char *path)
{
	long fd;
	bool mapped;
	uint64_t *generation;

	if (!path || injector->base)
		return injector->base;
	fd = inject_syscall(SYS_open, (long)path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0, 0, 0, 0);
	if (fd < 0)
		return false;
	injector->library = library;
	mapped = inject_map_pool(injector, (int)fd);
	inject_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (!mapped)
		return false;
	generation = (uint64_t *)inject_map(INJECT_PAGE, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!generation ||
	    inject_syscall(SYS_madvise, (long)generation, INJECT_PAGE, MADV_WIPEONFORK, 0, 0, 0)) {
		inject_refuse(injector, INJECT_NO_MEMORY);
		injector->base = NULL;
		return false;
	}
	injector->namespace = inject_namespace();
	__atomic_store_n(generation, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&injector->generation, generation, __ATOMIC_RELEASE);
	return true;
}

/* ---- a thread ---- */

static inline void inject_ring_bell(const struct injector *injector)
{
	struct inject_pool *pool = inject_pool_of(injector);

	__atomic_fetch_add(&pool->bell, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&pool->asleep, __ATOMIC_SEQ_CST))
		inject_syscall(SYS_futex, (long)&pool->bell, FUTEX_WAKE, 1, 0, 0, 0);
}

/* Takes a free ring for the calling thread; false: there is none. */
static inline bool inject_take_ring(const struct injector *injector, struct inject_thread *thread)
{
	struct inject_owners *owners = (struct inject_owners *)(injector->base + INJECT_OWNERS_AT);
	uint32_t ready = __atomic_load_n(&inject_pool_of(injector)->ready, __ATOMIC_ACQUIRE);
	uint32_t tid = (uint32_t)inject_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	uint32_t pid = (uint32_t)inject_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	uint64_t owner = inject_owner(injector->library, pid, tid);

	for (uint32_t i = 0; i < ready && i < injector->rings; i++) {
		uint64_t nobody = 0;
		struct inject_ring *ring;

		if (__atomic_load_n(&owners->of[i], __ATOMIC_RELAXED) ||
		    !__atomic_compare_exchange_n(&owners->of[i], &nobody, owner & ~INJECT_TAKEN,
						 false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		ring = (struct inject_ring *)(injector->base + INJECT_RINGS_AT +
					      i * injector->ring_bytes);
		__atomic_store_n(
			&ring->turn,
			__atomic_add_fetch(&inject_pool_of(injector)->turns, 1, __ATOMIC_RELAXED),
			__ATOMIC_RELAXED);
		__atomic_store_n(&ring->namespace, injector->namespace, __ATOMIC_RELAXED);
		__atomic_store_n(&owners->of[i], owner, __ATOMIC_RELEASE);
		thread->number = i;
		thread->ring = ring;
		return true;
	}
	return false;
}

/* A thread without a ring, for whichever reason: gets one if there is one, once in a while. */
static inline bool inject_find_ring(struct injector *injector, struct inject_thread *thread)
{
	uint64_t generation = __atomic_load_n(injector->generation, __ATOMIC_RELAXED);

	if (thread->busy) {
		inject_refuse(injector, INJECT_NO_RING);
		return false;
	}
	thread->busy = true;
	if (!generation) { /* the only thread of a new process */
		generation = thread->generation + 1;
		injector->namespace = inject_namespace();
		__atomic_store_n(injector->generation, generation, __ATOMIC_RELAXED);
	}
	if (thread->generation != generation) {
		thread->ring = NULL;
		thread->missed = 0;
		thread->generation = generation;
	}
	if (!thread->ring && thread->missed % INJECT_RETRY == 0 &&
	    inject_take_ring(injector, thread))
		inject_ring_bell(injector); /* so that there is another one for the next */
	if (!thread->ring) {
		thread->missed++;
		inject_refuse(injector, INJECT_NO_RING);
	}
	thread->busy = false;
	return thread->ring;
}

/* The thread's ring; NULL: it has none, which was counted. */
static inline struct inject_ring *inject_ring(struct injector *injector,
					      struct inject_thread *thread)
{
	if (__builtin_expect(
		    thread->generation == __atomic_load_n(injector->generation, __ATOMIC_RELAXED) &&
			    thread->ring,
		    1))
		return thread->ring;
	return inject_find_ring(injector, thread) ? thread->ring : NULL;
}

/* The thread will write no more, or as somebody else. */
static inline void inject_end_thread(const struct injector *injector, struct inject_thread *thread)
{
	struct inject_owners *owners = (struct inject_owners *)(injector->base + INJECT_OWNERS_AT);

	if (injector->base && thread->ring && thread->generation == *injector->generation)
		__atomic_fetch_or(&owners->of[thread->number], INJECT_ENDED, __ATOMIC_RELEASE);
	thread->ring = NULL;
	thread->missed = 0;
}

/* The child of a vfork has its parent's memory, thread variables included, while the parent waits: in the child it puts the thread's
 * ring away, so that what it does is told under its own number, and in the parent it gets it back. */
static inline void inject_enter_vfork(struct inject_thread *thread, struct inject_thread *saved)
{
	*saved = *thread;
	thread->ring = NULL;
	thread->missed = 0;
}

static inline void inject_leave_vfork(const struct injector *injector, struct inject_thread *thread,
				      const struct inject_thread *saved)
{
	inject_end_thread(injector, thread);
	*thread = *saved;
}

/* ---- a record ---- */

static inline bool inject_recording(const struct injector *injector)
{
	return __atomic_load_n(&inject_pool_of(injector)->recording, __ATOMIC_RELAXED);
}

static inline union inject_slot *inject_slot(const struct injector *injector,
					     struct inject_ring *ring, uint64_t place)
{
	uint8_t *slots = (uint8_t *)ring + INJECT_PAGE + injector->area_bytes;

	return (union inject_slot *)slots + (place & (injector->slots - 1));
}

static inline void inject_finish(const struct injector *injector, struct inject_head *head,
				 uint64_t place, uint32_t slots)
{
	__atomic_store_n(&head->commit, (uint32_t)(place + 1), __ATOMIC_RELEASE);
	if (__builtin_expect((place ^ (place + slots)) & ~(uint64_t)(injector->slots / 4 - 1), 0))
		inject_ring_bell(injector);
}

/* Where a record of one slot goes; NULL: nowhere, which was counted. */
static inline void *inject_reserve(struct injector *injector, struct inject_thread *thread,
				   uint64_t *place)
{
	struct inject_ring *ring = inject_ring(injector, thread);

	if (__builtin_expect(!ring, 0))
		return NULL;
	*place = inject_add(&ring->head, 1);
	return inject_slot(injector, ring, *place);
}

/* Its kind, slots and number have been set. */
static inline void inject_commit(const struct injector *injector, struct inject_head *head,
				 uint64_t place)
{
	inject_finish(injector, head, place, 1);
}

/* Writes a record of any size. Returns whether there was a place for it. */
static inline bool inject_write(struct injector *injector, struct inject_thread *thread,
				const struct inject_head *record)
{
	struct inject_ring *ring = inject_ring(injector, thread);
	const uint8_t *bytes = (const uint8_t *)record;
	union inject_slot *first;
	uint64_t place;

	if (!ring || !record->slots || record->slots > INJECT_MOST_SLOTS)
		return false;
	place = inject_add(&ring->head, record->slots);
	for (unsigned i = 1; i < record->slots; i++)
		__builtin_memcpy(inject_slot(injector, ring, place + i), bytes + i * INJECT_SLOT,
				 INJECT_SLOT);
	first = inject_slot(injector, ring, place);
	__builtin_memcpy(first->bytes + sizeof(uint32_t), bytes + sizeof(uint32_t),
			 INJECT_SLOT - sizeof(uint32_t));
	inject_finish(injector, &first->head, place, record->slots);
	return true;
}

#endif
