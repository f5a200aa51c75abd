#include "analyze/gpu_work.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells.h"

#define MOST_GPUS 1024 /* a file that says more is not believed */

void gpu_work_open(struct gpu_work *work, struct context *context)
{
	*work = (struct gpu_work){ .context = context };
}

/* ---- taking rows, in order of time ---- */

static enum gpu_work_kind kind_of(const struct rows *rows)
{
	static const struct {
		const char *text;
		enum gpu_work_kind kind;
	} kinds[] = { { "kernel", GPU_WORK_KERNEL },
		      { "copy", GPU_WORK_COPY },
		      { "memset", GPU_WORK_MEMSET },
		      { "wait", GPU_WORK_WAIT } };
	size_t size;
	const char *text = rows_text(rows, column_gpu_op_kind, &size);

	for (size_t i = 0; text && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strlen(kinds[i].text) == size && !memcmp(kinds[i].text, text, size))
			return kinds[i].kind;
	return GPU_WORK_OTHER;
}

/* Adds to the time with something running what this adds to it. Returns where that begins. */
static uint64_t extend(uint64_t *until, uint64_t *sum, uint64_t start, uint64_t end)
{
	uint64_t from = start > *until ? start : *until;

	if (end > from) {
		*sum += end - from;
		*until = end;
	}
	return from;
}

static int take_busy(struct gpu_work *work, enum gpu_work_kind kind, int64_t gpu, uint64_t start,
		     uint64_t end)
{
	struct gpu_busy *device;

	if (gpu < 0 || gpu >= MOST_GPUS)
		return 0;
	device = buf_element(&work->device_list, (size_t)gpu, sizeof(*device));
	if (!device)
		return -ENOMEM;
	device->gpu = gpu;
	if (device->count++ && start > device->until) {
		uint64_t gap = start - device->until;

		if (hist_add(&device->gaps, gap))
			return -ENOMEM;
		device->gaps_ns += gap;
		if (gap > device->longest_gap) {
			device->longest_gap = gap;
			device->longest_gap_ts = device->until;
		}
	}
	if (device->count == 1)
		device->first = start;
	extend(&device->until, &device->busy_ns, start, end);
	if (kind == GPU_WORK_KERNEL)
		extend(&device->kernel_until, &device->kernel_ns, start, end);
	return 0;
}

/* Kernels and copies of the same name are two things. */
static struct gpu_name *name_of(struct gpu_work *work, const struct rows *rows,
				enum gpu_work_kind kind)
{
	char text[4096] = { (char)('0' + kind) };
	size_t size;
	const char *name = rows_text(rows, column_gpu_op_name, &size);
	struct gpu_name *found;
	uint32_t number;

	if (!name) {
		name = "?";
		size = 1;
	}
	if (size > sizeof(text) - 1)
		size = sizeof(text) - 1;
	memcpy(text + 1, name, size);
	if (strings_add(&work->names, text, size + 1, &number))
		return NULL;
	found = buf_element(&work->name_list, number, sizeof(*found));
	if (found)
		found->kind = kind;
	return found;
}

static int take_named(struct gpu_work *work, const struct rows *rows, enum gpu_work_kind kind,
		      uint64_t ns)
{
	struct gpu_name *name = name_of(work, rows, kind);
	uint64_t bytes = cell_known(rows_cell(rows, column_gpu_op_bytes));

	if (!name)
		return -ENOMEM;
	name->count++;
	name->ns += ns;
	name->bytes += bytes;
	if (rows_cell(rows, column_gpu_op_pinned) == 0)
		name->pageable_bytes += bytes;
	if (ns > name->most_ns)
		name->most_ns = ns;
	return 0;
}

static int take_delay(struct gpu_work *work, const struct rows *rows, uint64_t ts)
{
	int64_t launch = rows_cell(rows, column_gpu_op_launch);

	work->graph_kernels += rows_cell(rows, column_gpu_op_graph) != CELL_NULL;
	/* Of a graph only its first kernel was waited for. */
	if (launch == CELL_NULL || launch < 0 || (uint64_t)launch > ts ||
	    rows_cell(rows, column_gpu_op_graph) != CELL_NULL)
		return 0;
	return hist_add(&work->delay, ts - (uint64_t)launch);
}

static int take_wait(struct gpu_work *work, int64_t tid, uint64_t ts, uint64_t ns)
{
	struct gpu_waiter *waiters = (struct gpu_waiter *)work->waiter_list.data;
	size_t count = work->waiter_list.size / sizeof(*waiters), i = 0;

	while (i < count && waiters[i].tid != tid)
		i++;
	waiters = buf_element(&work->waiter_list, i, sizeof(*waiters));
	if (!waiters)
		return -ENOMEM;
	waiters->tid = tid;
	waiters->count++;
	waiters->ns += ns;
	waiters->last_ts = ts;
	if (ns > waiters->most_ns)
		waiters->most_ns = ns;
	return 0;
}

