/* The layer gpu: what each NVIDIA GPU and its processes did in the interval, from NVML.
 *
 * A driver may take its time, some 20 ms for the rate of PCIe alone, and more while it is busy. So a thread of its own asks,
 * whenever the session's thread says so; that one takes the rows at its next sample, an interval later. Processes are asked for
 * every few seconds only, as the driver holds a lock for it that the job's own calls may need.
 */
#include "sampler/sampler.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sampler/gpu_device.h"
#include "sampler/gpu_process.h"
#include "schema/layers.h"

#define PROCESSES_EVERY 5000000000ull /* ns */
#define LAST_WAIT	2	      /* seconds that a driver has for the last reading */

struct gpu_row {
	unsigned gpu;
	int mig;
	char uuid[NVML_UUID_SIZE];
	struct gpu_reading reading;
};

enum gpu_wish { NOTHING, BEGIN, READ, READ_ALL, END };

struct gpu_sampling {
	struct nvml nvml;
	struct buf devices; /* struct gpu_device; the thread's, once it runs */
	struct buf spare;
	int processes_result; /* what the driver said to who uses the device */

	pthread_t thread;
	bool running;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	enum gpu_wish wish; /* NOTHING: the thread is idle, or at it */
	bool busy;
	struct buf rows, processes; /* struct gpu_row, struct gpu_process: read, not yet taken */
};

/* ---- the thread that asks ---- */

static size_t device_count(const struct gpu_sampling *state)
{
	return state->devices.size / sizeof(struct gpu_device);
}

/* Readings into buffers of the thread's own: the driver is never waited for with the lock held. */
static void read_devices(struct gpu_sampling *state, struct buf *rows)
{
	struct gpu_device *devices = (struct gpu_device *)state->devices.data;

	for (size_t i = 0; i < device_count(state); i++) {
		struct gpu_row row = { .gpu = devices[i].gpu, .mig = devices[i].mig };

		memcpy(row.uuid, devices[i].uuid, sizeof(row.uuid));
		gpu_device_read(&state->nvml, &devices[i], &state->spare, &row.reading);
		if (buf_append(rows, &row, sizeof(row)))
			return;
	}
}

static void read_processes(struct gpu_sampling *state, struct buf *processes)
{
	struct gpu_device *devices = (struct gpu_device *)state->devices.data;

	for (size_t i = 0; i < device_count(state); i++)
		gpu_processes_read(&state->nvml, &devices[i], &state->spare, processes);
}

static void begin_readings(struct gpu_sampling *state)
{
	struct gpu_device *devices = (struct gpu_device *)state->devices.data;
	struct buf past = { 0 };

	for (size_t i = 0; i < device_count(state); i++)
		gpu_device_start(&state->nvml, &devices[i], &state->spare);
	read_processes(state, &past); /* who used it before the recording */
	buf_free(&past);
}

static void move_rows(struct buf *from, struct buf *to)
{
	if (!buf_append(to, from->data, from->size))
		from->size = 0;
}

static void *ask_driver(void *opaque)
{
	struct gpu_sampling *state = opaque;
	struct buf rows = { 0 }, processes = { 0 };
	uint64_t listed = 0;

	pthread_mutex_lock(&state->lock);
	for (;;) {
		enum gpu_wish wish = state->wish;

		if (wish == END)
			break;
		if (wish == NOTHING) {
			state->busy = false;
			pthread_cond_broadcast(&state->changed);
			pthread_cond_wait(&state->changed, &state->lock);
			continue;
		}
		state->wish = NOTHING;
		state->busy = true;
		pthread_mutex_unlock(&state->lock);
		if (wish == BEGIN) {
			begin_readings(state);
		} else {
			read_devices(state, &rows);
			if (wish == READ_ALL || clock_boot() - listed >= PROCESSES_EVERY) {
				listed = clock_boot();
				read_processes(state, &processes);
			}
		}
		pthread_mutex_lock(&state->lock);
		move_rows(&rows, &state->rows);
		move_rows(&processes, &state->processes);
	}
	pthread_mutex_unlock(&state->lock);
	buf_free(&rows);
	buf_free(&processes);
	return NULL;
}

