/* The report as JSON; every key is told in docs/report.md. */
#include "render/report_json.h"

#include "render/report.h"

void report_json_name(struct json *json, const char *key, const struct dims_text *text)
{
	if (text->bytes)
		json_text(json, key, text->bytes, text->size);
	else
		json_null(json, key);
}

void report_json_cell(struct json *json, const char *key, int64_t cell)
{
	if (cell == CELL_NULL)
		json_null(json, key);
	else
		json_int(json, key, cell);
}

void report_json_hist(struct json *json, const char *key, const struct hist *hist)
{
	uint64_t bins[HIST_BINS];
	unsigned last = 0;

	json_open(json, key, '{');
	JSON_FIELDS(json, hist, count, sum, least);
	json_real(json, "mean", hist_mean(hist));
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
		json_uint(json, figure_infos[i].name, figure_at(figures, i));
	json_close(json);
}

static void print_traffic(struct json *json, const char *key, const struct traffic *traffic)
{
	json_open(json, key, '{');
	JSON_FIELDS(json, traffic, calls, bytes, time_ns);
	json_close(json);
}

void report_json_traffic(struct json *json, const struct traffic *read,
			 const struct traffic *written)
{
	print_traffic(json, "read", read);
	print_traffic(json, "written", written);
}

static void print_uint_if(struct json *json, const char *key, bool known, uint64_t value)
{
	report_json_cell(json, key, known ? (int64_t)value : CELL_NULL);
}

void report_json_process(struct json *json, const struct report *report, uint32_t place)
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
	report_json_name(json, "name", &proc->comm);
	json_string(json, "role", role_names[report->context.roles.of[place]]);
}

/* ---- one function a model ---- */

static void print_run(struct json *json, const struct report *report)
{
	static const char *const states[] = {
		[SUMMARY_COMPLETE] = "complete",   [SUMMARY_DAMAGED] = "damaged",
		[SUMMARY_LIVE] = "live",	   [SUMMARY_KILLED] = "killed",
		[SUMMARY_UNWRITTEN] = "unwritten",
	};
	const struct summary *summary = &report->summary;
	const struct span *window = &report->context.window;

	json_open(json, "run", '{');
	JSON_FIELDS(json, summary, path, command, host, exit_status);
	print_uint_if(json, "exit_signal", summary->exit_signal.known, summary->exit_signal.value);
	JSON_FIELDS(json, summary, target, complete, damage);
	json_string(json, "state", states[summary->state]);
	json_bool(json, "has_job", report->has_job);
	json_uint(json, "start_ts", summary->span.start);
	json_uint(json, "end_ts", summary->span.end);
	json_uint(json, "length_ns", span_length(&summary->span));
	json_string(json, "window", report->whole ? NULL : report->window_name);
	json_uint(json, "window_start_ts", window->start);
	json_uint(json, "window_end_ts", window->end);
	json_uint(json, "window_ns", span_length(window));
	print_figures(json, "figures", &report->total);
	json_close(json);
}

static void print_main_part(struct json *json, const struct main_part *part)
{
	json_string(json, "figure", part->figure);
	json_string(json, "says", part->says);
	json_uint(json, "time_ns", part->ns);
	JSON_FIELDS(json, part, share, slight);
}

static void print_main(struct json *json, const struct report *report)
{
	const struct main_thread *main = &report->main;

	json_open(json, "main", '{');
	json_bool(json, "known", main->known);
	report_json_process(json, report, main->proc);
	json_uint(json, "life_ns", main->life_ns);
	JSON_LIST(json, "parts", main->parts, MAIN_PART_COUNT, print_main_part);
	json_close(json);
}

static void print_phase(struct json *json, const struct phase *phase, const struct phase_use *use)
{
	char label[128];

	json_open(json, NULL, '{');
	json_string(json, "name", phase_label(phase, label, sizeof(label)));
	json_string(json, "kind", phase->stem);
	json_uint(json, "start_ts", phase->start);
	json_uint(json, "end_ts", phase->end);
	json_uint(json, "length_ns", phase->end - phase->start);
	JSON_FIELDS(json, phase, depth, open);
	if (use->known) {
		print_figures(json, "figures", &use->figures);
		JSON_FIELDS(json, use, main_cpu_share, main_data_share, cpus, read_rate);
	} else {
		json_null(json, "figures");
	}
	json_close(json);
}

