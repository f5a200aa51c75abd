/* The recorder's side of the pool (shared.h): makes it, finds the rings that threads of the job have taken, reads them, and
 * gives those of threads that ended to others. One thread uses it, but for pool_wake and pool_lost.
 *
 * Nothing in the pool is believed. What the visitor gets lies in memory of its own and is whole slots of a known kind's head; the rest
 * of a record is for the visitor to check.
 */
#ifndef STRATA_INJECT_POOL_H
#define STRATA_INJECT_POOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "inject/shared.h"

struct pool;

struct pool_config {
	uint32_t rings; /* at most; memory is taken as they are used */
	uint32_t slots; /* of a ring: a power of two, at least 4 * INJECT_MOST_SLOTS */
	uint32_t area_bytes;
	enum inject_clock clock;
};

/* Who writes to a ring. */
struct pool_writer {
	enum inject_library library;
	uint32_t pid, tid; /* as the recorder's /proc has them; 0: not known */
	uint32_t ring;	   /* its number: the same for as long as the writer is */
};

/* What was not kept. */
enum pool_loss {
	POOL_OVERRUN, /* records that were written over before they were read */
	POOL_TORN,    /* records without an end, and rings that made no sense: one each */
	POOL_NO_RING, /* records of threads that got no ring */
	POOL_LOSSES
};

struct pool_visitor {
	void *context;
	/* A record of head->slots slots. */
	void (*record)(void *context, const struct pool_writer *writer,
		       const struct inject_head *head);
	/* The writer has ended, or the reading does: its area, for the last time. NULL: nobody looks. */
	void (*end)(void *context, const struct pool_writer *writer);
};

/* Makes the pool in an empty file, which stays the caller's to remove; fd is the pool's from here on. */
int pool_open(struct pool **pool, int fd, const struct pool_config *config, struct error *e);
void pool_close(struct pool *pool);

/* The settings of a library, as its processes will find them; at most INJECT_PAGE bytes. */
int pool_set(struct pool *pool, enum inject_library library, const void *settings, size_t size,
	     struct error *e);

/* What one tick is: ns = ticks * mult >> shift. */
void pool_set_pace(struct pool *pool, uint64_t mult, uint32_t shift);

void pool_start(struct pool *pool); /* libraries write from here on, */
void pool_stop(struct pool *pool);  /* to here */

/* Reads what there is. last: nothing will come any more: what is begun is lost, and all writers end. Returns the records. */
size_t pool_read(struct pool *pool, const struct pool_visitor *visitor, bool last);

/* Whether a process that was there at the last reading still is: it goes on without the recorder. */
bool pool_has_survivors(const struct pool *pool);

/* Waits until a ring is a quarter full, a thread has taken one, or pool_wake is called: then it returns true. */
bool pool_wait(struct pool *pool, unsigned milliseconds);
void pool_wake(struct pool *pool);

/* A writer's area, copied as it is now; NULL: it cannot be read. Holds until the next one is asked for. */
const void *pool_area(struct pool *pool, const struct pool_writer *writer);

/* Each writer of a library. */
void pool_each_writer(struct pool *pool, enum inject_library library,
		      void (*take)(void *context, const struct pool_writer *writer), void *context);

/* For a visitor: the record made no sense. */
void pool_reject(struct pool *pool, enum inject_library library);

/* How many there were so far, and how many processes were turned away. */
uint64_t pool_lost(const struct pool *pool, enum inject_library library, enum pool_loss loss);
uint64_t pool_refused(const struct pool *pool, enum inject_library library,
		      enum inject_refusal why);

/* How many threads have had a ring. */
uint64_t pool_writers(const struct pool *pool, enum inject_library library);

#endif
