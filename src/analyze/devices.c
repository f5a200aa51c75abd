#include "analyze/devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells.h"

int devices_open(struct devices *devices, struct context *context)
{
	*devices = (struct devices){ .context = context };
	return 0;
}

static struct device *device_of(struct devices *devices, const struct rows *rows)
{
	uint32_t number;
	size_t size;
	const char *name = rows_text(rows, column_block_dev, &size);

	if (strings_add(&devices->names, name ? name : "?", name ? size : 1, &number))
		return NULL;
	if (number * sizeof(struct device) == devices->memory.size &&
	    buf_append_zeros(&devices->memory, sizeof(struct device)))
		return NULL;
	return (struct device *)devices->memory.data + number;
}

static int devices_take(void *state, const struct rows *rows)
{
	struct devices *devices = state;
	uint64_t bytes = cell_known(rows_cell(rows, column_block_bytes)), latency;
	int64_t dur = rows_cell(rows, column_block_dur),
		error = rows_cell(rows, column_block_error);
	int op = rows_name(rows, column_block_op);
	struct device *device;

	if (!context_inside(devices->context, (uint64_t)rows_cell(rows, column_block_ts)))
		return 0;
	device = device_of(devices, rows);
	if (!device)
		return -ENOMEM;
	device->errors += error != CELL_NULL && error < 0;
	if (op != BLOCK_OP_R && op != BLOCK_OP_W) {
		device->others++;
		return 0;
	}
	if (rows_cell(rows, column_block_file) != CELL_NULL)
		device->file_bytes += bytes;
	if (context_in_job(devices->context,
			   procs_find(devices->context->procs, rows_cell(rows, column_block_pid),
				      (uint64_t)rows_cell(rows, column_block_ts))))
		device->job_bytes += bytes;
	latency = cell_known(rows_cell(rows, column_block_queued)) + cell_known(dur);
	if (op == BLOCK_OP_R) {
		device->read_bytes += bytes;
		if (rows_cell(rows, column_block_ahead) == 1)
			device->ahead_bytes += bytes;
	} else {
		device->write_bytes += bytes;
	}
	/* A request whose end was not seen has no latency. */
	if (dur != CELL_NULL &&
	    hist_add(op == BLOCK_OP_R ? &device->read : &device->write, latency))
		return -ENOMEM;
	return hist_add(op == BLOCK_OP_R ? &device->read_size : &device->write_size, bytes);
}

struct scan_sink devices_sink(struct devices *devices)
{
	return (struct scan_sink){
		.table = TABLE_block,
		.columns = SCAN_COLUMN(block, ts) | SCAN_COLUMN(block, dur) |
			   SCAN_COLUMN(block, queued) | SCAN_COLUMN(block, pid) |
			   SCAN_COLUMN(block, dev) | SCAN_COLUMN(block, op) |
			   SCAN_COLUMN(block, bytes) | SCAN_COLUMN(block, ahead) |
			   SCAN_COLUMN(block, file) | SCAN_COLUMN(block, error),
		.take = devices_take,
		.state = devices,
	};
}

static int compare_devices(const void *a, const void *b)
{
	const struct device *left = a, *right = b;
	uint64_t more = left->read_bytes + left->write_bytes;
	uint64_t less = right->read_bytes + right->write_bytes;

	return more > less ? -1 : more < less;
}

void devices_finish(struct devices *devices)
{
	devices->list = (struct device *)devices->memory.data;
	devices->count = devices->memory.size / sizeof(struct device);
	for (size_t i = 0; i < devices->count; i++)
		devices->list[i].name =
			strings_get(&devices->names, (uint32_t)i, &devices->list[i].name_size);
	if (devices->count)
		qsort(devices->list, devices->count, sizeof(struct device), compare_devices);
	while (devices->moving < devices->count && (devices->list[devices->moving].read_bytes ||
						    devices->list[devices->moving].write_bytes))
		devices->moving++;
}

void devices_free(struct devices *devices)
{
	struct device *list = (struct device *)devices->memory.data;

	for (size_t i = 0; i < devices->memory.size / sizeof(*list); i++) {
		hist_free(&list[i].read);
		hist_free(&list[i].write);
		hist_free(&list[i].read_size);
		hist_free(&list[i].write_size);
	}
	strings_free(&devices->names);
	buf_free(&devices->memory);
	*devices = (struct devices){ 0 };
}