static void print_phases(struct json *json, const struct report *report)
{
	const struct phases *phases = &report->phases;

	json_open(json, "phases", '{');
	json_string(json, "source", phase_source_names[phases->source]);
	json_uint(json, "log_lines", phases->lines);
	json_uint(json, "log_lines_bad", phases->bad_lines);
	json_uint(json, "log_lines_outside", phases->outside);
	json_open(json, "list", '[');
	for (size_t i = 0; i < phases->count; i++)
		print_phase(json, &phases->list[i], &report->phase_uses[i]);
	json_close(json);
	json_close(json);
}

static void print_steps(struct json *json, const struct report *report)
{
	const struct steps *steps = &report->steps;

	json_open(json, "steps", '{');
	json_string(json, "source", step_source_names[steps->source]);
	json_bool(json, "guessed", steps_guessed(steps));
	JSON_FIELDS(json, steps, count, loops);
	if (steps->count)
		json_real(json, "confidence", steps->confidence);
	else
		json_null(json, "confidence");
	report_json_hist(json, "duration", &steps->durations);
	json_close(json);
}

static void print_role(struct json *json, const struct role_use *use, unsigned role)
{
	json_open(json, NULL, '{');
	json_string(json, "role", role_names[role]);
	JSON_FIELDS(json, use, processes, cpu_ns, wait_ns);
	report_json_traffic(json, &use->read, &use->written);
	json_uint(json, "metadata_ns", use->metadata_ns);
	json_open(json, "wakes", '{');
	for (unsigned to = 0; to < PROC_ROLE_COUNT; to++)
		json_uint(json, role_names[to], use->wakes[to]);
	json_close(json);
	json_close(json);
}

static void print_roles(struct json *json, const struct report *report)
{
	const struct roles *roles = &report->context.roles;

	json_open(json, "roles", '{');
	json_open(json, "main", '{');
	report_json_process(json, report, roles->main);
	json_bool(json, "by_gpu", roles->by_gpu);
	json_close(json);
	json_uint(json, "workers_at_once", roles->workers_at_once);
	json_open(json, "list", '[');
	for (unsigned i = 0; i < PROC_ROLE_COUNT; i++)
		print_role(json, &report->by_role[i], i);
	json_close(json);
	json_close(json);
}

static void print_wait_call(struct json *json, const struct wait_call *call)
{
	struct dims_text name = { call->syscall, call->syscall_size };

	report_json_name(json, "syscall", &name);
	json_string(json, "reason", wait_reason_names[call->reason]);
	json_string(json, "woken_by", wait_reason_names[call->waker]);
	json_uint(json, "time_ns", call->ns);
	JSON_FIELDS(json, call, count, mean_ns);
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
	JSON_FIELDS(json, name, cpu_ns, share, busy_share, idle, telling, stays, mean_stay_ns,
		    preempted);
	JSON_FIELDS(json, name, processes, job_processes, lives, life_ns, mean_life_ns);
	report_json_hist(json, "wait", &name->waits);
}

static void print_task_names(struct json *json, const struct tasks *tasks, size_t top)
{
	json_open(json, "names", '[');
	for (size_t i = 0; i < tasks->name_count; i++) {
		if (i >= top && !tasks->names[i].telling)
			continue;
		json_open(json, NULL, '{');
		print_task_name(json, &tasks->names[i]);
		json_close(json);
	}
	json_close(json);
}

/* The names of most processes. */
static void print_most_processes(struct json *json, const struct tasks *tasks, size_t top)
{
	json_open(json, "most_processes", '[');
	for (size_t i = 0; i < tasks->by_process_count && i < top; i++) {
		const struct task_name *name = &tasks->names[tasks->by_processes[i]];

		json_open(json, NULL, '{');
		json_text(json, "name", name->name, name->name_size);
		JSON_FIELDS(json, name, processes, mean_life_ns);
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
		report_json_process(json, report, process->proc);
		json_uint(json, "start_ts", proc->start);
		print_uint_if(json, "end_ts", proc->end != UINT64_MAX, proc->end);
		JSON_FIELDS(json, process, cpu_ns, stays, wait_ns);
		json_close(json);
	}
	json_close(json);
}

static void print_task_cpu(struct json *json, const struct task_cpu *cpu)
{
	JSON_FIELDS(json, cpu, cpu, busy_ns, idle_ns, busy_share, stays, gaps, gap_ns,
		    longest_gap_ns);
}

