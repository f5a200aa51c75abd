/* What GPUs did, as JSON. */
#include "render/report_json.h"

static void print_device(struct json *json, const struct gpu_busy *device)
{
	JSON_FIELDS(json, device, gpu, count, busy_ns, kernel_ns, share, gaps_ns, longest_gap,
		    longest_gap_ts);
	report_json_hist(json, "gaps", &device->gaps);
}

static void print_name(struct json *json, const struct gpu_name *name)
{
	json_text(json, "name", name->name, name->name_size);
	JSON_FIELDS(json, name, count, ns, most_ns, share);
}

static void print_copy(struct json *json, const struct gpu_name *copy)
{
	print_name(json, copy);
	JSON_FIELDS(json, copy, bytes, pageable_bytes, rate);
}

static void print_waiter(struct json *json, const struct gpu_waiter *waiter)
{
	report_json_cell(json, "tid", waiter->tid);
	json_text(json, "comm", waiter->comm ? waiter->comm : "?",
		  waiter->comm ? waiter->comm_size : 1);
	JSON_FIELDS(json, waiter, count, ns, most_ns);
}

void report_json_gpu_work(struct json *json, const struct gpu_work *work, size_t top)
{
	if (!work->known) {
		json_null(json, "gpu_work");
		return;
	}
	json_open(json, "gpu_work", '{');
	JSON_LIST(json, "devices", work->devices, work->device_count, print_device);
	json_uint(json, "kernel_names", work->kernel_count);
	JSON_LIST(json, "kernels", work->kernels,
		  work->kernel_count < top ? work->kernel_count : top, print_name);
	JSON_LIST(json, "copies", work->copies, work->copy_count, print_copy);
	JSON_LIST(json, "waiters", work->waiters,
		  work->waiter_count < top ? work->waiter_count : top, print_waiter);
	report_json_hist(json, "launch_to_start", &work->delay);
	JSON_FIELDS(json, work, graph_kernels);
	json_close(json);
}
