/* CUPTI, NVIDIA's library that tells what a device did, as far as strata uses it. Nothing of NVIDIA's is needed to build: what is
 * declared here is its published interface. Records grow at their end from version to version, so that a prefix is enough; a
 * test compares these with CUPTI's own headers where they are installed.
 */
#ifndef STRATA_GPU_CUPTI_H
#define STRATA_GPU_CUPTI_H

#include <stddef.h>
#include <stdint.h>

/* Of CUDA 11.6: the first whose time stamps can be of another clock. */
#define CUPTI_LEAST_VERSION 16

enum cupti_kind {
	CUPTI_MEMCPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_CONCURRENT_KERNEL = 10,
	CUPTI_MEMCPY2 = 22, /* between devices */
	CUPTI_SYNCHRONIZATION = 38,
};

enum cupti_memory { CUPTI_PAGEABLE = 1, CUPTI_PINNED = 2 };

/* All of them begin so. */
struct cupti_record {
	uint32_t kind;
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_config;
	uint16_t registers;
	uint32_t partitioned_requested, partitioned_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout_requested, carveout, padding;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t limit_config;
	uint32_t graph;
};

struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind, from, to, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t correlation, runtime_correlation, padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct cupti_memcpy2 {
	uint32_t kind;
	uint8_t copy_kind, from, to, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t from_device, from_context, to_device, to_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct cupti_memset {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory_kind;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct cupti_synchronization {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
};

enum cupti_domain { CUPTI_DRIVER = 1, CUPTI_RUNTIME = 2 };
enum cupti_site { CUPTI_ENTER = 0, CUPTI_EXIT = 1 };

struct cupti_call {
	uint32_t site; /* enum cupti_site */
	const char *function;
	const void *parameters;
	void *returned;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *correlation_data;
	uint32_t correlation;
};

typedef void cupti_request(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid);
typedef void cupti_callback(void *user, uint32_t domain, uint32_t id, const void *data);
typedef uint64_t cupti_clock(void);

/* FUNCTION(name, symbol, arguments): all of them return a CUptiResult, 0 for success. */
#define CUPTI_FUNCTIONS(FUNCTION)                                                                \
	FUNCTION(version, "cuptiGetVersion", (uint32_t *))                                       \
	FUNCTION(set_clock, "cuptiActivityRegisterTimestampCallback", (cupti_clock *))           \
	FUNCTION(register_buffers, "cuptiActivityRegisterCallbacks",                             \
		 (cupti_request *, cupti_complete *))                                            \
	FUNCTION(enable, "cuptiActivityEnable", (uint32_t))                                      \
	FUNCTION(disable, "cuptiActivityDisable", (uint32_t))                                    \
	FUNCTION(flush, "cuptiActivityFlushAll", (uint32_t))                                     \
	FUNCTION(flush_period, "cuptiActivityFlushPeriod", (uint32_t))                           \
	FUNCTION(next_record, "cuptiActivityGetNextRecord",                                      \
		 (uint8_t *, size_t, struct cupti_record **))                                    \
	FUNCTION(dropped, "cuptiActivityGetNumDroppedRecords", (void *, uint32_t, size_t *))     \
	FUNCTION(subscribe, "cuptiSubscribe", (void **, cupti_callback *, void *))               \
	FUNCTION(unsubscribe, "cuptiUnsubscribe", (void *))                                      \
	FUNCTION(enable_callback, "cuptiEnableCallback", (uint32_t, void *, uint32_t, uint32_t)) \
	FUNCTION(callback_name, "cuptiGetCallbackName", (uint32_t, uint32_t, const char **))     \
	FUNCTION(result_text, "cuptiGetResultString", (int, const char **))

struct cupti {
#define CUPTI_MEMBER(name, symbol, arguments) int(*name) arguments;
	CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
};

/* Finds the libcupti that the process has loaded already, else one that it can load: several lie about on such machines, and only that of
 * the process's own CUDA is right. Returns NULL, or why there is none, in `text` of `size` bytes. */
const char *cupti_load(struct cupti *cupti, char *text, size_t size);

/* The functions of CUPTI itself, not strata's that have their names; NULL: there is no such. */
void *cupti_own_function(const char *symbol);

#endif
