/* A stand-in for NVIDIA's libcupti.so.13, for machines without a GPU: records of a device that does what a test program says, handed out in
 * buffers as CUPTI hands them out. It answers by offsets, as CUPTI's documents have them, not by strata's declarations.
 *
 * $STANDIN_CUPTI, words with commas between: `old` is of a version before its clock could be chosen, `refuses` enables nothing,
 * `drops` tells of 7 records that were dropped at the first buffer.
 */
#include "cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { MEMCPY = 1, MEMSET = 2, KERNEL = 10, SYNCHRONIZATION = 38, KINDS = 64 };
enum { INVALID_KIND = 21, MAX_LIMIT_REACHED = 12, MULTIPLE_SUBSCRIBERS = 37 };
enum { DRIVER = 1, RUNTIME = 2 };

typedef uint64_t clock_function(void);
typedef void callback_function(void *user, uint32_t domain, uint32_t id, const void *data);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static standin_request *request;
static standin_complete *complete;
static clock_function *clock_now;
static bool enabled[KINDS];
static uint8_t *buffer;
static standin_complete *buffer_owner; /* who was asked for it */
static size_t buffer_size, buffer_used;
static atomic_uint correlations;
static atomic_uint period;
static callback_function *subscriber;
static void *subscriber_user;
static bool callbacks[3][1024];
static bool dropped_told;

static bool told_to(const char *word)
{
	const char *words = getenv("STANDIN_CUPTI");

	return words && strstr(words, word);
}

