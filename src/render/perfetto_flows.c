/* Arrows from a block request to the call that waited for it; docs/exports.md states the rule.
 *
 * Rows come by their start, but the question is what was under way when a request completed. So calls that
 * may have waited, and requests, are kept in two heaps by their end: when the time of the rows reaches the
 * end of a request, every call that began before it is known, and those that ended before it are gone.
 *
 * Perfetto turns an arrow round when it would point to a slice that began earlier. So the arrow points to a
 * moment inside the call, at the completion of the request.
 *
 * Calls are found by thread and by file through chains of hash buckets, which hold only what is under way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/perfetto.h"

#define BUCKETS 4096u

struct waiting {
	struct flow_call call;
	struct waiting *by_thread, *by_file; /* next in the bucket */
};

struct call_entry {
	uint64_t end;
	struct waiting *waiting;
};

struct flows {
	struct buf calls;    /* heap of struct call_entry by end */
	struct buf requests; /* heap of struct flow_request by end */
	struct waiting *by_thread[BUCKETS], *by_file[BUCKETS];
	struct waiting *spare; /* kept for their memory, chained by by_thread */
};

static unsigned bucket_of(int64_t key)
{
	return (unsigned)((uint64_t)key * 0x9e3779b97f4a7c15ull >> 52);
}

/* ---- heaps: entries begin with their end ---- */

static uint64_t end_at(const struct buf *heap, size_t size, size_t i)
{
	uint64_t end;

	memcpy(&end, heap->data + i * size, sizeof(end));
	return end;
}

static void heap_swap(struct buf *heap, size_t size, size_t a, size_t b)
{
	uint8_t kept[sizeof(struct flow_request) + sizeof(struct call_entry)];

	memcpy(kept, heap->data + a * size, size);
	memcpy(heap->data + a * size, heap->data + b * size, size);
	memcpy(heap->data + b * size, kept, size);
}

static int heap_push(struct buf *heap, const void *entry, size_t size)
{
	size_t at = heap->size / size;

	if (buf_append(heap, entry, size))
		return -ENOMEM;
	for (; at && end_at(heap, size, at) < end_at(heap, size, (at - 1) / 2); at = (at - 1) / 2)
		heap_swap(heap, size, at, (at - 1) / 2);
	return 0;
}

static void heap_pop(struct buf *heap, size_t size, void *entry)
{
	size_t count = heap->size / size - 1, at = 0;

	memcpy(entry, heap->data, size);
	memcpy(heap->data, heap->data + count * size, size);
	heap->size -= size;
	for (;;) {
		size_t least = at, child = 2 * at + 1;

		for (unsigned side = 0; side < 2; side++, child++)
			if (child < count && end_at(heap, size, child) < end_at(heap, size, least))
				least = child;
		if (least == at)
			return;
		heap_swap(heap, size, at, least);
		at = least;
	}
}

static uint64_t heap_least(const struct buf *heap)
{
	uint64_t end = UINT64_MAX;

	if (heap->size)
		memcpy(&end, heap->data, sizeof(end));
	return end;
}

/* ---- calls under way ---- */

static void chain_remove(struct waiting **head, struct waiting *waiting, size_t next)
{
	while (*head && *head != waiting)
		head = (struct waiting **)((char *)*head + next);
	if (*head)
		*head = *(struct waiting **)((char *)waiting + next);
}

static void syscall_end(struct flows *flows, struct waiting *waiting)
{
	const struct flow_call *call = &waiting->call;

	chain_remove(&flows->by_thread[bucket_of(call->tid)], waiting,
		     offsetof(struct waiting, by_thread));
	chain_remove(&flows->by_file[bucket_of(call->file)], waiting,
		     offsetof(struct waiting, by_file));
	waiting->by_thread = flows->spare;
	flows->spare = waiting;
}

