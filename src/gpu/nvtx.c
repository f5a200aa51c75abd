/* NVTX: ranges and marks that the job, or a library in it, names. The header-only NVTX inside of a program asks the library that
 * NVTX_INJECTION64_PATH names for its functions, once, at its first call; until then, and without it, a call costs nothing.
 *
 * A range is told when it ends. Ranges of a thread (push, pop) nest by domain; those that any thread may end (start, end) wait in a
 * table. Colours and categories are left out.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "gpu/library.h"

#define MOST_DEEP \
	64 /* ranges of a thread inside of each other; those deeper down are counted only */
#define MOST_OPEN 4096 /* ranges that are open, of the process */

enum { MODULE_CORE = 1, MODULE_CORE2 = 5, TABLE_CALLBACKS = 1 };
enum { MESSAGE_ASCII = 1, MESSAGE_UNICODE = 2, MESSAGE_REGISTERED = 3 };

/* nvtxEventAttributes_t. */
struct nvtx_event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	union {
		uint64_t u64;
		int64_t s64;
		double real;
		uint32_t u32;
		int32_t s32;
		float single;
	} payload;
	int32_t message_type;
	const void *message;
};

typedef void nvtx_function(void);

struct nvtx_callbacks {
	size_t size;
	int (*table)(unsigned module, nvtx_function ****table, unsigned *size);
};

/* A domain, or a text that was registered with one. */
struct nvtx_domain {
	char name[NVTX_MOST_NAME];
};

struct nvtx_range {
	const struct nvtx_domain *domain; /* NULL: none */
	uint64_t ts, payload;
	uint32_t tid;
	enum gpu_payload payload_kind;
	char name[NVTX_MOST_NAME];
};

struct nvtx_stack {
	unsigned depth;
	struct nvtx_range ranges[MOST_DEEP];
};

static pthread_key_t stack_key;
static bool stack_key_made;
static struct nvtx_range *open_ranges[MOST_OPEN];
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t open_next;

/* ---- ranges ---- */

static void range_begin(struct nvtx_range *range, const struct nvtx_domain *domain)
{
	range->domain = domain;
	range->ts = library_now();
	range->tid = library_tid();
	range->payload_kind = GPU_PAYLOAD_NONE;
	range->name[0] = '\0';
}

static void range_describe(struct nvtx_range *range, const struct nvtx_event *event)
{
	static const enum gpu_payload payloads[] = { GPU_PAYLOAD_NONE,	   GPU_PAYLOAD_UNSIGNED,
						     GPU_PAYLOAD_SIGNED,   GPU_PAYLOAD_REAL,
						     GPU_PAYLOAD_UNSIGNED, GPU_PAYLOAD_SIGNED,
						     GPU_PAYLOAD_REAL };
	double real;

	if (!event || event->size < sizeof(*event))
		return;
	if (event->message_type == MESSAGE_ASCII)
		nvtx_copy(range->name, event->message);
	else if (event->message_type == MESSAGE_UNICODE)
		nvtx_copy_wide(range->name, event->message);
	else if (event->message_type == MESSAGE_REGISTERED && event->message)
		nvtx_copy(range->name, ((const struct nvtx_domain *)event->message)->name);
	if (event->payload_type < 1 || event->payload_type > 6)
		return;
	range->payload_kind = payloads[event->payload_type];
	range->payload = event->payload.u64;
	if (event->payload_type == 4)
		range->payload = event->payload.u32;
	if (event->payload_type == 5)
		range->payload = (uint64_t)(int64_t)event->payload.s32;
	if (event->payload_type == 6) {
		real = event->payload.single;
		memcpy(&range->payload, &real, sizeof(real));
	}
}

/* Tells the recorder. dur UINT64_MAX: a moment. */
static void range_tell(const struct nvtx_range *range, uint64_t dur)
{
	union {
		struct gpu_mark_record mark;
		uint8_t bytes[GPU_RECORD_MOST];
	} record;
	const char *domain = range->domain ? range->domain->name : "";
	size_t name_size = strlen(range->name), domain_size = strlen(domain);
	size_t at = offsetof(struct gpu_mark_record, text);

	memset(&record, 0, at);
	record.mark.ts = range->ts;
	record.mark.dur = dur;
	record.mark.payload = range->payload;
	record.mark.pid = library_pid();
	record.mark.tid = range->tid;
	record.mark.name_size = (uint32_t)name_size;
	record.mark.domain_size = (uint32_t)domain_size;
	memcpy(record.bytes + at, range->name, name_size);
	memcpy(record.bytes + at + name_size, domain, domain_size);
	library_write(&record.mark.head, INJECT_GPU_MARK, range->payload_kind,
		      at + name_size + domain_size);
}

