/* The processes on one GPU, or a slice of one: nvidia-smi pmon's columns. */
#ifndef STRATA_SAMPLER_GPU_PROCESS_H
#define STRATA_SAMPLER_GPU_PROCESS_H

#include "base/buf.h"
#include "sampler/gpu_device.h"

struct gpu_process {
	uint64_t ts;
	unsigned gpu;
	int mig; /* -1: a whole device */
	unsigned pid;
	bool computes, draws, shares;	    /* C, G, and C through the MPS server */
	double sm, mem, enc, dec, jpg, ofa; /* NaN: not known */
	unsigned uses; /* samples that these are sums of, until they are means */
	uint64_t fb;   /* bytes; GPU_UNKNOWN */
	char command[64];
};

/* Adds what the driver tells of the device's processes since the last time to `processes`, an array of struct gpu_process. The lists
 * hold a lock of the driver: ask rarely. Returns the driver's word about utilisation: NVML_SUCCESS, or why there is none. */
int gpu_processes_read(const struct nvml *nvml, struct gpu_device *device, struct buf *spare,
		       struct buf *processes);

/* "C", "G", "C+G", "M+C"; empty: it was there, but is in no list any more. */
const char *gpu_process_type(const struct gpu_process *process);

#endif
