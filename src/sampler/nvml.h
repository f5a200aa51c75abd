/* NVIDIA's management library, as far as strata asks it. It comes with the driver and is loaded when it is used; nothing of
 * it is needed to build. What is declared here is its published interface: names, numbers and layouts are NVML's.
 *
 * A function that a driver is too old to have is NULL; callers treat it as one that answers "not supported".
 */
#ifndef STRATA_SAMPLER_NVML_H
#define STRATA_SAMPLER_NVML_H

#include <stdint.h>

#include "base/error.h"

/* nvmlReturn_t */
#define NVML_SUCCESS		     0
#define NVML_ERROR_NOT_SUPPORTED     3
#define NVML_ERROR_NO_PERMISSION     4
#define NVML_ERROR_NOT_FOUND	     6
#define NVML_ERROR_INSUFFICIENT_SIZE 7
#define NVML_ERROR_DRIVER_NOT_LOADED 9

#define NVML_UUID_SIZE	   96
#define NVML_NOT_AVAILABLE UINT64_MAX /* of a process's memory */

/* A struct that says how large it is and which version of it. */
#define NVML_VERSION(type, version) ((unsigned)sizeof(type) | (unsigned)(version) << 24)

typedef struct nvml_device_opaque *nvml_device;

enum nvml_sampling {
	NVML_POWER_SAMPLES = 0,
	NVML_SM_SAMPLES = 1,
	NVML_MEMORY_SAMPLES = 2,
	NVML_ENCODER_SAMPLES = 3,
	NVML_DECODER_SAMPLES = 4,
	NVML_JPEG_SAMPLES = 8,
	NVML_OFA_SAMPLES = 9,
};

enum nvml_value_type {
	NVML_DOUBLE = 0,
	NVML_UINT = 1,
	NVML_ULONG = 2,
	NVML_ULONGLONG = 3,
};

union nvml_value {
	double real;
	unsigned int u32;
	unsigned long long u64;
};

struct nvml_sample {
	unsigned long long time; /* microseconds */
	union nvml_value value;
};

struct nvml_utilization {
	unsigned int gpu, memory;
};

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

enum nvml_clock { NVML_SM_CLOCK = 1, NVML_MEMORY_CLOCK = 2 };
enum nvml_pcie { NVML_PCIE_SENT = 0, NVML_PCIE_RECEIVED = 1 };
enum nvml_field { NVML_FIELD_PCIE_SENT = 197, NVML_FIELD_PCIE_RECEIVED = 198 };

struct nvml_field_value {
	unsigned int field, scope;
	long long time, latency;
	unsigned int type; /* enum nvml_value_type */
	int result;
	union nvml_value value;
};

/* nvmlProcessInfo_v2_t, of which both the _v2 and the _v3 functions give a list. */
struct nvml_process {
	unsigned int pid;
	unsigned long long memory;
	unsigned int gpu_instance, compute_instance;
};

struct nvml_process_use {
	unsigned int pid;
	unsigned long long time;
	unsigned int sm, mem, enc, dec;
};

struct nvml_process_use_v1 {
	unsigned long long time;
	unsigned int pid, sm, mem, enc, dec, jpg, ofa;
};

struct nvml_process_uses {
	unsigned int version, count;
	unsigned long long since;
	struct nvml_process_use_v1 *uses;
};

_Static_assert(sizeof(struct nvml_sample) == 16, "nvmlSample_t");
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct nvml_field_value) == 40, "nvmlFieldValue_t");
_Static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_v2_t");
_Static_assert(sizeof(struct nvml_process_use) == 32, "nvmlProcessUtilizationSample_t");
_Static_assert(sizeof(struct nvml_process_use_v1) == 40, "nvmlProcessUtilizationInfo_v1_t");
_Static_assert(sizeof(struct nvml_process_uses) == 24, "nvmlProcessesUtilizationInfo_v1_t");

/* FUNCTION(name, symbol, arguments): all of them return an nvmlReturn_t. Those that NEEDED lists are in every driver of the
 * last ten years; the others may be missing. */
#define NVML_NEEDED(FUNCTION)                                         \
	FUNCTION(init, "nvmlInit_v2", (void))                         \
	FUNCTION(shutdown, "nvmlShutdown", (void))                    \
	FUNCTION(device_count, "nvmlDeviceGetCount_v2", (unsigned *)) \
	FUNCTION(device, "nvmlDeviceGetHandleByIndex_v2", (unsigned, nvml_device *))

