#include "inprocess/library.h"

#include <errno.h>

struct library library;
__thread struct calling calling;

/* Whatever C library is there has these, or has not. */
extern char **environ __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));
extern int pthread_key_create(unsigned *key, void (*end)(void *)) __attribute__((weak));
extern int pthread_setspecific(unsigned key, const void *value) __attribute__((weak));

#define KEYS_IN_PLACE 32 /* of glibc: setting a greater one may allocate */

static unsigned thread_key = KEYS_IN_PLACE;

/* ---- what is not there ---- */

long missing_number(void)
{
	if (__errno_location)
		*__errno_location() = ENOSYS;
	return -1;
}

void *missing_pointer(void)
{
	missing_number();
	return NULL;
}

/* ---- a process ---- */

static const char *environment_value(const char *name)
{
	for (char **at = &environ ? environ : NULL; at && *at; at++) {
		size_t i = 0;

		while (name[i] && (*at)[i] == name[i])
			i++;
		if (!name[i] && (*at)[i] == '=')
			return *at + i + 1;
	}
	return NULL;
}

static void thread_ends(void *unused)
{
	(void)unused;
	inject_end_thread(&library.injector, &calling.thread);
}

static void take_clock(void)
{
	library.tsc = inject_pool_of(&library.injector)->clock == INJECT_TSC;
}

/* So that those that do not load the library are known. */
static void tell_loaded(void)
{
	struct inprocess_record record = { .head = { .kind = INJECT_LOADED, .slots = 1 },
					   .ts = library_now() };

	if (library_take_ring())
		inject_write(&library.injector, &calling.thread, &record.head);
}

static void take_settings(void)
{
	const struct inprocess_settings *settings = inject_settings(&library.injector);

	library.aggregates = settings->aggregates;
	library.min_ticks = settings->min_ticks;
	for (unsigned i = 0; i < INPROCESS_COUNT; i++) {
		library.functions[i].bytes[0] = settings->bytes[i][0];
		library.functions[i].bytes[1] = settings->bytes[i][1];
		__atomic_store_n(&library.functions[i].wanted, settings->wanted[i],
				 __ATOMIC_RELEASE);
	}
}

static void set_up(void)
{
	next_find();
	if (!inject_open(&library.injector, INJECT_CALLS, environment_value(INJECT_ENVIRONMENT)))
		return;
	if (!pthread_key_create || !pthread_setspecific ||
	    pthread_key_create(&thread_key, thread_ends))
		thread_key = KEYS_IN_PLACE;
	take_clock();
	tell_loaded();
	take_settings();
}

void *library_begin(enum inprocess_function function, void *missing)
{
	static uint32_t begun;
	void *next;

	if (!__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
		set_up();
	next = __atomic_load_n(&library.functions[function].next, __ATOMIC_ACQUIRE);
	if (!next) { /* another thread, or a call inside of all that, came first; or there is none */
		next_find();
		next = library.functions[function].next;
	}
	return next ? next : missing;
}

/* Programs that call nothing are known too. */
__attribute__((constructor)) static void library_loaded(void)
{
	library_begin(INPROCESS_read, NULL);
}

/* ---- a thread ---- */

struct inject_ring *library_take_ring(void)
{
	struct inject_ring *ring = inject_ring(&library.injector, &calling.thread);

	if (ring && thread_key < KEYS_IN_PLACE)
		pthread_setspecific(thread_key, &calling);
	return ring;
}

/* ---- counting ---- */

INLINE void add(uint64_t *value, uint64_t more)
{
	__asm__ volatile("addq %1, %0" : "+m"(*value) : "er"(more) : "cc");
}

static uint64_t factor(const struct call *call, uint8_t which, long returned)
{
	if (which == FROM_NONE)
		return 1;
	return (uint64_t)(which == FROM_RETURNED ? (returned > 0 ? returned : 0)
						 : call->args[(which - FROM_ARG0) & 3]);
}

void call_count(const struct call *call, enum inprocess_function function, uint64_t ticks,
		long returned)
{
	const struct inject_pool *pool = inject_pool_of(&library.injector);
	struct inject_ring *ring = call_ring();
	const uint8_t *bytes = library.functions[function].bytes;
	struct inprocess_counter *counter;
	uint64_t time;
	unsigned bucket;

	if (!ring)
		return;
	time = (uint64_t)((unsigned __int128)ticks * pool->mult >> (pool->shift & 63));
	counter = &((struct inprocess_area *)inject_area(ring))->counters[function];
	add(&counter->count, 1);
	add(&counter->time, time);
	if (bytes[0])
		add(&counter->bytes,
		    factor(call, bytes[0], returned) * factor(call, bytes[1], returned));
	bucket = time ? 63 - (unsigned)__builtin_clzll(time) : 0;
	add(&counter->buckets[bucket < INPROCESS_BUCKETS ? bucket : INPROCESS_BUCKETS - 1], 1);
}