static void wish_for(struct gpu_sampling *state, enum gpu_wish wish)
{
	state->wish = wish;
	pthread_cond_broadcast(&state->changed);
}

/* Waits until all that was wished for is done. False: the driver does not answer. */
static bool wait_for_driver(struct gpu_sampling *state)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LAST_WAIT;
	while ((state->wish != NOTHING || state->busy) && !err)
		err = pthread_cond_timedwait(&state->changed, &state->lock, &until);
	return !err;
}

/* ---- rows ---- */

#define SET_REAL(table, column, value)                                           \
	do {                                                                     \
		if (!isnan(value))                                               \
			builder_set_real(row, column_##table##_##column, value); \
	} while (0)

#define SET_KNOWN(table, column, value)                                                \
	do {                                                                           \
		if ((value) != GPU_UNKNOWN)                                            \
			builder_set(row, column_##table##_##column, (int64_t)(value)); \
	} while (0)

static void add_device_row(struct sink *sink, const struct gpu_row *from)
{
	struct builder *row = sink_table(sink, TABLE_gpu);
	const struct gpu_reading *reading = &from->reading;

	if (!row) {
		sink_drop(sink, TABLE_gpu);
		return;
	}
	builder_set(row, column_gpu_ts, (int64_t)reading->ts);
	builder_set(row, column_gpu_dur, (int64_t)reading->dur);
	builder_set(row, column_gpu_gpu, from->gpu);
	if (from->mig >= 0)
		builder_set(row, column_gpu_mig, from->mig);
	if (*from->uuid)
		builder_set_text(row, column_gpu_uuid, from->uuid, strlen(from->uuid));
	SET_REAL(gpu, sm, reading->sm);
	SET_REAL(gpu, sm_max, reading->sm_max);
	SET_REAL(gpu, mem, reading->mem);
	SET_REAL(gpu, enc, reading->enc);
	SET_REAL(gpu, dec, reading->dec);
	SET_REAL(gpu, jpg, reading->jpg);
	SET_REAL(gpu, ofa, reading->ofa);
	SET_REAL(gpu, power, reading->power);
	SET_REAL(gpu, temperature, reading->temperature);
	SET_KNOWN(gpu, fb_used, reading->fb_used);
	SET_KNOWN(gpu, fb_total, reading->fb_total);
	SET_KNOWN(gpu, sm_clock, reading->sm_clock);
	SET_KNOWN(gpu, mem_clock, reading->mem_clock);
	SET_KNOWN(gpu, pcie_rx, reading->pcie_rx);
	SET_KNOWN(gpu, pcie_tx, reading->pcie_tx);
	SET_KNOWN(gpu, throttle, reading->throttle);
	sink_end_row(sink, TABLE_gpu);
}

static void add_process_row(struct sink *sink, const struct gpu_process *process)
{
	struct builder *row = sink_table(sink, TABLE_gpu_process);
	const char *type = gpu_process_type(process);

	if (!row) {
		sink_drop(sink, TABLE_gpu_process);
		return;
	}
	builder_set(row, column_gpu_process_ts, (int64_t)process->ts);
	builder_set(row, column_gpu_process_gpu, process->gpu);
	if (process->mig >= 0)
		builder_set(row, column_gpu_process_mig, process->mig);
	builder_set(row, column_gpu_process_pid, process->pid);
	if (*type)
		builder_set_text(row, column_gpu_process_type, type, strlen(type));
	SET_REAL(gpu_process, sm, process->sm);
	SET_REAL(gpu_process, mem, process->mem);
	SET_REAL(gpu_process, enc, process->enc);
	SET_REAL(gpu_process, dec, process->dec);
	SET_REAL(gpu_process, jpg, process->jpg);
	SET_REAL(gpu_process, ofa, process->ofa);
	SET_KNOWN(gpu_process, fb, process->fb);
	if (*process->command)
		builder_set_text(row, column_gpu_process_command, process->command,
				 strlen(process->command));
	sink_end_row(sink, TABLE_gpu_process);
}

static void take_rows(struct gpu_sampling *state, struct sink *sink)
{
	const struct gpu_row *rows = (const struct gpu_row *)state->rows.data;
	const struct gpu_process *processes = (const struct gpu_process *)state->processes.data;

	for (size_t i = 0; i < state->rows.size / sizeof(*rows); i++)
		add_device_row(sink, &rows[i]);
	for (size_t i = 0; i < state->processes.size / sizeof(*processes); i++)
		add_process_row(sink, &processes[i]);
	state->rows.size = state->processes.size = 0;
}

/* ---- the sampler ---- */

static void gpu_close(void *opaque)
{
	struct gpu_sampling *state = opaque;

	if (state->running) {
		bool answers;

		pthread_mutex_lock(&state->lock);
		answers = wait_for_driver(state);
		wish_for(state, END);
		pthread_mutex_unlock(&state->lock);
		if (!answers) /* it hangs in the driver, with its memory */
			return;
		pthread_join(state->thread, NULL);
	}
	nvml_close(&state->nvml);
	pthread_mutex_destroy(&state->lock);
	pthread_cond_destroy(&state->changed);
	buf_free(&state->devices);
	buf_free(&state->spare);
	buf_free(&state->rows);
	buf_free(&state->processes);
	free(state);
}

static int gpu_open(void **opaque, struct error *e)
{
	struct gpu_sampling *state = calloc(1, sizeof(*state));
	struct buf past = { 0 };
	int err;

	if (!state)
		return error_set(e, -ENOMEM, "out of memory");
	pthread_mutex_init(&state->lock, NULL);
	pthread_cond_init(&state->changed, NULL);
	err = nvml_open(&state->nvml, e);
	if (!err)
		err = gpu_devices_find(&state->nvml, &state->devices, e);
	if (err) {
		gpu_close(state);
		return err;
	}
	state->processes_result = gpu_processes_read(
		&state->nvml, (struct gpu_device *)state->devices.data, &state->spare, &past);
	buf_free(&past);
	*opaque = state;
	return 0;
}

static const char *gpu_lacks(void *opaque, struct error *e)
{
	struct gpu_sampling *state = opaque;

	if (state->processes_result != NVML_ERROR_NO_PERMISSION)
		return NULL;
	error_set(e, -EACCES, "the driver does not tell this user how much each process uses: %s",
		  nvml_text(&state->nvml, state->processes_result));
	return "gpu_process.sm";
}

static void gpu_start(void *opaque)
{
	struct gpu_sampling *state = opaque;

	state->wish = BEGIN;
	state->running = !pthread_create(&state->thread, NULL, ask_driver, state);
}

static void gpu_sample(void *opaque, struct sink *sink)
{
	struct gpu_sampling *state = opaque;

	if (!state->running)
		return;
	pthread_mutex_lock(&state->lock);
	take_rows(state, sink);
	if (state->wish == NOTHING) /* else the driver is behind: the interval grows */
		wish_for(state, READ);
	pthread_mutex_unlock(&state->lock);
}

static void gpu_finish(void *opaque, struct sink *sink)
{
	struct gpu_sampling *state = opaque;

	if (!state->running)
		return;
	pthread_mutex_lock(&state->lock);
	wait_for_driver(state);
	wish_for(state, READ_ALL);
	wait_for_driver(state);
	take_rows(state, sink);
	pthread_mutex_unlock(&state->lock);
}

const struct sampler gpu_sampler = {
	.name = "gpu",
	.layers = LAYER_BIT(LAYER_gpu),
	.open = gpu_open,
	.lacks = gpu_lacks,
	.start = gpu_start,
	.sample = gpu_sample,
	.finish = gpu_finish,
	.close = gpu_close,
};