static struct nvtx_stack *stack_of_thread(void)
{
	struct nvtx_stack *stack = pthread_getspecific(stack_key);

	if (!stack) {
		stack = calloc(1, sizeof(*stack));
		if (stack && pthread_setspecific(stack_key, stack)) {
			free(stack);
			stack = NULL;
		}
	}
	return stack;
}

/* Where the next range of the thread goes; NULL: nowhere. Each domain has a nesting of its own, which these tell apart at the end. */
static struct nvtx_range *push(const struct nvtx_domain *domain)
{
	struct nvtx_stack *stack = stack_of_thread();
	struct nvtx_range *range;

	if (!stack)
		return NULL;
	if (stack->depth >= MOST_DEEP) {
		stack->depth++;
		return NULL;
	}
	range = &stack->ranges[stack->depth++];
	range_begin(range, domain);
	return range;
}

static int depth_of_thread(void)
{
	const struct nvtx_stack *stack = pthread_getspecific(stack_key);

	return stack ? (int)stack->depth - 1 : -1;
}

/* The innermost range of this domain. */
static int pop(const struct nvtx_domain *domain)
{
	struct nvtx_stack *stack = pthread_getspecific(stack_key);
	uint64_t now = library_now();
	unsigned at;

	if (!stack || !stack->depth)
		return -1;
	if (stack->depth > MOST_DEEP)
		return (int)--stack->depth;
	for (at = stack->depth; at && stack->ranges[at - 1].domain != domain;)
		at--;
	if (!at)
		return -1;
	range_tell(&stack->ranges[at - 1], now - stack->ranges[at - 1].ts);
	memmove(&stack->ranges[at - 1], &stack->ranges[at],
		(stack->depth - at) * sizeof(*stack->ranges));
	return (int)--stack->depth;
}

/* The number of a range that any thread may end; 0: there is no room. */
static uint64_t start(const struct nvtx_range *range)
{
	struct nvtx_range *kept = malloc(sizeof(*kept));
	uint64_t number = 0;

	if (!kept)
		return 0;
	*kept = *range;
	pthread_mutex_lock(&open_lock);
	for (unsigned i = 0; i < MOST_OPEN && !number; i++)
		if (!open_ranges[++open_next % MOST_OPEN])
			number = open_next;
	if (number)
		open_ranges[number % MOST_OPEN] = kept;
	pthread_mutex_unlock(&open_lock);
	if (!number)
		free(kept);
	return number;
}

static void end(uint64_t number)
{
	struct nvtx_range *range = NULL;

	pthread_mutex_lock(&open_lock);
	if (number) {
		range = open_ranges[number % MOST_OPEN];
		open_ranges[number % MOST_OPEN] = NULL;
	}
	pthread_mutex_unlock(&open_lock);
	if (range)
		range_tell(range, library_now() - range->ts);
	free(range);
}

/* ---- the functions: each thing with a text, with a wide one, with attributes, and with a domain ---- */

static void mark_event(struct nvtx_domain *domain, const struct nvtx_event *event)
{
	struct nvtx_range range;

	range_begin(&range, domain);
	range_describe(&range, event);
	range_tell(&range, UINT64_MAX);
}

static int push_event(struct nvtx_domain *domain, const struct nvtx_event *event)
{
	struct nvtx_range *range = push(domain);

	if (range)
		range_describe(range, event);
	return depth_of_thread();
}

static uint64_t start_event(struct nvtx_domain *domain, const struct nvtx_event *event)
{
	struct nvtx_range range;

	range_begin(&range, domain);
	range_describe(&range, event);
	return start(&range);
}

static struct nvtx_event event_of(int type, const void *message)
{
	return (struct nvtx_event){ .size = sizeof(struct nvtx_event),
				    .message_type = type,
				    .message = message };
}

static void mark_ex(const struct nvtx_event *event)
{
	mark_event(NULL, event);
}

static void mark_a(const char *message)
{
	struct nvtx_event event = event_of(MESSAGE_ASCII, message);

	mark_event(NULL, &event);
}