static int gpu_work_take(void *state, const struct rows *rows)
{
	struct gpu_work *work = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_gpu_op_ts);
	uint64_t ns = cell_known(rows_cell(rows, column_gpu_op_dur));
	uint64_t start = context_clip(work->context, ts);
	uint64_t end = context_clip(work->context, ts + ns);
	enum gpu_work_kind kind = kind_of(rows);
	int err = 0;

	work->known = true;
	if (ts + ns < work->context->window.start || ts > work->context->window.end)
		return 0;
	if (kind == GPU_WORK_WAIT)
		return take_wait(work, rows_cell(rows, column_gpu_op_tid), ts, end - start);
	err = take_busy(work, kind, rows_cell(rows, column_gpu_op_gpu), start, end);
	if (!err)
		err = take_named(work, rows, kind, end - start);
	if (!err && kind == GPU_WORK_KERNEL)
		err = take_delay(work, rows, ts);
	return err;
}

struct scan_sink gpu_work_sink(struct gpu_work *work)
{
	return (struct scan_sink){ TABLE_gpu_op, ~0ull, gpu_work_take, work };
}

/* ---- at the end ---- */

/* Kernels first, then the rest; of each the longest first. */
static int compare_names(const void *a, const void *b)
{
	const struct gpu_name *left = a, *right = b;
	bool left_kernel = left->kind == GPU_WORK_KERNEL,
	     right_kernel = right->kind == GPU_WORK_KERNEL;

	if (left_kernel != right_kernel)
		return left_kernel ? -1 : 1;
	return left->ns > right->ns ? -1 : left->ns < right->ns;
}

static int compare_waiters(const void *a, const void *b)
{
	const struct gpu_waiter *left = a, *right = b;

	return left->ns > right->ns ? -1 : left->ns < right->ns;
}

static void share_out(struct gpu_name *names, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += names[i].ns;
	for (size_t i = 0; i < count; i++) {
		names[i].share = share_of(names[i].ns, sum);
		names[i].rate = names[i].bytes && names[i].ns
					? (double)names[i].bytes * 1e9 / (double)names[i].ns
					: NAN;
	}
}

static void finish_names(struct gpu_work *work)
{
	struct gpu_name *names = (struct gpu_name *)work->name_list.data;
	size_t count = work->name_list.size / sizeof(*names);

	for (size_t i = 0; i < count; i++) {
		names[i].name = strings_get(&work->names, (uint32_t)i, &names[i].name_size);
		names[i].name++; /* past the kind */
		names[i].name_size--;
	}
	if (!count)
		return;
	qsort(names, count, sizeof(*names), compare_names);
	work->kernels = names;
	while (work->kernel_count < count && names[work->kernel_count].kind == GPU_WORK_KERNEL)
		work->kernel_count++;
	work->copies = names + work->kernel_count;
	work->copy_count = count - work->kernel_count;
	share_out(work->kernels, work->kernel_count);
	share_out(work->copies, work->copy_count);
}

void gpu_work_finish(struct gpu_work *work)
{
	const struct span *window = &work->context->window;
	struct gpu_busy *devices = (struct gpu_busy *)work->device_list.data;

	work->devices = devices;
	for (size_t i = 0; i < work->device_list.size / sizeof(*devices); i++)
		if (devices[i].count) {
			struct gpu_busy device = devices[i];

			device.share = share_of(device.busy_ns, window->end - window->start);
			devices[i].gaps = (struct hist){ 0 }; /* it is device's now */
			devices[work->device_count++] = device;
		}
	finish_names(work);
	work->waiters = (struct gpu_waiter *)work->waiter_list.data;
	work->waiter_count = work->waiter_list.size / sizeof(*work->waiters);
	for (size_t i = 0; i < work->waiter_count; i++)
		work->waiters[i].comm =
			dims_comm(work->context->dims, work->waiters[i].tid,
				  work->waiters[i].last_ts, &work->waiters[i].comm_size);
	if (work->waiter_count)
		qsort(work->waiters, work->waiter_count, sizeof(*work->waiters), compare_waiters);
}

void gpu_work_free(struct gpu_work *work)
{
	for (size_t i = 0; i < work->device_count; i++)
		hist_free(&work->devices[i].gaps);
	hist_free(&work->delay);
	strings_free(&work->names);
	buf_free(&work->device_list);
	buf_free(&work->name_list);
	buf_free(&work->waiter_list);
	*work = (struct gpu_work){ 0 };
}
