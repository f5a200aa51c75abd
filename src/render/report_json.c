/* The report as JSON; every key is told in docs/report.md. */
#include "render/json_fields.h"
#include "render/report.h"

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void print_text(struct json *json, const char *key, const struct dims_text *text)
{
	if (text->bytes)
		json_text(json, key, text->bytes, text->size);
	else
		json_null(json, key);
}

static void print_hist(struct json *json, const char *key, const struct hist *hist)
{
	uint64_t bins[HIST_BINS];
	unsigned last = 0;

	json_open(json, key, '{');
	JSON_FIELDS(json, hist, count, sum, least);
	json_uint(json, "p50", hist_quantile(hist, 0.5));
	json_uint(json, "p90", hist_quantile(hist, 0.9));
	json_uint(json, "p99", hist_quantile(hist, 0.99));
	json_uint(json, "most", hist->most);
	hist_bins(hist, bins);
	for (unsigned i = 0; i < HIST_BINS; i++)
		if (bins[i])
			last = i + 1;
	json_open(json, "bins", '[');
	for (unsigned i = 0; i < last; i++)
		json_uint(json, NULL, bins[i]);
	json_close(json);
	json_close(json);
}

static void print_figures(struct json *json, const char *key, const struct figures *figures)
{
	json_open(json, key, '{');
	for (size_t i = 0; i < FIGURE_COUNT; i++)
		json_uint(json, figure_infos[i].name, ((const uint64_t *)figures)[i]);
	json_close(json);
}

static void print_traffic(struct json *json, const char *key, const struct traffic *traffic)
{
	json_open(json, key, '{');
	JSON_FIELDS(json, traffic, calls, bytes, time_ns);
	json_close(json);
}

/* What everything that is read and written has. */
static void print_moved(struct json *json, const struct traffic *read,
			const struct traffic *written)
{
	print_traffic(json, "read", read);
	print_traffic(json, "written", written);
}

/* What everything that calls are counted by has. */
static void print_spread(struct json *json, const struct hist *latency, const struct hist *size)
{
	print_hist(json, "latency", latency);
	print_hist(json, "size", size);
}

static void print_uint_if(struct json *json, const char *key, bool known, uint64_t value)
{
	if (known)
		json_uint(json, key, value);
	else
		json_null(json, key);
}

static void print_process(struct json *json, const struct report *report, uint32_t place)
{
	const struct proc *proc =
		place == PROC_NONE ? NULL : procs_get(report->context.procs, place);

	if (!proc) {
		json_null(json, "pid");
		json_null(json, "name");
		json_null(json, "role");
		return;
	}
	json_int(json, "pid", proc->pid);
	print_text(json, "name", &proc->comm);
	json_string(json, "role", role_names[report->context.roles.of[place]]);
}

/* ---- one function a model ---- */

static void print_run(struct json *json, const struct report *report)
{
	const struct summary *summary = &report->summary;
	const struct span *window = &report->context.window;

	json_open(json, "run", '{');
	JSON_FIELDS(json, summary, path, command, host, exit_status, target, complete, damage);
	json_uint(json, "start_ts", summary->span.start);
	json_uint(json, "end_ts", summary->span.end);
	json_uint(json, "length_ns", summary->span.end - summary->span.start);
	json_string(json, "window", report->whole ? NULL : report->window_name);
	json_uint(json, "window_start_ts", window->start);
	json_uint(json, "window_end_ts", window->end);
	json_uint(json, "window_ns", window->end - window->start);
	print_figures(json, "figures", &report->total);
	json_close(json);
}

