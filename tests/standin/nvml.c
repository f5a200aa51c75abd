/* A stand-in for NVIDIA's libnvidia-ml.so.1, for machines without a GPU: two devices that do the same all the time, in numbers that a
 * test knows. $STANDIN_NVML, words with commas between, makes it refuse:
 *
 *     no-driver      the library is there, the driver is not
 *     no-permission  /dev/nvidia* cannot be opened
 *     no-gpu         a driver without a device
 *     no-use         who uses a device how much is told to root only
 *     old            an old driver: no sample buffers, no newer functions
 *     mig            device 1 is cut into two slices
 *     slow           each rate of PCIe takes 300 ms
 *     hung           the driver does not come back from the second reading on
 *
 * $STANDIN_PID is the process that is on device 0. Declares by itself what it answers, so that strata's own declarations are
 * not compared with themselves.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	SUCCESS = 0,
	NOT_SUPPORTED = 3,
	NO_PERMISSION = 4,
	NOT_FOUND = 6,
	DRIVER_NOT_LOADED = 9,
};

#define EXPORT	  __attribute__((visibility("default")))
#define SAMPLE_US 50000 /* between two samples of a buffer */
#define DEVICES	  2
#define GIB	  (1ull << 30)

typedef struct standin_device {
	int number, slice;
} * device_t;

static struct standin_device devices[] = { { 0, -1 }, { 1, -1 }, { 1, 0 }, { 1, 2 } };

static bool told_to(const char *word)
{
	const char *words = getenv("STANDIN_NVML");
	const char *found = words ? strstr(words, word) : NULL;
	size_t size = strlen(word);

	return found && (found == words || found[-1] == ',') &&
	       (!found[size] || found[size] == ',');
}

static unsigned long long now_us(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_usec;
}

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void)
{
	if (told_to("no-driver"))
		return DRIVER_NOT_LOADED;
	return told_to("no-permission") ? NO_PERMISSION : SUCCESS;
}

EXPORT int nvmlShutdown(void);
EXPORT int nvmlShutdown(void)
{
	return SUCCESS;
}

EXPORT const char *nvmlErrorString(int result);
EXPORT const char *nvmlErrorString(int result)
{
	return result == NO_PERMISSION ? "Insufficient Permissions" : "Unknown Error";
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
EXPORT int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = told_to("no-gpu") ? 0 : DEVICES;
	return SUCCESS;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t *device);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t *device)
{
	*device = &devices[index];
	return SUCCESS;
}

EXPORT int nvmlDeviceGetUUID(device_t device, char *uuid, unsigned size);
EXPORT int nvmlDeviceGetUUID(device_t device, char *uuid, unsigned size)
{
	if (device->slice < 0)
		snprintf(uuid, size, "GPU-00000000-0000-0000-0000-00000000000%d", device->number);
	else
		snprintf(uuid, size, "MIG-00000000-0000-0000-0000-0000000000%d%d", device->number,
			 device->slice);
	return SUCCESS;
}

/* ---- slices ---- */

EXPORT int nvmlDeviceGetMigMode(device_t device, unsigned *current, unsigned *pending);
EXPORT int nvmlDeviceGetMigMode(device_t device, unsigned *current, unsigned *pending)
{
	if (device->number != 1)
		return NOT_SUPPORTED;
	*current = *pending = told_to("mig");
	return SUCCESS;
}

EXPORT int nvmlDeviceGetMaxMigDeviceCount(device_t device, unsigned *count);
EXPORT int nvmlDeviceGetMaxMigDeviceCount(device_t device, unsigned *count)
{
	(void)device;
	*count = 7;
	return SUCCESS;
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(device_t device, unsigned index, device_t *slice);
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(device_t device, unsigned index, device_t *slice)
{
	(void)device;
	if (index != 0 && index != 2)
		return NOT_FOUND;
	*slice = &devices[index == 0 ? 2 : 3];
	return SUCCESS;
}

static bool sliced(device_t device)
{
	return device->number == 1 && told_to("mig");
}

/* ---- what a device does: bursts of 100 % and pauses, half of the time each ---- */

struct sample {
	unsigned long long time;
	union {
		double real;
		unsigned u32;
		unsigned long long u64;
	} value;
};

/* Which kinds of sample there are, and the two values that they alternate between. */
static bool values_of(unsigned kind, unsigned out[2])
{
	static const struct {
		unsigned kind, values[2];
	} kinds[] = { { 0, { 300000, 500000 } },
		      { 1, { 0, 100 } },
		      { 2, { 10, 30 } },
		      { 3, { 1, 3 } },
		      { 4, { 4, 6 } } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].kind == kind) {
			memcpy(out, kinds[i].values, sizeof(kinds[i].values));
			return true;
		}
	return false;
}

