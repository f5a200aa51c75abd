/* The inside of a pool, for the files that make it up: pool.c makes it and waits for it, pool_read.c reads its rings,
 * pool_writers.c knows who has them. */
#ifndef STRATA_INJECT_POOL_PARTS_H
#define STRATA_INJECT_POOL_PARTS_H

#include <stdatomic.h>

#include "inject/pool.h"

/* A ring as the recorder knows it. */
struct pool_ring {
	uint64_t owner; /* as it was read last; 0: nobody's */
	uint64_t next;	/* the slot to read next */
	uint64_t turn;
	struct pool_writer writer;
	bool survives; /* its writer was still there when the reading ended */
	bool foreign;  /* its writer is of another pid namespace and not found in /proc */
	bool broken;   /* what it said made no sense: it is not read until it is somebody else's */
};

struct pool {
	int fd;
	struct pool_config config;
	uint64_t ring_bytes;
	uint32_t ready;		     /* rings that have memory */
	bool exhausted;		     /* there is no memory for more */
	struct inject_pool *futex;   /* page 0, for the kernel to look at; never read here */
	struct inject_owners owners; /* as read last */
	struct pool_ring *rings;     /* config.rings of them */
	union inject_slot *batch;    /* copies, config.slots of them */
	uint64_t namespace;	     /* strata's own */
	uint32_t bell;		     /* as it was before the last reading */
	uint64_t next_look;	     /* CLOCK_MONOTONIC: when to see who is still there */
	_Atomic uint64_t lost[INJECT_LIBRARIES][POOL_LOSSES];
	_Atomic uint64_t writers[INJECT_LIBRARIES];
	uint8_t *area; /* copies */
};

/* Reads exactly so much of the file. */
bool pool_fetch(const struct pool *pool, void *to, size_t size, uint64_t at);

static inline uint64_t pool_ring_at(const struct pool *pool, uint32_t ring)
{
	return INJECT_RINGS_AT + ring * pool->ring_bytes;
}

static inline void pool_lose(struct pool *pool, enum inject_library library, enum pool_loss loss,
			     uint64_t count)
{
	atomic_fetch_add_explicit(&pool->lost[library][loss], count, memory_order_relaxed);
}

/* Notes who has taken which ring since the last time; false: nobody has taken one. */
bool pool_find_writers(struct pool *pool);

/* Which rings' writers will write no more: ended says so for each of config.rings. */
void pool_find_ended(struct pool *pool, bool *ended);

bool pool_process_is_there(const struct pool_writer *writer);

/* Reads what is in a ring. last: its writer is gone. Returns the records. */
size_t pool_read_ring(struct pool *pool, struct pool_ring *ring, const struct pool_visitor *visitor,
		      bool last);

#endif
