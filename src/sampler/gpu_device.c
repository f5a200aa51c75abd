#include "sampler/gpu_device.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"

#define MOST_SAMPLES 4096

/* ---- finding ---- */

static int add_device(const struct nvml *nvml, struct buf *devices, nvml_device handle,
		      unsigned gpu, int mig)
{
	struct gpu_device device = { .handle = handle, .gpu = gpu, .mig = mig };
	unsigned current = 0, pending;

	if (!nvml->uuid || nvml->uuid(handle, device.uuid, sizeof(device.uuid)))
		device.uuid[0] = '\0';
	device.uuid[sizeof(device.uuid) - 1] = '\0';
	device.sliced =
		mig < 0 && nvml->mig_mode && !nvml->mig_mode(handle, &current, &pending) && current;
	return buf_append(devices, &device, sizeof(device));
}

static int add_slices(const struct nvml *nvml, struct buf *devices, nvml_device parent,
		      unsigned gpu)
{
	unsigned most = 0;
	int err = 0;

	if (!nvml->mig_most || !nvml->mig || nvml->mig_most(parent, &most))
		return 0;
	for (unsigned i = 0; i < most && !err; i++) {
		nvml_device slice;

		if (!nvml->mig(parent, i, &slice)) /* else there is none of this number */
			err = add_device(nvml, devices, slice, gpu, (int)i);
	}
	return err;
}

int gpu_devices_find(const struct nvml *nvml, struct buf *devices, struct error *e)
{
	unsigned count = 0;
	int result = nvml->device_count(&count), err = 0;

	if (result)
		return error_set(e, -EIO, "NVML does not tell how many GPUs there are: %s",
				 nvml_text(nvml, result));
	for (unsigned i = 0; i < count && !err; i++) {
		nvml_device handle;

		result = nvml->device(i, &handle);
		if (result) /* one that has fallen off the bus, or that the user may not use */
			continue;
		err = add_device(nvml, devices, handle, i, -1);
		if (!err && ((struct gpu_device *)(devices->data + devices->size))[-1].sliced)
			err = add_slices(nvml, devices, handle, i);
	}
	if (err)
		return error_set(e, err, "out of memory");
	if (!devices->size && count)
		return error_set(e, -EACCES, "none of the %u GPUs can be used: %s", count,
				 nvml_text(nvml, result));
	return devices->size ? 0 : error_set(e, -ENODEV, "the NVIDIA driver has no GPU");
}

/* ---- the driver's own samples ---- */

static double sample_value(const struct nvml_sample *sample, unsigned type)
{
	switch (type) {
	case NVML_DOUBLE: return sample->value.real;
	case NVML_UINT: return sample->value.u32;
	case NVML_ULONG:
	case NVML_ULONGLONG: return (double)sample->value.u64;
	default: return NAN;
	}
}

/* The mean of what one buffer has gathered since the last time, and the greatest; NaN: it tells nothing. */
static double take_samples(const struct nvml *nvml, struct gpu_device *device,
			   enum gpu_buffer buffer, struct buf *spare, double *greatest)
{
	static const unsigned kinds[] = {
#define GPU_KIND(name, kind) kind,
		GPU_BUFFERS(GPU_KIND)
#undef GPU_KIND
	};
	unsigned type = 0, count = MOST_SAMPLES;
	struct nvml_sample *samples;
	double sum = 0;
	unsigned used = 0;

	*greatest = NAN;
	samples = buf_reserve(spare, MOST_SAMPLES * sizeof(*samples));
	if (!nvml->samples || !samples ||
	    nvml->samples(device->handle, kinds[buffer], device->seen[buffer], &type, &count,
			  samples))
		return NAN;
	for (unsigned i = 0; i < count && i < MOST_SAMPLES; i++) {
		double value = sample_value(&samples[i], type);

		/* A driver may give what was asked for before once more. */
		if (samples[i].time <= device->seen[buffer] || isnan(value))
			continue;
		sum += value;
		used++;
		*greatest = *greatest >= value ? *greatest : value;
	}
	for (unsigned i = 0; i < count && i < MOST_SAMPLES; i++)
		if (samples[i].time > device->seen[buffer])
			device->seen[buffer] = samples[i].time;
	return used ? sum / used : NAN;
}

/* ---- what holds at this moment ---- */

static double engine_now(int (*ask)(nvml_device, unsigned *, unsigned *), nvml_device handle)
{
	unsigned share, period;

	return ask && !ask(handle, &share, &period) ? share : NAN;
}

static void read_use(const struct nvml *nvml, struct gpu_device *device, struct buf *spare,
		     struct gpu_reading *reading)
{
	struct nvml_utilization now;
	double ignored;
	unsigned milliwatts;

	reading->sm = take_samples(nvml, device, GPU_BUFFER_sm, spare, &reading->sm_max);
	reading->mem = take_samples(nvml, device, GPU_BUFFER_mem, spare, &ignored);
	reading->enc = take_samples(nvml, device, GPU_BUFFER_enc, spare, &ignored);
	reading->dec = take_samples(nvml, device, GPU_BUFFER_dec, spare, &ignored);
	reading->jpg = take_samples(nvml, device, GPU_BUFFER_jpg, spare, &ignored);
	reading->ofa = take_samples(nvml, device, GPU_BUFFER_ofa, spare, &ignored);
	reading->power = take_samples(nvml, device, GPU_BUFFER_power, spare, &ignored) / 1000;
	if ((isnan(reading->sm) || isnan(reading->mem)) && nvml->utilization &&
	    !nvml->utilization(device->handle, &now)) {
		if (isnan(reading->sm))
			reading->sm = now.gpu;
		if (isnan(reading->mem))
			reading->mem = now.memory;
	}
	if (isnan(reading->enc))
		reading->enc = engine_now(nvml->encoder, device->handle);
	if (isnan(reading->dec))
		reading->dec = engine_now(nvml->decoder, device->handle);
	if (isnan(reading->jpg))
		reading->jpg = engine_now(nvml->jpeg, device->handle);
	if (isnan(reading->ofa))
		reading->ofa = engine_now(nvml->ofa, device->handle);
	if (isnan(reading->power) && nvml->power && !nvml->power(device->handle, &milliwatts))
		reading->power = milliwatts / 1000.0;
}