static void mark_w(const wchar_t *message)
{
	struct nvtx_event event = event_of(MESSAGE_UNICODE, message);

	mark_event(NULL, &event);
}

static uint64_t range_start_ex(const struct nvtx_event *event)
{
	return start_event(NULL, event);
}

static uint64_t range_start_a(const char *message)
{
	struct nvtx_event event = event_of(MESSAGE_ASCII, message);

	return start_event(NULL, &event);
}

static uint64_t range_start_w(const wchar_t *message)
{
	struct nvtx_event event = event_of(MESSAGE_UNICODE, message);

	return start_event(NULL, &event);
}

static void domain_range_end(struct nvtx_domain *domain, uint64_t number)
{
	(void)domain;
	end(number);
}

static int range_push_ex(const struct nvtx_event *event)
{
	return push_event(NULL, event);
}

static int range_push_a(const char *message)
{
	struct nvtx_event event = event_of(MESSAGE_ASCII, message);

	return push_event(NULL, &event);
}

static int range_push_w(const wchar_t *message)
{
	struct nvtx_event event = event_of(MESSAGE_UNICODE, message);

	return push_event(NULL, &event);
}

static int range_pop(void)
{
	return pop(NULL);
}

/* Domains and registered texts stay: ranges name them to the end. */
static struct nvtx_domain *domain_create_a(const char *name)
{
	struct nvtx_domain *domain = calloc(1, sizeof(*domain));

	if (domain)
		nvtx_copy(domain->name, name);
	return domain;
}

static struct nvtx_domain *domain_create_w(const wchar_t *name)
{
	struct nvtx_domain *domain = calloc(1, sizeof(*domain));

	if (domain)
		nvtx_copy_wide(domain->name, name);
	return domain;
}

static struct nvtx_domain *register_a(struct nvtx_domain *domain, const char *text)
{
	(void)domain;
	return domain_create_a(text);
}

static struct nvtx_domain *register_w(struct nvtx_domain *domain, const wchar_t *text)
{
	(void)domain;
	return domain_create_w(text);
}

/* ---- what NVTX calls ---- */

struct nvtx_entry {
	unsigned module, number;
	nvtx_function *function;
};

#define ENTRY(module, number, function)                     \
	{                                                   \
		module, number, (nvtx_function *)(function) \
	}

static const struct nvtx_entry entries[] = {
	ENTRY(MODULE_CORE, 1, mark_ex),
	ENTRY(MODULE_CORE, 2, mark_a),
	ENTRY(MODULE_CORE, 3, mark_w),
	ENTRY(MODULE_CORE, 4, range_start_ex),
	ENTRY(MODULE_CORE, 5, range_start_a),
	ENTRY(MODULE_CORE, 6, range_start_w),
	ENTRY(MODULE_CORE, 7, end),
	ENTRY(MODULE_CORE, 8, range_push_ex),
	ENTRY(MODULE_CORE, 9, range_push_a),
	ENTRY(MODULE_CORE, 10, range_push_w),
	ENTRY(MODULE_CORE, 11, range_pop),
	ENTRY(MODULE_CORE2, 1, mark_event),
	ENTRY(MODULE_CORE2, 2, start_event),
	ENTRY(MODULE_CORE2, 3, domain_range_end),
	ENTRY(MODULE_CORE2, 4, push_event),
	ENTRY(MODULE_CORE2, 5, pop),
	ENTRY(MODULE_CORE2, 10, register_a),
	ENTRY(MODULE_CORE2, 11, register_w),
	ENTRY(MODULE_CORE2, 12, domain_create_a),
	ENTRY(MODULE_CORE2, 13, domain_create_w),
};

typedef const void *nvtx_export(uint32_t table);

GPU_EXPORT int InitializeInjectionNvtx2(nvtx_export *tables);
GPU_EXPORT int InitializeInjectionNvtx2(nvtx_export *tables)
{
	const struct nvtx_callbacks *callbacks = tables(TABLE_CALLBACKS);

	if (!library_ready() || !callbacks || callbacks->size < sizeof(*callbacks))
		return 0;
	if (!stack_key_made && pthread_key_create(&stack_key, free))
		return 0;
	stack_key_made = true;
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		nvtx_function ***table = NULL;
		unsigned size = 0;

		if (callbacks->table(entries[i].module, &table, &size) && table &&
		    entries[i].number < size && table[entries[i].number])
			*table[entries[i].number] = entries[i].function;
	}
	return 1;
}
