/* The inside of libstrata_calls.so, which stands before functions of the C library in the processes of a job and writes down each
 * call of those that were asked for.
 *
 * It must not be noticed: each function calls the one that the program would have called, with the same arguments, and leaves errno
 * alone; nothing is allocated, and nothing of the C library called, but for finding those functions. It is linked to nothing, so that
 * it loads beside any C library, of any version.
 *
 *     library.c    a process: finds the memory to write to, and what to record
 *     next.c       the functions that the program would have called
 *     wrappers.c   functions with a list of arguments; variadic.c those without; vfork.c vfork
 */
#ifndef STRATA_INPROCESS_LIBRARY_H
#define STRATA_INPROCESS_LIBRARY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "inject/writer.h"
#include "inprocess/calls.h"

#define EXPORTED __attribute__((visibility("default")))
#define INLINE	 static inline __attribute__((always_inline))

struct library {
	struct injector injector;
	uint64_t min_ticks;
	bool aggregates;
	bool tsc;
	struct {
		void *next;	/* NULL: not looked for yet */
		uint8_t wanted; /* 0 until the process is set up */
		uint8_t bytes[2];
	} functions[INPROCESS_ALL];
};

/* Of a thread. */
struct calling {
	struct inject_thread thread;
	uint32_t depth;
	uintptr_t stacks[INPROCESS_FRAMES]; /* where the stack was, for each frame of the area */
};

/* Of a call. */
struct call {
	uint64_t ts;
	long args[4];
	uint32_t depth;
	struct inprocess_frame *frame; /* NULL: none */
};

extern struct library library;
extern __thread struct calling calling;

/* Sets the process up, once; returns the function that the program would have called, or `missing`. */
void *library_begin(enum inprocess_function function, void *missing);

/* Finds the next of each function in the order of the loader, behind this library. */
void next_find(void);

/* A ring for the thread, which had none. */
struct inject_ring *library_take_ring(void);

/* What is called where a C library lacks a function. */
long missing_number(void);
void *missing_pointer(void);

/* ---- clocks ---- */

static inline uint64_t library_boottime(void)
{
	struct timespec now = { 0, 0 };
	int (*next)(clockid_t, struct timespec *) =
		(int (*)(clockid_t, struct timespec *))library.functions[INPROCESS_clock_gettime]
			.next;

	if (next)
		next(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

INLINE uint64_t library_now(void)
{
	return __builtin_expect(library.tsc, 1) ? __builtin_ia32_rdtsc() : library_boottime();
}

/* ---- a call ---- */

INLINE void *call_next(enum inprocess_function function, void *missing)
{
	void *next = __atomic_load_n(&library.functions[function].next, __ATOMIC_RELAXED);

	return __builtin_expect(next != NULL, 1) ? next : library_begin(function, missing);
}

INLINE struct inject_ring *call_ring(void)
{
	struct inject_thread *thread = &calling.thread;

	if (__builtin_expect(thread->ring && thread->generation == *library.injector.generation, 1))
		return thread->ring;
	return library_take_ring();
}

/* Notes that the thread is in this call. Calls that it left by longjmp are forgotten: where they were, the stack has been taken back. */
INLINE void call_push(struct call *call, enum inprocess_function function)
{
	struct inject_ring *ring = call_ring();
	uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
	uint32_t depth = calling.depth;

	call->frame = NULL;
	while (__builtin_expect(depth > 0, 0) &&
	       (depth > INPROCESS_FRAMES || calling.stacks[depth - 1] <= stack))
		depth--;
	call->depth = depth;
	calling.depth = depth + 1;
	if (__builtin_expect(!ring || depth >= INPROCESS_FRAMES, 0))
		return;
	calling.stacks[depth] = stack;
	call->frame = &((struct inprocess_area *)inject_area(ring))->frames[depth];
	call->frame->ts = call->ts;
	for (unsigned i = 0; i < 4; i++)
		call->frame->args[i] = call->args[i];
	__atomic_store_n(&call->frame->function, function + 1, __ATOMIC_RELEASE);
}

/* Whether the call is to be recorded. */
INLINE bool call_begin(struct call *call, enum inprocess_function function, long arg0, long arg1,
		       long arg2, long arg3)
{
	if (!library.functions[function].wanted || !inject_recording(&library.injector))
		return false;
	call->args[0] = arg0;
	call->args[1] = arg1;
	call->args[2] = arg2;
	call->args[3] = arg3;
	call->ts = library_now();
	if (!library.aggregates)
		call_push(call, function);
	return true;
}

void call_count(const struct call *call, enum inprocess_function function, uint64_t ticks,
		long returned);

INLINE void call_record(const struct call *call, enum inprocess_function function, uint64_t ticks,
			long returned)
{
	struct inprocess_record *record;
	uint64_t place;

	if (!call_ring())
		return;
	record = inject_reserve(&library.injector, &calling.thread, &place);
	if (__builtin_expect(!record, 0))
		return;
	record->ts = call->ts;
	record->ticks = ticks;
	for (unsigned i = 0; i < 4; i++)
		record->args[i] = call->args[i];
	record->returned = returned;
	record->head.kind = INJECT_CALL;
	record->head.slots = 1;
	record->head.number =
		(uint16_t)(function |
			   (call->depth < INPROCESS_MOST_DEPTH ? call->depth : INPROCESS_MOST_DEPTH)
				   << INPROCESS_DEPTH_AT);
	inject_commit(&library.injector, &record->head, place);
}

INLINE void call_end(const struct call *call, enum inprocess_function function, long returned)
{
	uint64_t ticks = library_now() - call->ts;

	if (library.aggregates || ticks < library.min_ticks)
		call_count(call, function, ticks, returned);
	else
		call_record(call, function, ticks, returned);
	if (library.aggregates)
		return;
	calling.depth = call->depth;
	if (call->frame)
		__atomic_store_n(&call->frame->function, 0, __ATOMIC_RELEASE);
}

/* The first four of a list of arguments, as numbers. */
#define SHOWN(...)		    SHOWN_FOUR(__VA_ARGS__, 0, 0, 0, 0)
#define SHOWN_FOUR(a, b, c, d, ...) (long)(a), (long)(b), (long)(c), (long)(d)

#define MISSING(type) \
	_Generic((type *)0, void ** : (void *)missing_pointer, default : (void *)missing_number)

#endif