static uint64_t now(void)
{
	struct timespec ts;

	if (clock_now)
		return clock_now();
	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- buffers ---- */

static size_t record_size(uint32_t kind)
{
	return kind == KERNEL ? 232 : kind == MEMCPY ? 104 : kind == MEMSET ? 96 : 56;
}

/* Hands the buffer back. Without the lock, as CUPTI does. */
static void hand_over(void)
{
	uint8_t *full;
	size_t size, used;
	standin_complete *function;

	pthread_mutex_lock(&lock);
	full = buffer;
	size = buffer_size;
	used = buffer_used;
	function = complete; /* of whoever is registered now, even if another one was asked */
	buffer = NULL;
	pthread_mutex_unlock(&lock);
	if (full && function)
		function(NULL, 0, full, size, used);
}

static void put32(uint8_t *record, size_t at, uint32_t value)
{
	memcpy(record + at, &value, sizeof(value));
}

static void put64(uint8_t *record, size_t at, uint64_t value)
{
	memcpy(record + at, &value, sizeof(value));
}

static void add_record(const uint8_t *record, uint32_t kind)
{
	size_t size = record_size(kind), most = 0;
	bool full;

	if (!enabled[kind] || !request)
		return;
	pthread_mutex_lock(&lock);
	full = buffer && buffer_used + size > buffer_size;
	pthread_mutex_unlock(&lock);
	if (full)
		hand_over();
	pthread_mutex_lock(&lock);
	if (!buffer) {
		request(&buffer, &buffer_size, &most);
		buffer_owner = complete;
		buffer_used = 0;
	}
	if (buffer && buffer_used + size <= buffer_size) {
		memcpy(buffer + buffer_used, record, size);
		buffer_used += size;
	}
	pthread_mutex_unlock(&lock);
}

static void *flush_each_period(void *unused)
{
	(void)unused;
	for (;;) {
		unsigned ms = atomic_load(&period);
		struct timespec pause = { .tv_nsec = (ms && ms < 1000 ? ms : 100) * 1000000l };

		nanosleep(&pause, NULL);
		if (ms)
			hand_over();
	}
	return NULL;
}

/* ---- what the device does ---- */

struct call {
	uint32_t site;
	const char *function;
	const void *parameters;
	void *returned;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *data;
	uint32_t correlation;
};

static void call_back(uint32_t domain, uint32_t id, const char *name, uint32_t site,
		      uint32_t correlation)
{
	struct call call = { .site = site, .function = name, .correlation = correlation };

	if (subscriber && callbacks[domain][id])
		subscriber(subscriber_user, domain, id, &call);
}

/* A function of the runtime calls the driver's. */
static uint32_t begin_call(uint32_t runtime, const char *name, uint32_t driver,
			   const char *driver_name)
{
	uint32_t correlation = atomic_fetch_add(&correlations, 1) + 1;

	call_back(RUNTIME, runtime, name, 0, correlation);
	call_back(DRIVER, driver, driver_name, 0, correlation);
	call_back(DRIVER, driver, driver_name, 1, correlation);
	call_back(RUNTIME, runtime, name, 1, correlation);
	return correlation;
}

static void add_kernel(const char *name, uint32_t device, uint32_t stream, uint64_t start,
		       uint64_t ns, uint32_t correlation, uint32_t graph)
{
	uint8_t record[232] = { 0 };

	put32(record, 0, KERNEL);
	record[6] = 32; /* registers */
	put64(record, 16, start);
	put64(record, 24, start + ns);
	put32(record, 40, device);
	put32(record, 44, 1 + device); /* context */
	put32(record, 48, stream);
	for (size_t i = 0; i < 3; i++) {
		put32(record, 52 + 4 * i, (uint32_t)(i ? 1 : 64));
		put32(record, 64 + 4 * i, (uint32_t)(i ? 1 : 256));
	}
	put32(record, 76, 1024); /* shared memory, static */
	put32(record, 80, 512);	 /* and dynamic */
	put32(record, 92, correlation);
	put64(record, 104, (uint64_t)(uintptr_t)name);
	put32(record, 156, graph);
	add_record(record, KERNEL);
}

EXPORT void standin_kernel(const char *name, uint32_t device, uint32_t stream, uint64_t ns)
{
	uint32_t correlation = begin_call(211, "cudaLaunchKernel_v7000", 307, "cuLaunchKernel");

	add_kernel(name, device, stream, now() + 1000, ns, correlation, 0);
}

EXPORT void standin_graph(uint32_t graph, unsigned kernels, uint32_t device, uint32_t stream,
			  uint64_t ns)
{
	uint32_t correlation = begin_call(311, "cudaGraphLaunch_v10000", 514, "cuGraphLaunch");
	uint64_t start = now() + 1000;

	for (unsigned i = 0; i < kernels; i++)
		add_kernel("_Z10graph_nodePf", device, stream, start + i * (ns + 10), ns,
			   correlation, graph);
}

EXPORT void standin_copy(unsigned direction, int pinned, uint64_t bytes, uint32_t device,
			 uint32_t stream, uint64_t ns)
{
	uint32_t correlation = begin_call(41, "cudaMemcpyAsync_v3020", 277, "cuMemcpyHtoDAsync_v2");
	uint64_t start = now() + 1000;
	uint8_t record[104] = { 0 };
	uint8_t host = pinned ? 2 : 1;

	put32(record, 0, MEMCPY);
	record[4] = (uint8_t)direction;
	record[5] = direction == STANDIN_HTOD ? host : 3;
	record[6] = direction == STANDIN_DTOH ? host : 3;
	put64(record, 8, bytes);
	put64(record, 16, start);
	put64(record, 24, start + ns);
	put32(record, 32, device);
	put32(record, 36, 1 + device);
	put32(record, 40, stream);
	put32(record, 44, correlation);
	add_record(record, MEMCPY);
}

EXPORT void standin_memset(uint64_t bytes, uint32_t device, uint32_t stream, uint64_t ns)
{
	uint32_t correlation = begin_call(51, "cudaMemsetAsync_v3020", 216, "cuMemsetD8Async");
	uint64_t start = now() + 1000;
	uint8_t record[96] = { 0 };

	put32(record, 0, MEMSET);
	put64(record, 8, bytes);
	put64(record, 16, start);
	put64(record, 24, start + ns);
	put32(record, 32, device);
	put32(record, 36, 1 + device);
	put32(record, 40, stream);
	put32(record, 44, correlation);
	add_record(record, MEMSET);
}

EXPORT void standin_synchronize(uint32_t device, uint32_t stream, uint64_t ns)
{
	uint32_t correlation =
		begin_call(131, "cudaStreamSynchronize_v3020", 126, "cuStreamSynchronize");
	uint64_t start = now(), end = start;
	uint8_t record[56] = { 0 };

	while (end - start < ns)
		end = now();
	put32(record, 0, SYNCHRONIZATION);
	put32(record, 4, 3);
	put64(record, 8, start);
	put64(record, 16, end);
	put32(record, 24, correlation);
	put32(record, 28, 1 + device);
	put32(record, 32, stream);
	add_record(record, SYNCHRONIZATION);
}

/* ---- CUPTI's functions ---- */

EXPORT int cuptiGetVersion(uint32_t *version);
EXPORT int cuptiGetVersion(uint32_t *version)
{
	*version = told_to("old") ? 12 : 130001;
	return 0;
}

EXPORT int cuptiActivityRegisterTimestampCallback(clock_function *function);
EXPORT int cuptiActivityRegisterTimestampCallback(clock_function *function)
{
	if (!function)
		return 1;
	clock_now = function;
	return 0;
}

EXPORT int cuptiActivityRegisterCallbacks(standin_request *requested, standin_complete *completed)
{
	pthread_mutex_lock(&lock);
	request = requested;
	complete = completed;
	pthread_mutex_unlock(&lock);
	return 0;
}

EXPORT int cuptiActivityEnable(uint32_t kind)
{
	if (told_to("refuses") || kind >= KINDS)
		return INVALID_KIND;
	enabled[kind] = true;
	return 0;
}

EXPORT int cuptiActivityDisable(uint32_t kind)
{
	if (kind < KINDS)
		enabled[kind] = false;
	return 0;
}

EXPORT int cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	hand_over();
	return 0;
}