static void print_phases(struct json *json, const struct report *report)
{
	static const char *const sources[] = { "none", "marks", "mllog", "log" };
	const struct phases *phases = &report->phases;
	char label[128];

	json_open(json, "phases", '{');
	json_string(json, "source", sources[phases->source]);
	json_uint(json, "log_lines", phases->lines);
	json_uint(json, "log_lines_bad", phases->bad_lines);
	json_uint(json, "log_lines_outside", phases->outside);
	json_open(json, "list", '[');
	for (size_t i = 0; i < phases->count; i++) {
		const struct phase *phase = &phases->list[i];

		json_open(json, NULL, '{');
		json_string(json, "name", phase_label(phase, label, sizeof(label)));
		json_string(json, "kind", phase->stem);
		json_uint(json, "start_ts", phase->start);
		json_uint(json, "end_ts", phase->end);
		json_uint(json, "length_ns", phase->end - phase->start);
		JSON_FIELDS(json, phase, depth, open);
		print_figures(json, "figures", &report->phase_figures[i]);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void print_steps(struct json *json, const struct report *report)
{
	const struct steps *steps = &report->steps;

	json_open(json, "steps", '{');
	json_string(json, "source", step_source_names[steps->source]);
	JSON_FIELDS(json, steps, count, loops);
	if (steps->count)
		json_real(json, "confidence", steps->confidence);
	else
		json_null(json, "confidence");
	print_hist(json, "duration", &steps->durations);
	json_close(json);
}

static void print_roles(struct json *json, const struct report *report)
{
	const struct roles *roles = &report->context.roles;
	uint64_t cpu[PROC_ROLE_COUNT] = { 0 }, wait[PROC_ROLE_COUNT] = { 0 };

	for (size_t i = 0; i < report->tasks.process_count; i++) {
		const struct task_process *process = &report->tasks.processes[i];

		cpu[roles->of[process->proc]] += process->cpu_ns;
		wait[roles->of[process->proc]] += process->wait_ns;
	}
	json_open(json, "roles", '{');
	json_open(json, "main", '{');
	print_process(json, report, roles->main);
	json_bool(json, "by_gpu", roles->by_gpu);
	json_close(json);
	json_uint(json, "workers_at_once", roles->workers_at_once);
	json_open(json, "list", '[');
	for (unsigned i = 0; i < PROC_ROLE_COUNT; i++) {
		json_open(json, NULL, '{');
		json_string(json, "role", role_names[i]);
		json_uint(json, "processes", roles->counts[i]);
		json_uint(json, "cpu_ns", cpu[i]);
		json_uint(json, "wait_ns", wait[i]);
		print_moved(json, &report->files.role_read[i], &report->files.role_written[i]);
		json_uint(json, "metadata_ns", report->files.role_metadata_ns[i]);
		json_open(json, "wakes", '{');
		for (unsigned to = 0; to < PROC_ROLE_COUNT; to++)
			json_uint(json, role_names[to], report->waits.wakes[i][to]);
		json_close(json);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void print_wait_call(struct json *json, const struct wait_call *call)
{
	struct dims_text name = { call->syscall, call->syscall_size };

	print_text(json, "syscall", &name);
	json_string(json, "reason", wait_reason_names[call->reason]);
	json_uint(json, "time_ns", call->ns);
	json_uint(json, "count", call->count);
}

static void print_waits(struct json *json, const struct report *report)
{
	const struct waits *waits = &report->waits;

	json_open(json, "waits", '{');
	json_bool(json, "known", waits->known);
	JSON_LIST(json, "calls", waits->calls, waits->call_count, print_wait_call);
	json_close(json);
}

static void print_task_name(struct json *json, const struct task_name *name)
{
	json_text(json, "name", name->name, name->name_size);
	JSON_FIELDS(json, name, cpu_ns, stays, preempted, processes, job_processes, lives, life_ns);
	print_hist(json, "wait", &name->waits);
}

static void print_task_processes(struct json *json, const struct report *report, size_t top)
{
	const struct tasks *tasks = &report->tasks;

	json_open(json, "processes", '[');
	for (size_t i = 0; i < tasks->process_count && i < top; i++) {
		const struct task_process *process = &tasks->processes[i];
		const struct proc *proc = procs_get(report->context.procs, process->proc);

		json_open(json, NULL, '{');
		print_process(json, report, process->proc);
		json_uint(json, "start_ts", proc->start);
		print_uint_if(json, "end_ts", proc->end != UINT64_MAX, proc->end);
		JSON_FIELDS(json, process, cpu_ns, stays, wait_ns);
		json_close(json);
	}
	json_close(json);
}

static void print_task_cpu(struct json *json, const struct task_cpu *cpu)
{
	JSON_FIELDS(json, cpu, cpu, busy_ns, idle_ns, stays, gaps, gap_ns, longest_gap_ns);
}

static void print_tasks(struct json *json, const struct report *report, size_t top)
{
	const struct tasks *tasks = &report->tasks;

	json_open(json, "tasks", '{');
	JSON_FIELDS(json, tasks, known, busy_ns, idle_ns, stays, wait_ns, job_cpu_ns, job_wait_ns);
	print_hist(json, "job_wait", &tasks->job_waits);
	JSON_FIELDS(json, tasks, gaps, gap_ns);
	JSON_LIST(json, "names", tasks->names, least(tasks->name_count, top), print_task_name);
	print_task_processes(json, report, top);
	JSON_LIST(json, "cpus", tasks->cpus, tasks->cpu_count, print_task_cpu);
	json_close(json);
}

static void print_total(struct json *json, const char *key, const struct files_total *total)
{
	json_open(json, key, '{');
	print_moved(json, &total->read, &total->written);
	JSON_FIELDS(json, total, read_files, written_files, small_reads, empty_reads);
	json_uint(json, "sequential_reads", total->sequential);
	json_uint(json, "compared_reads", total->compared);
	JSON_FIELDS(json, total, again_bytes, again_files);
	json_uint(json, "again_unknown_files", total->again_unknown);
	JSON_FIELDS(json, total, missed_bytes, ahead_bytes, direct_bytes, cached_bytes, told_bytes);
	json_close(json);
}

static void print_file(struct json *json, const struct file_use *use)
{
	json_int(json, "file", use->file);
	print_text(json, "path", &use->path);
	json_bool(json, "regular", use->regular);
	print_moved(json, &use->read, &use->written);
	JSON_FIELDS(json, use, blocked_ns, opens, stats, maps, faults, major_faults, small_reads,
		    empty_reads);
	json_uint(json, "sequential_reads", use->sequential);
	json_uint(json, "compared_reads", use->compared);
	print_uint_if(json, "again_bytes", use->again_known, use->again_bytes);
	JSON_FIELDS(json, use, missed_bytes, ahead_bytes, direct_bytes, device_read_bytes,
		    device_write_bytes, device_ns, device_requests);
	print_spread(json, &use->latency, &use->size);
}

static void print_dir(struct json *json, const struct dir_use *dir)
{
	print_text(json, "path", &dir->path);
	json_uint(json, "files", dir->files);
	print_moved(json, &dir->read, &dir->written);
	JSON_FIELDS(json, dir, opens, device_ns);
	print_spread(json, &dir->latency, &dir->size);
}

static void print_op(struct json *json, const struct op_use *op)
{
	json_string(json, "table", op->table);
	json_text(json, "op", op->name, op->name_size);
	JSON_FIELDS(json, op, calls, errors, unfinished, bytes, time_ns, blocked_ns);
	print_spread(json, &op->latency, &op->size);
}

static void print_process_uses(struct json *json, const struct report *report, size_t top)
{
	const struct files *files = &report->files;

	json_open(json, "processes", '[');
	for (size_t i = 0; i < files->process_count && i < top; i++) {
		const struct process_use *use = &files->processes[i];

		json_open(json, NULL, '{');
		print_process(json, report, use->proc);
		print_moved(json, &use->read, &use->written);
		JSON_FIELDS(json, use, small_reads, blocked_ns, opens, stats, metadata_calls,
			    metadata_ns);
		print_spread(json, &use->latency, &use->size);
		json_close(json);
	}
	json_close(json);
}

static void print_files(struct json *json, const struct report *report, size_t top)
{
	const struct files *files = &report->files;

	json_open(json, "files", '{');
	JSON_FIELDS(json, files, has_io, has_fs, has_block);
	print_total(json, "regular", &files->regular);
	print_total(json, "other", &files->other);
	JSON_FIELDS(json, files, opens, failed_opens, stats, failed_stats, closes, syncs, sync_ns,
		    metadata_calls, metadata_ns, file_count);
	JSON_LIST(json, "operations", files->ops, files->op_count, print_op);
	JSON_LIST(json, "list", files->files, least(files->file_count, top), print_file);
	JSON_LIST(json, "directories", files->dirs, least(files->dir_count, top), print_dir);
	print_process_uses(json, report, top);
	json_close(json);
}

static void print_device(struct json *json, const struct device *device)
{
	json_text(json, "dev", device->name, device->name_size);
	JSON_FIELDS(json, device, read_bytes, write_bytes, ahead_bytes, job_bytes, file_bytes);
	json_uint(json, "other_requests", device->others);
	json_uint(json, "errors", device->errors);
	print_hist(json, "read_latency", &device->read);
	print_hist(json, "write_latency", &device->write);
	print_hist(json, "read_size", &device->read_size);
	print_hist(json, "write_size", &device->write_size);
}

static void print_cpu_usage(struct json *json, const struct cpu_usage *cpu)
{
	json_open(json, NULL, '{');
	JSON_FIELDS(json, cpu, cpu, usr, sys, iowait, irq, steal, idle);
	json_close(json);
}

static void print_disk_usage(struct json *json, const struct disk_usage *disk)
{
	json_text(json, "dev", disk->name, disk->name_size);
	JSON_FIELDS(json, disk, util, most_util, queue, reads, writes, read_bytes, write_bytes);
}

static void print_gpu_usage(struct json *json, const struct gpu_usage *gpu)
{
	JSON_FIELDS(json, gpu, gpu, sm, mem, power, idle, most_fb, fb_total);
}

static void print_usage(struct json *json, const struct usage *usage)
{
	json_open(json, "usage", '{');
	json_open(json, "cpus", '[');
	if (usage->all.weight > 0)
		print_cpu_usage(json, &usage->all);
	for (size_t i = 0; i < usage->cpu_count; i++)
		print_cpu_usage(json, &usage->cpus[i]);
	json_close(json);
	JSON_LIST(json, "disks", usage->disks, usage->disk_count, print_disk_usage);
	JSON_LIST(json, "gpus", usage->gpus, usage->gpu_count, print_gpu_usage);
	json_close(json);
}

static void print_cost(struct json *json, const struct report *report)
{
	const struct summary *summary = &report->summary;
	const struct cost *cost = &report->cost;

	json_open(json, "cost", '{');
	print_uint_if(json, "cpu_ns", cost->cpu_known, cost->cpu_ns);
	print_uint_if(json, "start_cpu_ns", cost->cpu_known, cost->start_cpu_ns);
	json_uint(json, "on_cpu_ns", cost->on_cpu_ns);
	JSON_FIELDS(json, summary, rows, bytes, lost);
	json_real(json, "coverage", summary->coverage.share);
	json_open(json, "absent", '{');
	for (size_t i = 0; i < summary->absent_count; i++)
		json_string(json, summary->absent[i].what, summary->absent[i].why);
	json_close(json);
	json_open(json, "layers", '[');
	for (unsigned i = 0; i < LAYER_COUNT; i++)
		if (report_has_layer(report, i))
			json_string(json, NULL, layer_names.names[i]);
	json_close(json);
	json_close(json);
}

void report_print_json(const struct report *report, size_t top, FILE *out)
{
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	print_run(&json, report);
	print_phases(&json, report);
	print_steps(&json, report);
	print_roles(&json, report);
	print_waits(&json, report);
	print_tasks(&json, report, top);
	print_files(&json, report, top);
	JSON_LIST(&json, "devices", report->devices.list, report->devices.count, print_device);
	print_usage(&json, &report->usage);
	print_cost(&json, report);
	json_close(&json);
}