void flows_add_call(struct perfetto *p, const struct flow_call *call)
{
	struct flows *flows = p->flows;
	struct waiting *waiting = flows->spare;
	struct call_entry entry = { .end = call->end };
	unsigned thread = bucket_of(call->tid), file = bucket_of(call->file);

	if (waiting)
		flows->spare = waiting->by_thread;
	else
		waiting = malloc(sizeof(*waiting));
	entry.waiting = waiting;
	if (!waiting || heap_push(&flows->calls, &entry, sizeof(entry))) {
		free(waiting);
		p->error = -ENOMEM;
		return;
	}
	waiting->call = *call;
	waiting->by_thread = flows->by_thread[thread];
	flows->by_thread[thread] = waiting;
	waiting->by_file = flows->by_file[file];
	flows->by_file[file] = waiting;
}

void flows_add_request(struct perfetto *p, const struct flow_request *request)
{
	if (heap_push(&p->flows->requests, request, sizeof(*request)))
		p->error = -ENOMEM;
}

/* ---- who waited ---- */

/* Whether a began before b; of calls that began together the lesser thread comes first. */
static bool began_before(const struct waiting *a, const struct waiting *b)
{
	if (!b || a->call.ts != b->call.ts)
		return !b || a->call.ts < b->call.ts;
	return a->call.tid < b->call.tid;
}

static bool under_way(const struct waiting *waiting, const struct flow_request *request)
{
	return waiting->call.ts < request->end && request->end < waiting->call.end;
}

static struct waiting *find_on_thread(const struct flows *flows, const struct flow_request *request)
{
	struct waiting *found = NULL;

	if (request->tid == CELL_NULL)
		return NULL;
	for (struct waiting *at = flows->by_thread[bucket_of(request->tid)]; at;
	     at = at->by_thread) {
		bool same_file = request->file != CELL_NULL && at->call.file == request->file;

		if (at->call.tid == request->tid && under_way(at, request) &&
		    (request->sync || same_file) && began_before(at, found))
			found = at;
	}
	return found;
}

static struct waiting *find_on_file(const struct flows *flows, const struct flow_request *request)
{
	struct waiting *found = NULL;

	if (request->file == CELL_NULL)
		return NULL;
	for (struct waiting *at = flows->by_file[bucket_of(request->file)]; at; at = at->by_file)
		if (at->call.file == request->file && under_way(at, request) &&
		    began_before(at, found))
			found = at;
	return found;
}

static void request_settle(struct perfetto *p, const struct flow_request *request)
{
	static const char name[] = "block request done";
	struct waiting *waiting = find_on_thread(p->flows, request);
	struct slice moment = { .ts = request->end, .instant = true, .flow_end = request->flow };

	if (!waiting)
		waiting = find_on_file(p->flows, request);
	if (!waiting)
		return;
	moment.track = waiting->call.track;
	moment.category = TABLE_block + 1;
	moment.name = name_intern(p, name, strlen(name));
	slice_begin(p, &moment, NULL);
}

void flows_advance(struct perfetto *p, uint64_t ts)
{
	struct flows *flows = p->flows;
	struct flow_request request;
	struct call_entry entry;

	for (;;) {
		uint64_t of_request = heap_least(&flows->requests);
		uint64_t of_call = heap_least(&flows->calls);

		if ((of_request < of_call ? of_request : of_call) > ts ||
		    (of_request == UINT64_MAX && of_call == UINT64_MAX))
			return;
		if (of_request < of_call) {
			heap_pop(&flows->requests, sizeof(request), &request);
			request_settle(p, &request);
		} else {
			heap_pop(&flows->calls, sizeof(entry), &entry);
			syscall_end(flows, entry.waiting);
		}
	}
}

int flows_open(struct perfetto *p)
{
	p->flows = calloc(1, sizeof(*p->flows));
	return p->flows ? 0 : -ENOMEM;
}

void flows_close(struct perfetto *p)
{
	struct waiting *next;

	if (!p->flows)
		return;
	flows_advance(p, UINT64_MAX);
	for (struct waiting *at = p->flows->spare; at; at = next) {
		next = at->by_thread;
		free(at);
	}
	buf_free(&p->flows->calls);
	buf_free(&p->flows->requests);
	free(p->flows);
	p->flows = NULL;
}