static void print_tasks(struct json *json, const struct report *report, size_t top)
{
	const struct tasks *tasks = &report->tasks;

	json_open(json, "tasks", '{');
	JSON_FIELDS(json, tasks, known, busy_ns, idle_ns, busy_share, stays, wait_ns, job_cpu_ns,
		    job_cpus, job_wait_ns);
	report_json_hist(json, "job_wait", &tasks->job_waits);
	JSON_FIELDS(json, tasks, gaps, gap_ns);
	print_task_names(json, tasks, top);
	print_most_processes(json, tasks, top);
	print_task_processes(json, report, top);
	JSON_LIST(json, "cpus", tasks->cpus, tasks->cpu_count, print_task_cpu);
	json_close(json);
}

static void print_device(struct json *json, const struct device *device)
{
	json_text(json, "dev", device->name, device->name_size);
	JSON_FIELDS(json, device, read_bytes, write_bytes, ahead_bytes, job_bytes, file_bytes);
	json_uint(json, "other_requests", device->others);
	json_uint(json, "errors", device->errors);
	report_json_hist(json, "read_latency", &device->read);
	report_json_hist(json, "write_latency", &device->write);
	report_json_hist(json, "read_size", &device->read_size);
	report_json_hist(json, "write_size", &device->write_size);
}

static void print_cpu_usage(struct json *json, const struct cpu_average *cpu)
{
	json_open(json, NULL, '{');
	JSON_FIELDS(json, cpu, cpu, usr, sys, iowait, irq, steal, idle, busy);
	json_close(json);
}

static void print_disk_usage(struct json *json, const struct disk_average *disk)
{
	json_text(json, "dev", disk->name, disk->name_size);
	JSON_FIELDS(json, disk, util, most_util, queue, reads, writes, read_bytes, write_bytes);
}

static void print_gpu_usage(struct json *json, const struct gpu_average *gpu)
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
	if (usage->gpu_count) {
		json_open(json, "all_gpus", '{');
		JSON_FIELDS(json, &usage->all_gpus, sm, idle);
		json_close(json);
	} else {
		json_null(json, "all_gpus");
	}
	json_close(json);
}

static void print_job(struct json *json, const struct job_use *job)
{
	json_open(json, "job", '{');
	JSON_FIELDS(json, job, known, sampled_ns);
	report_json_cell(json, "cpu_ns", job->cpu_ns);
	JSON_FIELDS(json, job, cpus, usr_share);
#define SUM_CELL(field, column) report_json_cell(json, #field, job->field);
	JOB_SUMS(SUM_CELL)
#undef SUM_CELL
	report_json_cell(json, "most_rss", job->most_rss);
	report_json_cell(json, "most_processes", job->most_processes);
	report_json_cell(json, "most_threads", job->most_threads);
	json_close(json);
}

static void print_layers(struct json *json, const char *key, const struct report *report,
			 bool (*want)(const struct report *, enum layer))
{
	json_open(json, key, '[');
	for (unsigned i = 0; i < LAYER_COUNT; i++)
		if (want(report, i))
			json_string(json, NULL, layer_names.names[i]);
	json_close(json);
}

static void print_cost(struct json *json, const struct report *report)
{
	const struct summary *summary = &report->summary;
	const struct cost *cost = &report->cost;

	json_open(json, "cost", '{');
	print_uint_if(json, "cpu_ns", cost->cpu_known, cost->cpu_ns);
	print_uint_if(json, "start_cpu_ns", cost->cpu_known, cost->start_cpu_ns);
	print_uint_if(json, "recording_cpu_ns", cost->cpu_known, cost->recording_cpu_ns);
	JSON_FIELDS(json, cost, core_share, on_cpu_ns);
	JSON_FIELDS(json, summary, rows, bytes, bytes_a_row, lost);
	json_real(json, "coverage", summary->coverage.share);
	json_uint(json, "off_ns", summary->off.ns);
	json_open(json, "absent", '{');
	for (size_t i = 0; i < summary->absent_count; i++)
		json_string(json, summary->absent[i].what, summary->absent[i].why);
	json_close(json);
	print_layers(json, "layers", report, report_has_layer);
	print_layers(json, "lacking", report, report_lacks_layer);
	json_close(json);
}

void report_print_json(const struct report *report, size_t top, FILE *out)
{
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	print_run(&json, report);
	print_main(&json, report);
	print_phases(&json, report);
	print_steps(&json, report);
	print_roles(&json, report);
	report_json_containers(&json, report, top);
	print_waits(&json, report);
	print_tasks(&json, report, top);
	report_json_files(&json, report, top);
	JSON_LIST(&json, "devices", report->devices.list, report->devices.count, print_device);
	report_json_levels(&json, report, top);
	print_usage(&json, &report->usage);
	report_json_gpu_work(&json, &report->gpu_work, top);
	print_job(&json, &report->job);
	print_cost(&json, report);
	json_close(&json);
}