#define NVML_OPTIONAL(FUNCTION)                                                                   \
	FUNCTION(uuid, "nvmlDeviceGetUUID", (nvml_device, char *, unsigned))                      \
	FUNCTION(samples, "nvmlDeviceGetSamples",                                                 \
		 (nvml_device, unsigned, unsigned long long, unsigned *, unsigned *,              \
		  struct nvml_sample *))                                                          \
	FUNCTION(utilization, "nvmlDeviceGetUtilizationRates",                                    \
		 (nvml_device, struct nvml_utilization *))                                        \
	FUNCTION(encoder, "nvmlDeviceGetEncoderUtilization",                                      \
		 (nvml_device, unsigned *, unsigned *))                                           \
	FUNCTION(decoder, "nvmlDeviceGetDecoderUtilization",                                      \
		 (nvml_device, unsigned *, unsigned *))                                           \
	FUNCTION(jpeg, "nvmlDeviceGetJpgUtilization", (nvml_device, unsigned *, unsigned *))      \
	FUNCTION(ofa, "nvmlDeviceGetOfaUtilization", (nvml_device, unsigned *, unsigned *))       \
	FUNCTION(memory, "nvmlDeviceGetMemoryInfo", (nvml_device, struct nvml_memory *))          \
	FUNCTION(memory_v2, "nvmlDeviceGetMemoryInfo_v2", (nvml_device, struct nvml_memory_v2 *)) \
	FUNCTION(power, "nvmlDeviceGetPowerUsage", (nvml_device, unsigned *))                     \
	FUNCTION(temperature, "nvmlDeviceGetTemperature", (nvml_device, unsigned, unsigned *))    \
	FUNCTION(clock, "nvmlDeviceGetClockInfo", (nvml_device, unsigned, unsigned *))            \
	FUNCTION(pcie, "nvmlDeviceGetPcieThroughput", (nvml_device, unsigned, unsigned *))        \
	FUNCTION(fields, "nvmlDeviceGetFieldValues",                                              \
		 (nvml_device, int, struct nvml_field_value *))                                   \
	FUNCTION(events, "nvmlDeviceGetCurrentClocksEventReasons",                                \
		 (nvml_device, unsigned long long *))                                             \
	FUNCTION(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons",                           \
		 (nvml_device, unsigned long long *))                                             \
	FUNCTION(mig_mode, "nvmlDeviceGetMigMode", (nvml_device, unsigned *, unsigned *))         \
	FUNCTION(mig_most, "nvmlDeviceGetMaxMigDeviceCount", (nvml_device, unsigned *))           \
	FUNCTION(mig, "nvmlDeviceGetMigDeviceHandleByIndex",                                      \
		 (nvml_device, unsigned, nvml_device *))                                          \
	FUNCTION(compute_v3, "nvmlDeviceGetComputeRunningProcesses_v3",                           \
		 (nvml_device, unsigned *, struct nvml_process *))                                \
	FUNCTION(compute_v2, "nvmlDeviceGetComputeRunningProcesses_v2",                           \
		 (nvml_device, unsigned *, struct nvml_process *))                                \
	FUNCTION(graphics_v3, "nvmlDeviceGetGraphicsRunningProcesses_v3",                         \
		 (nvml_device, unsigned *, struct nvml_process *))                                \
	FUNCTION(graphics_v2, "nvmlDeviceGetGraphicsRunningProcesses_v2",                         \
		 (nvml_device, unsigned *, struct nvml_process *))                                \
	FUNCTION(mps_v3, "nvmlDeviceGetMPSComputeRunningProcesses_v3",                            \
		 (nvml_device, unsigned *, struct nvml_process *))                                \
	FUNCTION(process_uses, "nvmlDeviceGetProcessesUtilizationInfo",                           \
		 (nvml_device, struct nvml_process_uses *))                                       \
	FUNCTION(process_use, "nvmlDeviceGetProcessUtilization",                                  \
		 (nvml_device, struct nvml_process_use *, unsigned *, unsigned long long))        \
	FUNCTION(process_name, "nvmlSystemGetProcessName", (unsigned, char *, unsigned))

struct nvml {
	void *library; /* NULL: not loaded */
#define NVML_MEMBER(name, symbol, arguments) int(*name) arguments;
	NVML_NEEDED(NVML_MEMBER)
	NVML_OPTIONAL(NVML_MEMBER)
#undef NVML_MEMBER
	const char *(*error_string)(int result);
};

/* Loads it: $STRATA_NVML, a file, else libnvidia-ml.so.1 as the dynamic loader finds it. The variable is not asked where strata has
 * rights that its caller lacks. -ENODEV: there is no driver here, and so no GPU. */
int nvml_open(struct nvml *nvml, struct error *e);
void nvml_close(struct nvml *nvml);

/* What a result means, in NVML's words. */
const char *nvml_text(const struct nvml *nvml, int result);

#endif