EXPORT int nvmlDeviceGetSamples(device_t device, unsigned kind, unsigned long long since,
				unsigned *type, unsigned *count, struct sample *samples);
EXPORT int nvmlDeviceGetSamples(device_t device, unsigned kind, unsigned long long since,
				unsigned *type, unsigned *count, struct sample *samples)
{
	unsigned long long last = now_us() / SAMPLE_US, first = since / SAMPLE_US + 1;
	unsigned values[2], used = 0;

	if (told_to("old") || sliced(device) || !values_of(kind, values))
		return NOT_SUPPORTED;
	if (last > 40 && first < last - 40) /* no more are kept */
		first = last - 40;
	first &= ~1ull; /* pairs only, so that every mean is the same */
	for (unsigned long long at = first; at + 1 <= last && used + 2 <= *count; at += 2)
		for (unsigned i = 0; i < 2; i++) {
			samples[used].time = (at + i) * SAMPLE_US + 1;
			samples[used].value.u64 =
				0xdeadbeef00000000ull; /* only half is the value's */
			samples[used++].value.u32 = values[i];
		}
	*type = 1;
	*count = used;
	return used ? SUCCESS : NOT_FOUND;
}

struct rates {
	unsigned gpu, memory;
};

EXPORT int nvmlDeviceGetUtilizationRates(device_t device, struct rates *rates);
EXPORT int nvmlDeviceGetUtilizationRates(device_t device, struct rates *rates)
{
	if (sliced(device))
		return NOT_SUPPORTED;
	*rates = (struct rates){ 77, 33 };
	return SUCCESS;
}

#define ENGINE(name, percent)                                                \
	EXPORT int name(device_t device, unsigned *share, unsigned *period); \
	EXPORT int name(device_t device, unsigned *share, unsigned *period)  \
	{                                                                    \
		*share = percent;                                            \
		*period = 166667;                                            \
		return sliced(device) ? NOT_SUPPORTED : SUCCESS;             \
	}

ENGINE(nvmlDeviceGetEncoderUtilization, 11)
ENGINE(nvmlDeviceGetDecoderUtilization, 12)
ENGINE(nvmlDeviceGetJpgUtilization, 13)
ENGINE(nvmlDeviceGetOfaUtilization, 14)

struct memory {
	unsigned long long total, free, used;
};

struct memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

EXPORT int nvmlDeviceGetMemoryInfo(device_t device, struct memory *memory);
EXPORT int nvmlDeviceGetMemoryInfo(device_t device, struct memory *memory)
{
	(void)device;
	*memory = (struct memory){ 80 * GIB, 69 * GIB, 11 * GIB }; /* with what is reserved */
	return SUCCESS;
}

EXPORT int nvmlDeviceGetMemoryInfo_v2(device_t device, struct memory_v2 *memory);
EXPORT int nvmlDeviceGetMemoryInfo_v2(device_t device, struct memory_v2 *memory)
{
	if (told_to("old"))
		return NOT_SUPPORTED;
	if (memory->version != (sizeof(*memory) | 2u << 24))
		return 25; /* NVML_ERROR_ARGUMENT_VERSION_MISMATCH */
	*memory = (struct memory_v2){ memory->version, 80 * GIB, GIB, 69 * GIB, 10 * GIB };
	if (device->slice >= 0)
		*memory = (struct memory_v2){ memory->version, 20 * GIB, 0, 18 * GIB, 2 * GIB };
	return SUCCESS;
}

EXPORT int nvmlDeviceGetPowerUsage(device_t device, unsigned *milliwatts);
EXPORT int nvmlDeviceGetPowerUsage(device_t device, unsigned *milliwatts)
{
	*milliwatts = 123456;
	return device->slice >= 0 ? NOT_SUPPORTED : SUCCESS;
}

EXPORT int nvmlDeviceGetTemperature(device_t device, unsigned sensor, unsigned *degrees);
EXPORT int nvmlDeviceGetTemperature(device_t device, unsigned sensor, unsigned *degrees)
{
	*degrees = 41;
	return sensor || device->slice >= 0 ? NOT_SUPPORTED : SUCCESS;
}

EXPORT int nvmlDeviceGetClockInfo(device_t device, unsigned clock, unsigned *mhz);
EXPORT int nvmlDeviceGetClockInfo(device_t device, unsigned clock, unsigned *mhz)
{
	*mhz = clock == 1 ? 1980 : clock == 2 ? 2619 : 1;
	return device->slice >= 0 ? NOT_SUPPORTED : SUCCESS;
}

/* ---- PCIe: 3 MB/s sent, 5 MB/s received by the counters; other numbers by the rate ---- */

struct field_value {
	unsigned field, scope;
	long long time, latency;
	unsigned type;
	int result;
	union {
		double real;
		unsigned long long u64;
	} value;
};