EXPORT int cuptiActivityFlushPeriod(uint32_t ms);
EXPORT int cuptiActivityFlushPeriod(uint32_t ms)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static pthread_t thread;

	(void)once;
	atomic_store(&period, ms);
	if (ms && !thread)
		pthread_create(&thread, NULL, flush_each_period, NULL);
	return 0;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, void **record)
{
	uint8_t *next = *record;
	uint32_t kind;

	if (next) {
		memcpy(&kind, next, sizeof(kind));
		next += record_size(kind);
	} else {
		next = from;
	}
	if (next >= from + valid)
		return MAX_LIMIT_REACHED;
	*record = next;
	return 0;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	*dropped = told_to("drops") && !dropped_told ? 7 : 0;
	dropped_told = true;
	return 0;
}

EXPORT int cuptiSubscribe(void **handle, callback_function *function, void *user);
EXPORT int cuptiSubscribe(void **handle, callback_function *function, void *user)
{
	if (subscriber)
		return MULTIPLE_SUBSCRIBERS;
	subscriber = function;
	subscriber_user = user;
	*handle = &subscriber;
	return 0;
}

EXPORT int cuptiUnsubscribe(void *handle);
EXPORT int cuptiUnsubscribe(void *handle)
{
	(void)handle;
	subscriber = NULL;
	memset(callbacks, 0, sizeof(callbacks));
	return 0;
}

EXPORT int cuptiEnableCallback(uint32_t enable, void *handle, uint32_t domain, uint32_t id);
EXPORT int cuptiEnableCallback(uint32_t enable, void *handle, uint32_t domain, uint32_t id)
{
	(void)handle;
	callbacks[domain][id] = enable;
	return 0;
}

EXPORT int cuptiGetCallbackName(uint32_t domain, uint32_t id, const char **name);
EXPORT int cuptiGetCallbackName(uint32_t domain, uint32_t id, const char **name)
{
	static const struct {
		uint32_t domain, id;
		const char *name;
	} names[] = {
		{ RUNTIME, 211, "cudaLaunchKernel_v7000" },
		{ RUNTIME, 311, "cudaGraphLaunch_v10000" },
		{ RUNTIME, 41, "cudaMemcpyAsync_v3020" },
		{ RUNTIME, 51, "cudaMemsetAsync_v3020" },
		{ RUNTIME, 131, "cudaStreamSynchronize_v3020" },
		{ RUNTIME, 20, "cudaMalloc_v3020" },
		{ DRIVER, 307, "cuLaunchKernel" },
		{ DRIVER, 514, "cuGraphLaunch" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].domain == domain && names[i].id == id) {
			*name = names[i].name;
			return 0;
		}
	return 1;
}

EXPORT int cuptiGetResultString(int result, const char **text);
EXPORT int cuptiGetResultString(int result, const char **text)
{
	*text = result == INVALID_KIND ? "CUPTI_ERROR_INVALID_KIND" : "CUPTI_ERROR_UNKNOWN";
	return 0;
}
