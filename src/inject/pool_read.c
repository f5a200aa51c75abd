/* One ring, read by copying:
 *
 *     ... │ read before │ next: committed, committed, not yet │ ... head
 *
 * First the slots up to head are copied to see how many of them are committed; then those again, since a commit says only that what is
 * copied after it is whole; then head is read once more, to see which of them the writer may have come round to meanwhile. */
#include "inject/pool_parts.h"

#include <string.h>

#define MOST_AHEAD (1ull << 40) /* slots: no thread writes as many between two looks */

static bool read_head(const struct pool *pool, const struct pool_ring *ring, uint64_t *head)
{
	return pool_fetch(pool, head, sizeof(*head),
			  pool_ring_at(pool, ring->writer.ring) +
				  offsetof(struct inject_ring, head));
}

/* Copies `count` slots from place `at` on. */
static bool copy_slots(const struct pool *pool, const struct pool_ring *ring, uint64_t at,
		       uint32_t count)
{
	uint64_t slots =
		pool_ring_at(pool, ring->writer.ring) + INJECT_PAGE + pool->config.area_bytes;
	uint32_t first = (uint32_t)at & (pool->config.slots - 1);
	uint32_t before_end = pool->config.slots - first;

	if (before_end > count)
		before_end = count;
	return pool_fetch(pool, pool->batch, (size_t)before_end * INJECT_SLOT,
			  slots + (uint64_t)first * INJECT_SLOT) &&
	       (before_end == count ||
		pool_fetch(pool, pool->batch + before_end,
			   (size_t)(count - before_end) * INJECT_SLOT, slots));
}

/* The length of the record at copied slot i, of `count`; 0: not committed, or no record. */
static uint32_t record_slots(const struct pool *pool, uint64_t at, uint32_t i, uint32_t count)
{
	const struct inject_head *head = &pool->batch[i].head;

	if (head->commit != (uint32_t)(at + i + 1) || !head->slots ||
	    head->slots > INJECT_MOST_SLOTS || head->slots > count - i)
		return 0;
	return head->slots;
}

static uint32_t count_committed(const struct pool *pool, uint64_t at, uint32_t count)
{
	uint32_t i = 0, slots;

	while (i < count && (slots = record_slots(pool, at, i, count)))
		i += slots;
	return i;
}

/* Hands over the committed records in `count` slots from `next` on, but for those that may have been written over. */
static size_t take_slots(struct pool *pool, struct pool_ring *ring,
			 const struct pool_visitor *visitor, uint32_t count, uint64_t head)
{
	uint32_t i = 0, slots;
	size_t records = 0;

	for (; i < count && (slots = record_slots(pool, ring->next, i, count)); i += slots) {
		if (head - ring->next - i > pool->config.slots) {
			pool_lose(pool, ring->writer.library, POOL_OVERRUN, 1);
			continue;
		}
		visitor->record(visitor->context, &ring->writer, &pool->batch[i].head);
		records++;
	}
	ring->next += i;
	return records;
}

/* Skips what was written over since the last time, and a quarter more, which is about to be. */
static void skip_overrun(struct pool *pool, struct pool_ring *ring, uint64_t head)
{
	uint64_t keep = pool->config.slots - pool->config.slots / 4;

	if (head - ring->next <= pool->config.slots)
		return;
	pool_lose(pool, ring->writer.library, POOL_OVERRUN, head - ring->next - keep);
	ring->next = head - keep;
}

static size_t break_ring(struct pool *pool, struct pool_ring *ring)
{
	pool_lose(pool, ring->writer.library, POOL_TORN, 1);
	ring->broken = true;
	return 0;
}

/* A record that was begun and not ended, at `next`: waited for while it may still be, else passed over. */
static bool skip_torn(struct pool *pool, struct pool_ring *ring, uint64_t head, bool last)
{
	if (!last && head - ring->next <= pool->config.slots / 2)
		return false;
	pool_lose(pool, ring->writer.library, POOL_TORN, 1);
	ring->next++;
	return true;
}

size_t pool_read_ring(struct pool *pool, struct pool_ring *ring, const struct pool_visitor *visitor,
		      bool last)
{
	size_t records = 0;
	uint64_t head, now, before;

	if (ring->broken)
		return 0;
	if (!read_head(pool, ring, &head) || head < ring->next || head - ring->next > MOST_AHEAD)
		return break_ring(pool, ring);
	skip_overrun(pool, ring, head);
	while (ring->next < head) { /* what comes meanwhile is for the next time */
		uint32_t count = (uint32_t)(head - ring->next);

		if (!copy_slots(pool, ring, ring->next, count))
			return break_ring(pool, ring);
		count = count_committed(pool, ring->next, count);
		if ((count && !copy_slots(pool, ring, ring->next, count)) ||
		    !read_head(pool, ring, &now) || now < head)
			return records + break_ring(pool, ring);
		before = ring->next;
		records += take_slots(pool, ring, visitor, count, now);
		skip_overrun(pool, ring, now);
		if (!count && ring->next == before && !skip_torn(pool, ring, head, last))
			break;
		if (ring->next == before) /* another copy, and no commit in it: somebody plays */
			return records + break_ring(pool, ring);
	}
	return records;
}
