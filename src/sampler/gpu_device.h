/* One GPU, or a slice of one (MIG), and what it did between two readings: nvidia-smi dmon's columns. Utilisation and power come
 * from the driver's own buffer of samples where it has one, so that a burst between two readings is not lost.
 */
#ifndef STRATA_SAMPLER_GPU_DEVICE_H
#define STRATA_SAMPLER_GPU_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "sampler/nvml.h"

#define GPU_UNKNOWN UINT64_MAX

/* What the driver keeps samples of. BUFFER(name, kind) */
#define GPU_BUFFERS(BUFFER)               \
	BUFFER(sm, NVML_SM_SAMPLES)       \
	BUFFER(mem, NVML_MEMORY_SAMPLES)  \
	BUFFER(enc, NVML_ENCODER_SAMPLES) \
	BUFFER(dec, NVML_DECODER_SAMPLES) \
	BUFFER(jpg, NVML_JPEG_SAMPLES)    \
	BUFFER(ofa, NVML_OFA_SAMPLES)     \
	BUFFER(power, NVML_POWER_SAMPLES)

enum gpu_buffer {
#define GPU_BUFFER(name, kind) GPU_BUFFER_##name,
	GPU_BUFFERS(GPU_BUFFER)
#undef GPU_BUFFER
		GPU_BUFFER_COUNT
};

struct gpu_device {
	nvml_device handle;
	unsigned gpu;
	int mig; /* the slice's number; -1: a whole device */
	bool sliced;
	char uuid[NVML_UUID_SIZE];
	uint64_t ts;				   /* of the last reading */
	unsigned long long seen[GPU_BUFFER_COUNT]; /* time of the last sample taken */
	uint64_t pcie_sent, pcie_received;	   /* the counters; GPU_UNKNOWN: it has none */
	unsigned long long processes_seen;
};

/* Reals are NaN, numbers GPU_UNKNOWN where the device does not tell. */
struct gpu_reading {
	uint64_t ts, dur;
	double sm, sm_max, mem, enc, dec, jpg, ofa, power, temperature;
	uint64_t fb_used, fb_total, sm_clock, mem_clock, pcie_rx, pcie_tx, throttle;
};

/* Adds all devices, and the slices of those that are cut into some, to `devices`, an array of struct gpu_device. */
int gpu_devices_find(const struct nvml *nvml, struct buf *devices, struct error *e);

/* The reading that the first interval begins with. spare: memory for samples, kept by the caller. */
void gpu_device_start(const struct nvml *nvml, struct gpu_device *device, struct buf *spare);

/* What happened since the last reading. */
void gpu_device_read(const struct nvml *nvml, struct gpu_device *device, struct buf *spare,
		     struct gpu_reading *reading);

#endif