EXPORT int nvmlDeviceGetFieldValues(device_t device, int count, struct field_value *values);
EXPORT int nvmlDeviceGetFieldValues(device_t device, int count, struct field_value *values)
{
	if (told_to("old"))
		return NOT_SUPPORTED;
	if (told_to("hung") && device->number == 0) {
		static int calls;

		while (++calls > 2)
			pause();
	}
	for (int i = 0; i < count; i++) {
		values[i].type = 3;
		values[i].result = device->slice >= 0 ? NOT_SUPPORTED : SUCCESS;
		values[i].value.u64 = now_us() * (values[i].field == 197 ? 3 : 5);
	}
	return SUCCESS;
}

EXPORT int nvmlDeviceGetPcieThroughput(device_t device, unsigned counter, unsigned *kilobytes);
EXPORT int nvmlDeviceGetPcieThroughput(device_t device, unsigned counter, unsigned *kilobytes)
{
	if (told_to("slow"))
		usleep(300000);
	*kilobytes = counter == 0 ? 700 : 900;
	return device->slice >= 0 ? NOT_SUPPORTED : SUCCESS;
}

EXPORT int nvmlDeviceGetCurrentClocksEventReasons(device_t device, unsigned long long *mask);
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(device_t device, unsigned long long *mask)
{
	*mask = 0x4; /* the power limit */
	return device->slice >= 0 || told_to("old") ? NOT_SUPPORTED : SUCCESS;
}

EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(device_t device, unsigned long long *mask);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(device_t device, unsigned long long *mask)
{
	*mask = 0x1; /* idle */
	return device->slice >= 0 ? NOT_SUPPORTED : SUCCESS;
}

/* ---- processes ---- */

struct process {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
};

static unsigned known_pid(void)
{
	const char *pid = getenv("STANDIN_PID");

	return pid ? (unsigned)atoi(pid) : 1;
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(device_t device, unsigned *count,
						   struct process *list);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(device_t device, unsigned *count,
						   struct process *list)
{
	bool there = device->number == 0 || device->slice == 2;

	if (there)
		list[0] = (struct process){ known_pid(), 3 * GIB, ~0u, ~0u };
	*count = there;
	return SUCCESS;
}

EXPORT int nvmlDeviceGetGraphicsRunningProcesses_v3(device_t device, unsigned *count,
						    struct process *list);
EXPORT int nvmlDeviceGetGraphicsRunningProcesses_v3(device_t device, unsigned *count,
						    struct process *list)
{
	*count = 0;
	if (device->number == 0) {
		list[0] = (struct process){ known_pid(), 3 * GIB, ~0u, ~0u };
		list[1] = (struct process){ 1, ~0ull, ~0u, ~0u }; /* its memory is not known */
		*count = 2;
	}
	return SUCCESS;
}

struct use {
	unsigned pid;
	unsigned long long time;
	unsigned sm, mem, enc, dec;
};

struct use_v1 {
	unsigned long long time;
	unsigned pid, sm, mem, enc, dec, jpg, ofa;
};

struct uses {
	unsigned version, count;
	unsigned long long since;
	struct use_v1 *uses;
};

static int use_refused(device_t device)
{
	if (told_to("no-use"))
		return NO_PERMISSION;
	return sliced(device) ? NOT_SUPPORTED : device->number ? NOT_FOUND : SUCCESS;
}

EXPORT int nvmlDeviceGetProcessesUtilizationInfo(device_t device, struct uses *asked);
EXPORT int nvmlDeviceGetProcessesUtilizationInfo(device_t device, struct uses *asked)
{
	unsigned long long now = now_us();

	if (told_to("old"))
		return NOT_SUPPORTED;
	if (asked->version != (sizeof(*asked) | 1u << 24))
		return 25;
	asked->uses[0] = (struct use_v1){ now - 1, known_pid(), 20, 10, 1, 2, 3, 4 };
	asked->uses[1] = (struct use_v1){ now, known_pid(), 40, 20, 3, 4, 5, 6 };
	asked->count = 2;
	return use_refused(device);
}

EXPORT int nvmlDeviceGetProcessUtilization(device_t device, struct use *uses, unsigned *count,
					   unsigned long long since);
EXPORT int nvmlDeviceGetProcessUtilization(device_t device, struct use *uses, unsigned *count,
					   unsigned long long since)
{
	(void)since;
	uses[0] = (struct use){ known_pid(), now_us(), 50, 25, 5, 6 };
	*count = 1;
	return use_refused(device);
}

EXPORT int nvmlSystemGetProcessName(unsigned pid, char *name, unsigned size);
EXPORT int nvmlSystemGetProcessName(unsigned pid, char *name, unsigned size)
{
	if (pid == 1)
		return NOT_FOUND;
	snprintf(name, size, "/opt/venv/bin/python");
	return SUCCESS;
}
