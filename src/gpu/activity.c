/* Records of the device: CUPTI asks for buffers, fills them while the device works, and hands them back full, or each half second, in a
 * thread of its own. What is in them goes on to the recorder from there; the job's threads have no part in it.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/library.h"

#define BUFFER_BYTES (1u << 20)
#define FLUSH_MS     500
#define MOST_BUFFERS 64	     /* that CUPTI may have at once; beyond them it drops, and says so */
#define BREATH_AFTER 512     /* records in a row after which the recorder gets a chance to read */
#define BREATH_NS    1000000 /* 1 ms */
#define CONTEXTS     256

static const uint32_t kinds[] = { CUPTI_CONCURRENT_KERNEL, CUPTI_MEMCPY, CUPTI_MEMCPY2,
				  CUPTI_MEMSET, CUPTI_SYNCHRONIZATION };

static struct cupti cupti;
static atomic_uint buffers;
static atomic_uint devices[CONTEXTS]; /* of each context, plus 1; 0: not known */

/* ---- one record each ---- */

static void set_caller(struct gpu_op_record *op, uint32_t correlation)
{
	op->pid = library_pid();
	op->correlation = correlation;
	if (!launches_find(correlation, &op->tid, &op->launch))
		op->tid = 0, op->launch = 0;
}

static void set_place(struct gpu_op_record *op, uint32_t device, uint32_t context, uint32_t stream)
{
	op->device = device;
	op->stream = stream;
	atomic_store_explicit(&devices[context % CONTEXTS], device + 1, memory_order_relaxed);
}

static uint16_t narrow(int32_t value)
{
	return (uint16_t)(value < 0 ? 0 : value > UINT16_MAX ? UINT16_MAX : value);
}

static void take_kernel(struct gpu_op_record *op, const struct cupti_kernel *kernel)
{
	op->start = kernel->start;
	op->end = kernel->end;
	set_place(op, kernel->device, kernel->context, kernel->stream);
	set_caller(op, kernel->correlation);
	op->name = library_text(kernel->name ? kernel->name : "?", true);
	for (unsigned i = 0; i < 3; i++) {
		op->grid[i] = kernel->grid[i] < 0 ? 0 : (uint32_t)kernel->grid[i];
		op->block[i] = narrow(kernel->block[i]);
	}
	op->registers = kernel->registers;
	op->shared = (uint32_t)kernel->static_shared + (uint32_t)kernel->dynamic_shared;
	op->graph = kernel->graph;
}

/* H: host, D: device, A: array on a device, P: another device. */
static const char *direction(unsigned copy_kind)
{
	static const char *const names[] = { "?",    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					     "AtoD", "DtoA", "DtoD", "HtoH", "PtoP" };

	return names[copy_kind < sizeof(names) / sizeof(*names) ? copy_kind : 0];
}

/* Which memory of the host a copy was from or to, if it was. */
static uint32_t host_memory(unsigned from, unsigned to)
{
	if (from == CUPTI_PAGEABLE || to == CUPTI_PAGEABLE)
		return GPU_HOST_PAGEABLE;
	return from == CUPTI_PINNED || to == CUPTI_PINNED ? GPU_HOST_PINNED : GPU_HOST_UNKNOWN;
}

static void take_copy(struct gpu_op_record *op, const struct cupti_memcpy *copy)
{
	op->start = copy->start;
	op->end = copy->end;
	set_place(op, copy->device, copy->context, copy->stream);
	set_caller(op, copy->correlation);
	op->name = library_text(direction(copy->copy_kind), false);
	op->bytes = copy->bytes;
	op->host = host_memory(copy->from, copy->to);
	op->graph = copy->graph;
}

static void take_peer_copy(struct gpu_op_record *op, const struct cupti_memcpy2 *copy)
{
	op->start = copy->start;
	op->end = copy->end;
	set_place(op, copy->device, copy->context, copy->stream);
	set_caller(op, copy->correlation);
	op->name = library_text("PtoP", false);
	op->bytes = copy->bytes;
	op->graph = copy->graph;
}

static void take_memset(struct gpu_op_record *op, const struct cupti_memset *set)
{
	op->start = set->start;
	op->end = set->end;
	set_place(op, set->device, set->context, set->stream);
	set_caller(op, set->correlation);
	op->name = library_text("memset", false);
	op->bytes = set->bytes;
	op->graph = set->graph;
}

