/* The report as JSON; every key is told in docs/report.md. */
#include <string.h>

#include "render/json.h"
#include "render/report.h"

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
	json_uint(json, "count", hist->count);
	json_uint(json, "sum", hist->sum);
	json_uint(json, "least", hist->least);
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
	json_uint(json, "calls", traffic->calls);
	json_uint(json, "bytes", traffic->bytes);
	json_uint(json, "time_ns", traffic->time_ns);
	json_close(json);
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
	json_string(json, "path", summary->path);
	json_string(json, "command", summary->command);
	json_string(json, "host", summary->host);
	json_string(json, "exit_status", summary->exit_status);
	json_string(json, "target", summary->target);
	json_bool(json, "complete", summary->complete);
	json_string(json, "damage", summary->damage);
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
		json_uint(json, "depth", phase->depth);
		json_bool(json, "open", phase->open);
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
	json_uint(json, "count", steps->count);
	json_uint(json, "loops", steps->loops);
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
	uint64_t cpu[ROLE_COUNT] = { 0 }, wait[ROLE_COUNT] = { 0 };

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
	for (unsigned i = 0; i < ROLE_COUNT; i++) {
		json_open(json, NULL, '{');
		json_string(json, "role", role_names[i]);
		json_uint(json, "processes", roles->counts[i]);
		json_uint(json, "cpu_ns", cpu[i]);
		json_uint(json, "wait_ns", wait[i]);
		print_traffic(json, "read", &report->files.role_read[i]);
		print_traffic(json, "written", &report->files.role_written[i]);
		json_uint(json, "metadata_ns", report->files.role_metadata_ns[i]);
		json_open(json, "wakes", '{');
		for (unsigned to = 0; to < ROLE_COUNT; to++)
			json_uint(json, role_names[to], report->waits.wakes[i][to]);
		json_close(json);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void print_waits(struct json *json, const struct report *report)
{
	const struct waits *waits = &report->waits;

	json_open(json, "waits", '{');
	json_bool(json, "known", waits->known);
	json_open(json, "calls", '[');
	for (size_t i = 0; i < waits->call_count; i++) {
		const struct wait_call *call = &waits->calls[i];
		struct dims_text name = { call->syscall, call->syscall_size };

		json_open(json, NULL, '{');
		print_text(json, "syscall", &name);
		json_string(json, "reason", wait_reason_names[call->reason]);
		json_uint(json, "time_ns", call->ns);
		json_uint(json, "count", call->count);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void print_task_names(struct json *json, const struct tasks *tasks, size_t top)
{
	json_open(json, "names", '[');
	for (size_t i = 0; i < tasks->name_count && i < top; i++) {
		const struct task_name *name = &tasks->names[i];

		json_open(json, NULL, '{');
		json_text(json, "name", name->name, name->name_size);
		json_uint(json, "cpu_ns", name->cpu_ns);
		json_uint(json, "stays", name->stays);
		json_uint(json, "preempted", name->preempted);
		json_uint(json, "processes", name->processes);
		json_uint(json, "job_processes", name->job_processes);
		json_uint(json, "lives", name->lives);
		json_uint(json, "life_ns", name->life_ns);
		print_hist(json, "wait", &name->waits);
		json_close(json);
	}
	json_close(json);
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
		if (proc->end == UINT64_MAX)
			json_null(json, "end_ts");
		else
			json_uint(json, "end_ts", proc->end);
		json_uint(json, "cpu_ns", process->cpu_ns);
		json_uint(json, "stays", process->stays);
		json_uint(json, "wait_ns", process->wait_ns);
		json_close(json);
	}
	json_close(json);
}

static void print_tasks(struct json *json, const struct report *report, size_t top)
{
	const struct tasks *tasks = &report->tasks;

	json_open(json, "tasks", '{');
	json_bool(json, "known", tasks->known);
	json_uint(json, "busy_ns", tasks->busy_ns);
	json_uint(json, "idle_ns", tasks->idle_ns);
	json_uint(json, "stays", tasks->stays);
	json_uint(json, "wait_ns", tasks->wait_ns);
	json_uint(json, "job_cpu_ns", tasks->job_cpu_ns);
	json_uint(json, "job_wait_ns", tasks->job_wait_ns);
	print_hist(json, "job_wait", &tasks->job_waits);
	json_uint(json, "gaps", tasks->gaps);
	json_uint(json, "gap_ns", tasks->gap_ns);
	print_task_names(json, tasks, top);
	print_task_processes(json, report, top);
	json_open(json, "cpus", '[');
	for (size_t i = 0; i < tasks->cpu_count; i++) {
		const struct task_cpu *cpu = &tasks->cpus[i];

		json_open(json, NULL, '{');
		json_uint(json, "cpu", cpu->cpu);
		json_uint(json, "busy_ns", cpu->busy_ns);
		json_uint(json, "idle_ns", cpu->idle_ns);
		json_uint(json, "stays", cpu->stays);
		json_uint(json, "gaps", cpu->gaps);
		json_uint(json, "gap_ns", cpu->gap_ns);
		json_uint(json, "longest_gap_ns", cpu->longest_gap_ns);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void print_total(struct json *json, const char *key, const struct files_total *total)
{
	json_open(json, key, '{');
	print_traffic(json, "read", &total->read);
	print_traffic(json, "written", &total->written);
	json_uint(json, "read_files", total->read_files);
	json_uint(json, "written_files", total->written_files);
	json_uint(json, "small_reads", total->small_reads);
	json_uint(json, "empty_reads", total->empty_reads);
	json_uint(json, "sequential_reads", total->sequential);
	json_uint(json, "compared_reads", total->compared);
	json_uint(json, "again_bytes", total->again_bytes);
	json_uint(json, "again_files", total->again_files);
	json_uint(json, "again_unknown_files", total->again_unknown);
	json_uint(json, "missed_bytes", total->missed_bytes);
	json_uint(json, "ahead_bytes", total->ahead_bytes);
	json_uint(json, "direct_bytes", total->direct_bytes);
	json_uint(json, "cached_bytes", total->cached_bytes);
	json_uint(json, "told_bytes", total->told_bytes);
	json_close(json);
}

static void print_file(struct json *json, const struct file_use *use)
{
	json_open(json, NULL, '{');
	json_int(json, "file", use->file);
	print_text(json, "path", &use->path);
	json_bool(json, "regular", use->regular);
	print_traffic(json, "read", &use->read);
	print_traffic(json, "written", &use->written);
	json_uint(json, "blocked_ns", use->blocked_ns);
	json_uint(json, "opens", use->opens);
	json_uint(json, "stats", use->stats);
	json_uint(json, "maps", use->maps);
	json_uint(json, "faults", use->faults);
	json_uint(json, "major_faults", use->major_faults);
	json_uint(json, "small_reads", use->small_reads);
	json_uint(json, "empty_reads", use->empty_reads);
	json_uint(json, "sequential_reads", use->sequential);
	json_uint(json, "compared_reads", use->compared);
	if (use->again_known)
		json_uint(json, "again_bytes", use->again_bytes);
	else
		json_null(json, "again_bytes");
	json_uint(json, "missed_bytes", use->missed_bytes);
	json_uint(json, "ahead_bytes", use->ahead_bytes);
	json_uint(json, "direct_bytes", use->direct_bytes);
	json_uint(json, "device_read_bytes", use->device_read_bytes);
	json_uint(json, "device_write_bytes", use->device_write_bytes);
	json_uint(json, "device_ns", use->device_ns);
	json_uint(json, "device_requests", use->device_requests);
	print_hist(json, "latency", &use->latency);
	print_hist(json, "size", &use->size);
	json_close(json);
}

static void print_dirs(struct json *json, const struct files *files, size_t top)
{
	json_open(json, "directories", '[');
	for (size_t i = 0; i < files->dir_count && i < top; i++) {
		const struct dir_use *dir = &files->dirs[i];

		json_open(json, NULL, '{');
		print_text(json, "path", &dir->path);
		json_uint(json, "files", dir->files);
		print_traffic(json, "read", &dir->read);
		print_traffic(json, "written", &dir->written);
		json_uint(json, "opens", dir->opens);
		json_uint(json, "device_ns", dir->device_ns);
		print_hist(json, "latency", &dir->latency);
		print_hist(json, "size", &dir->size);
		json_close(json);
	}
	json_close(json);
}

static void print_ops(struct json *json, const struct files *files)
{
	json_open(json, "operations", '[');
	for (size_t i = 0; i < files->op_count; i++) {
		const struct op_use *op = &files->ops[i];

		json_open(json, NULL, '{');
		json_string(json, "table", op->table);
		json_text(json, "op", op->name, op->name_size);
		json_uint(json, "calls", op->calls);
		json_uint(json, "errors", op->errors);
		json_uint(json, "unfinished", op->unfinished);
		json_uint(json, "bytes", op->bytes);
		json_uint(json, "time_ns", op->time_ns);
		json_uint(json, "blocked_ns", op->blocked_ns);
		print_hist(json, "latency", &op->latency);
		print_hist(json, "size", &op->size);
		json_close(json);
	}
	json_close(json);
}

static void print_process_uses(struct json *json, const struct report *report, size_t top)
{
	const struct files *files = &report->files;

	json_open(json, "processes", '[');
	for (size_t i = 0; i < files->process_count && i < top; i++) {
		const struct process_use *use = &files->processes[i];

		json_open(json, NULL, '{');
		print_process(json, report, use->proc);
		print_traffic(json, "read", &use->read);
		print_traffic(json, "written", &use->written);
		json_uint(json, "small_reads", use->small_reads);
		json_uint(json, "blocked_ns", use->blocked_ns);
		json_uint(json, "opens", use->opens);
		json_uint(json, "stats", use->stats);
		json_uint(json, "metadata_calls", use->metadata_calls);
		json_uint(json, "metadata_ns", use->metadata_ns);
		print_hist(json, "latency", &use->latency);
		print_hist(json, "size", &use->size);
		json_close(json);
	}
	json_close(json);
}

static void print_files(struct json *json, const struct report *report, size_t top)
{
	const struct files *files = &report->files;

	json_open(json, "files", '{');
	json_bool(json, "has_io", files->has_io);
	json_bool(json, "has_fs", files->has_fs);
	json_bool(json, "has_block", files->has_block);
	print_total(json, "regular", &files->regular);
	print_total(json, "other", &files->other);
	json_uint(json, "opens", files->opens);
	json_uint(json, "failed_opens", files->failed_opens);
	json_uint(json, "stats", files->stats);
	json_uint(json, "failed_stats", files->failed_stats);
	json_uint(json, "closes", files->closes);
	json_uint(json, "syncs", files->syncs);
	json_uint(json, "sync_ns", files->sync_ns);
	json_uint(json, "metadata_calls", files->metadata_calls);
	json_uint(json, "metadata_ns", files->metadata_ns);
	json_uint(json, "file_count", files->file_count);
	print_ops(json, files);
	json_open(json, "list", '[');
	for (size_t i = 0; i < files->file_count && i < top; i++)
		print_file(json, &files->files[i]);
	json_close(json);
	print_dirs(json, files, top);
	print_process_uses(json, report, top);
	json_close(json);
}

static void print_devices(struct json *json, const struct devices *devices)
{
	json_open(json, "devices", '[');
	for (size_t i = 0; i < devices->count; i++) {
		const struct device *device = &devices->list[i];

		json_open(json, NULL, '{');
		json_text(json, "dev", device->name, device->name_size);
		json_uint(json, "read_bytes", device->read_bytes);
		json_uint(json, "write_bytes", device->write_bytes);
		json_uint(json, "ahead_bytes", device->ahead_bytes);
		json_uint(json, "job_bytes", device->job_bytes);
		json_uint(json, "file_bytes", device->file_bytes);
		json_uint(json, "other_requests", device->others);
		json_uint(json, "errors", device->errors);
		print_hist(json, "read_latency", &device->read);
		print_hist(json, "write_latency", &device->write);
		print_hist(json, "read_size", &device->read_size);
		print_hist(json, "write_size", &device->write_size);
		json_close(json);
	}
	json_close(json);
}

static void print_cpu_usage(struct json *json, const struct cpu_usage *cpu)
{
	json_open(json, NULL, '{');
	json_int(json, "cpu", cpu->cpu);
	json_real(json, "usr", cpu->usr);
	json_real(json, "sys", cpu->sys);
	json_real(json, "iowait", cpu->iowait);
	json_real(json, "irq", cpu->irq);
	json_real(json, "steal", cpu->steal);
	json_real(json, "idle", cpu->idle);
	json_close(json);
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
	json_open(json, "disks", '[');
	for (size_t i = 0; i < usage->disk_count; i++) {
		const struct disk_usage *disk = &usage->disks[i];

		json_open(json, NULL, '{');
		json_text(json, "dev", disk->name, disk->name_size);
		json_real(json, "util", disk->util);
		json_real(json, "most_util", disk->most_util);
		json_real(json, "queue", disk->queue);
		json_uint(json, "reads", disk->reads);
		json_uint(json, "writes", disk->writes);
		json_uint(json, "read_bytes", disk->read_bytes);
		json_uint(json, "write_bytes", disk->write_bytes);
		json_close(json);
	}
	json_close(json);
	json_open(json, "gpus", '[');
	for (size_t i = 0; i < usage->gpu_count; i++) {
		const struct gpu_usage *gpu = &usage->gpus[i];

		json_open(json, NULL, '{');
		json_int(json, "gpu", gpu->gpu);
		json_real(json, "sm", gpu->sm);
		json_real(json, "mem", gpu->mem);
		json_real(json, "power", gpu->power);
		json_real(json, "idle", gpu->idle);
		json_uint(json, "most_fb", gpu->most_fb);
		json_uint(json, "fb_total", gpu->fb_total);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void print_cost(struct json *json, const struct report *report)
{
	const struct summary *summary = &report->summary;
	const struct cost *cost = &report->cost;

	json_open(json, "cost", '{');
	if (cost->cpu_known)
		json_uint(json, "cpu_ns", cost->cpu_ns);
	else
		json_null(json, "cpu_ns");
	json_uint(json, "on_cpu_ns", cost->on_cpu_ns);
	json_uint(json, "rows", summary->rows);
	json_uint(json, "bytes", summary->bytes);
	json_uint(json, "lost", summary->lost);
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
	print_devices(&json, &report->devices);
	print_usage(&json, &report->usage);
	print_cost(&json, report);
	json_close(&json);
}