/* As nvidia-smi counts: without what the driver keeps for itself. */
static void read_memory(const struct nvml *nvml, nvml_device handle, struct gpu_reading *reading)
{
	struct nvml_memory_v2 memory = { .version = NVML_VERSION(struct nvml_memory_v2, 2) };
	struct nvml_memory old;

	reading->fb_used = reading->fb_total = GPU_UNKNOWN;
	if (nvml->memory_v2 && !nvml->memory_v2(handle, &memory)) {
		reading->fb_used = memory.used;
		reading->fb_total = memory.total;
	} else if (nvml->memory && !nvml->memory(handle, &old)) {
		reading->fb_used = old.used;
		reading->fb_total = old.total;
	}
}

static uint64_t clock_mhz(const struct nvml *nvml, nvml_device handle, unsigned clock)
{
	unsigned mhz;

	return nvml->clock && !nvml->clock(handle, clock, &mhz) ? mhz : GPU_UNKNOWN;
}

static uint64_t throttle_reasons(const struct nvml *nvml, nvml_device handle)
{
	unsigned long long mask;

	if (nvml->events && !nvml->events(handle, &mask))
		return mask;
	return nvml->throttle && !nvml->throttle(handle, &mask) ? mask : GPU_UNKNOWN;
}

/* ---- PCIe ---- */

static uint64_t counter_of(const struct nvml_field_value *value)
{
	/* One of 32 bits may have gone around more than once. */
	return !value->result && (value->type == NVML_ULONG || value->type == NVML_ULONGLONG)
		       ? value->value.u64
		       : GPU_UNKNOWN;
}

static void read_counters(const struct nvml *nvml, nvml_device handle, uint64_t *sent,
			  uint64_t *received)
{
	struct nvml_field_value values[] = { { .field = NVML_FIELD_PCIE_SENT },
					     { .field = NVML_FIELD_PCIE_RECEIVED } };

	*sent = *received = GPU_UNKNOWN;
	if (nvml->fields && !nvml->fields(handle, 2, values)) {
		*sent = counter_of(&values[0]);
		*received = counter_of(&values[1]);
	}
}

static uint64_t rate(uint64_t before, uint64_t after, uint64_t ns)
{
	if (before == GPU_UNKNOWN || after == GPU_UNKNOWN || after < before || !ns)
		return GPU_UNKNOWN;
	return (uint64_t)((double)(after - before) * 1e9 / (double)ns);
}

/* The driver measures for 20 ms, in which the call does not return. */
static uint64_t throughput(const struct nvml *nvml, nvml_device handle, unsigned direction)
{
	unsigned kilobytes;

	return nvml->pcie && !nvml->pcie(handle, direction, &kilobytes) ? kilobytes * 1000ull
									: GPU_UNKNOWN;
}

static void read_pcie(const struct nvml *nvml, struct gpu_device *device,
		      struct gpu_reading *reading)
{
	uint64_t sent, received;

	read_counters(nvml, device->handle, &sent, &received);
	if (sent == GPU_UNKNOWN || received == GPU_UNKNOWN) {
		reading->pcie_tx = throughput(nvml, device->handle, NVML_PCIE_SENT);
		reading->pcie_rx = throughput(nvml, device->handle, NVML_PCIE_RECEIVED);
	} else {
		reading->pcie_tx = rate(device->pcie_sent, sent, reading->dur);
		reading->pcie_rx = rate(device->pcie_received, received, reading->dur);
	}
	device->pcie_sent = sent;
	device->pcie_received = received;
}

/* ---- readings ---- */

void gpu_device_start(const struct nvml *nvml, struct gpu_device *device, struct buf *spare)
{
	double ignored;

	for (unsigned i = 0; i < GPU_BUFFER_COUNT; i++)
		take_samples(nvml, device, i, spare, &ignored);
	read_counters(nvml, device->handle, &device->pcie_sent, &device->pcie_received);
	device->ts = clock_boot();
}

void gpu_device_read(const struct nvml *nvml, struct gpu_device *device, struct buf *spare,
		     struct gpu_reading *reading)
{
	uint64_t now = clock_boot();
	unsigned degrees;

	reading->ts = device->ts;
	reading->dur = now - device->ts;
	device->ts = now;
	read_use(nvml, device, spare, reading);
	read_memory(nvml, device->handle, reading);
	reading->temperature = nvml->temperature && !nvml->temperature(device->handle, 0, &degrees)
				       ? degrees
				       : NAN;
	reading->sm_clock = clock_mhz(nvml, device->handle, NVML_SM_CLOCK);
	reading->mem_clock = clock_mhz(nvml, device->handle, NVML_MEMORY_CLOCK);
	reading->throttle = throttle_reasons(nvml, device->handle);
	read_pcie(nvml, device, reading);
}