/* A thread that waits for the device. A stream that waits for an event of another is the device's own affair, and takes no thread. */
static bool take_wait(struct gpu_op_record *op, const struct cupti_synchronization *wait)
{
	static const char *const names[] = { NULL, "event", NULL, "stream", "context" };
	const char *name = wait->type < sizeof(names) / sizeof(*names) ? names[wait->type] : NULL;
	unsigned device =
		atomic_load_explicit(&devices[wait->context % CONTEXTS], memory_order_relaxed);

	if (!name)
		return false;
	op->start = wait->start;
	op->end = wait->end;
	op->device = device ? device - 1 : GPU_NO_NUMBER;
	op->stream = wait->type == 3 ? wait->stream : GPU_NO_NUMBER;
	set_caller(op, wait->correlation);
	op->name = library_text(name, false);
	return true;
}

/* Returns which op it is, or GPU_OP_COUNT. */
static unsigned take_record(struct gpu_op_record *op, const struct cupti_record *record)
{
	switch (record->kind) {
	case CUPTI_CONCURRENT_KERNEL:
		take_kernel(op, (const struct cupti_kernel *)record);
		return GPU_OP_kernel;
	case CUPTI_MEMCPY: take_copy(op, (const struct cupti_memcpy *)record); return GPU_OP_copy;
	case CUPTI_MEMCPY2:
		take_peer_copy(op, (const struct cupti_memcpy2 *)record);
		return GPU_OP_copy;
	case CUPTI_MEMSET:
		take_memset(op, (const struct cupti_memset *)record);
		return GPU_OP_memset;
	case CUPTI_SYNCHRONIZATION:
		return take_wait(op, (const struct cupti_synchronization *)record) ? GPU_OP_wait
										   : GPU_OP_COUNT;
	default: return GPU_OP_COUNT;
	}
}

/* ---- buffers ---- */

static void on_request(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*buffer = NULL;
	*size = *most_records = 0;
	if (atomic_fetch_add(&buffers, 1) < MOST_BUFFERS)
		*buffer = aligned_alloc(8, BUFFER_BYTES);
	if (*buffer)
		*size = BUFFER_BYTES;
	else
		atomic_fetch_sub(&buffers, 1);
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	const struct timespec breath = { .tv_nsec = BREATH_NS };
	struct cupti_record *record = NULL;
	size_t dropped = 0;
	unsigned count = 0;

	(void)size;
	while (buffer && valid && !cupti.next_record(buffer, valid, &record)) {
		struct gpu_op_record op = { .bytes = UINT64_MAX };
		unsigned kind = take_record(&op, record);

		if (kind == GPU_OP_COUNT)
			continue;
		library_write(&op.head, INJECT_GPU_OP, kind, sizeof(op));
		/* The ring is written over when it is not read in time, and this thread can wait. */
		if (++count % BREATH_AFTER == 0)
			nanosleep(&breath, NULL);
	}
	if (!cupti.dropped(context, stream, &dropped) && dropped)
		library_note(GPU_NOTE_DROPPED, dropped, "");
	if (buffer)
		atomic_fetch_sub(&buffers, 1);
	free(buffer);
}

/* ---- beginning and end ---- */

static const char *explain(const char *what, int result, char *text, size_t size)
{
	const char *why = NULL;

	if (cupti.result_text(result, &why) || !why)
		why = "no reason given";
	snprintf(text, size, "%s: %s", what, why);
	return text;
}

const char *activity_start(const struct cupti *found, char *text, size_t size)
{
	unsigned enabled = 0;
	int result, last = 0;

	cupti = *found;
	/* The clock comes first: it holds for what is enabled after it. */
	result = cupti.set_clock(library_now);
	if (result)
		return explain("CUPTI takes no other clock", result, text, size);
	result = cupti.register_buffers(on_request, on_complete);
	if (result)
		return explain("CUPTI takes no buffers", result, text, size);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		result = cupti.enable(kinds[i]);
		enabled += !result;
		last = result ? result : last;
	}
	if (!enabled)
		return explain("CUPTI records nothing", last, text, size);
	cupti.flush_period(FLUSH_MS);
	launches_start(&cupti);
	return NULL;
}

void activity_flush(void)
{
	cupti.flush(1);
}

/* What CUPTI reads by itself, for who comes next: it takes no "none". */
static uint64_t default_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void activity_stop(void)
{
	launches_stop(&cupti);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		cupti.disable(kinds[i]);
	cupti.flush(1);
	cupti.flush_period(0);
	cupti.set_clock(default_clock);
}
