/* Who has which ring, and who is still there. A thread says itself that it ends, if it can; one that was killed is missing from
 * /proc, and one that called execve has a newer ring or none. */
#include "inject/pool_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void new_writer(struct pool *pool, uint32_t number, uint64_t owner)
{
	struct pool_ring *ring = &pool->rings[number];
	uint64_t library = owner >> (2 * INJECT_ID_BITS) & 0xff;
	struct inject_ring head;

	*ring = (struct pool_ring){ .owner = owner, .next = ring->next, .writer.ring = number };
	if (library >= INJECT_LIBRARIES ||
	    !pool_fetch(pool, &head, sizeof(head), pool_ring_at(pool, number))) {
		ring->broken = true;
		return;
	}
	ring->turn = head.turn;
	ring->writer.library = (enum inject_library)library;
	ring->foreign = head.namespace != pool->namespace;
	if (!ring->foreign) {
		ring->writer.pid = owner >> INJECT_ID_BITS & INJECT_ID_MASK;
		ring->writer.tid = owner & INJECT_ID_MASK;
	}
	atomic_fetch_add_explicit(&pool->writers[library], 1, memory_order_relaxed);
}

bool pool_find_writers(struct pool *pool)
{
	bool found = false;

	for (uint32_t i = 0; i < pool->ready; i++) {
		uint64_t owner = pool->owners.of[i];

		if (!(owner & INJECT_TAKEN) || pool->rings[i].owner)
			continue;
		new_writer(pool, i, owner);
		found = true;
	}
	return found;
}

static bool thread_is_there(const struct pool_writer *writer)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u", writer->pid, writer->tid);
	return !access(path, F_OK) || errno != ENOENT;
}

bool pool_process_is_there(const struct pool_writer *writer)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u", writer->pid);
	return !access(path, F_OK) || errno != ENOENT;
}

/* Whether the thread of one ring has taken the other later: it has called execve in between, or its number is another's now. */
static bool is_older(const struct pool_ring *one, const struct pool_ring *other)
{
	return one != other && other->owner && !other->foreign &&
	       one->writer.library == other->writer.library &&
	       one->writer.tid == other->writer.tid && one->turn < other->turn;
}

static bool has_ended(const struct pool *pool, uint32_t number)
{
	const struct pool_ring *ring = &pool->rings[number];

	if (pool->owners.of[number] != ring->owner) /* its thread's last word, or nonsense */
		return true;
	if (ring->foreign)
		return false;
	for (uint32_t i = 0; i < pool->ready; i++)
		if (is_older(ring, &pool->rings[i]))
			return true;
	return !thread_is_there(&ring->writer);
}

void pool_find_ended(struct pool *pool, bool *ended)
{
	for (uint32_t i = 0; i < pool->ready; i++)
		ended[i] = pool->rings[i].owner && has_ended(pool, i);
}
