/* The first screen of a report: what matters most about the run, in some twenty lines. */
#include <string.h>

#include "base/units.h"
#include "render/report.h"
#include "render/safe.h"
#include "render/table.h"

#define LABEL "%-9s"

static const char *duration(char *out, uint64_t ns)
{
	return units_format_duration(out, 32, ns);
}

static const char *bytes(char *out, uint64_t value)
{
	return units_format_bytes(out, 32, value);
}

static const char *count(char *out, uint64_t value)
{
	return units_format_count(out, 32, value);
}

static double percent(double part, double whole)
{
	return whole > 0 ? part / whole * 100 : 0;
}

static void print_head(const struct report *report, FILE *out)
{
	const struct summary *summary = &report->summary;
	uint64_t length = summary->span.end - summary->span.start;
	const struct span *window = &report->context.window;
	char text[40];

	safe_print(out, summary->command ? summary->command : summary->path);
	fprintf(out, "\n%s", duration(text, length));
	if (summary->host) {
		fputs(" on ", out);
		safe_print(out, summary->host);
	}
	if (summary->cpus) {
		fputs(", ", out);
		safe_print(out, summary->cpus);
		fputs(strcmp(summary->cpus, "1") ? " CPUs" : " CPU", out);
	}
	if (summary->exit_status) {
		fputs(strncmp(summary->exit_status, "signal", 6) ? ", exit " : ", ended by ", out);
		safe_print(out, summary->exit_status);
	}
	if (summary->has_utc)
		fprintf(out, ", began %.19s UTC",
			units_format_utc(text, sizeof(text), summary->start_utc));
	putc('\n', out);
	if (!report->whole) {
		fputs("Only phase ", out);
		safe_print(out, report->window_name);
		fprintf(out, ", %s from %.3f s on: all figures below are of it alone\n",
			duration(text, window->end - window->start),
			(double)(window->start - summary->span.start) / 1e9);
	}
	if (summary->damage)
		fputs("The trace is damaged: this is what comes before the damage.\n", out);
	else if (!summary->complete)
		fprintf(out, "The trace is not complete: %s.\n",
			summary->live ? "it is still being recorded"
				      : "its recorder was killed; the end is that of its last row");
	if (!summary->rows)
		fputs("The trace has no rows: nothing can be said.\n", out);
}

/* ---- where the main thread's time went ---- */

struct part {
	const char *name;
	uint64_t ns;
};

static void sort_parts(struct part *parts, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t j = i; j && parts[j].ns > parts[j - 1].ns; j--) {
			struct part kept = parts[j];

			parts[j] = parts[j - 1];
			parts[j - 1] = kept;
		}
}

static uint64_t main_life(const struct report *report)
{
	const struct proc *main = procs_get(report->context.procs, report->context.roles.main);
	uint64_t start = context_clip(&report->context, main->start);
	uint64_t end = context_clip(&report->context, main->end);

	return end > start ? end - start : 0;
}

static void print_main(const struct report *report, unsigned width, FILE *out)
{
	const struct proc *main = procs_get(report->context.procs, report->context.roles.main);
	const struct figures *total = &report->total;
	uint64_t life = main_life(report), known = 0;
	struct part parts[] = {
		{ "on a CPU", total->main_cpu_ns },
		{ "ready, waiting for a CPU", total->main_queue_ns },
		{ "asleep until a data worker woke it", total->main_workers_ns },
		{ "asleep in the kernel, storage mostly (D)", total->main_disk_ns },
		{ "asleep until a thread of its own woke it", total->main_own_ns },
		{ "asleep until another process woke it", total->main_others_ns },
		{ "asleep until a timer or device woke it", total->main_events_ns },
		{ "not known", 0 },
	};
	size_t count_parts = sizeof(parts) / sizeof(*parts);
	struct table table;
	char text[32];

	for (size_t i = 0; i < count_parts; i++)
		known += parts[i].ns;
	if (known > life) /* on its way out it is still on a CPU */
		life = known;
	parts[count_parts - 1].ns = life - known;
	sort_parts(parts, count_parts);
	fputs("\nMain thread, ", out);
	if (main->comm.bytes)
		safe_write(out, main->comm.bytes, main->comm.size);
	fprintf(out, " (pid %lld): where its %s went\n", (long long)main->pid,
		duration(text, life));
	table_begin(&table, NULL, "lrrb");
	for (size_t i = 0; i < count_parts; i++) {
		if (parts[i].ns * 1000 < life)
			continue;
		table_cell(&table, "%s", parts[i].name);
		table_duration(&table, parts[i].ns);
		table_share(&table, (double)parts[i].ns, (double)life);
		table_bar(&table, percent((double)parts[i].ns, (double)life) / 100);
	}
	table_print(&table, out, width);
}

/* ---- one line a subject ---- */

static void print_gpu(const struct report *report, FILE *out)
{
	const struct usage *usage = &report->usage;
	double sm = 0, idle = 0;

	fprintf(out, LABEL, "GPU");
	if (!usage->gpu_count) {
		const char *absent = report_absent(report, LAYER_gpu);

		fputs("not recorded", out);
		if (absent) {
			fputs(": ", out);
			safe_print(out, absent);
		}
		putc('\n', out);
		return;
	}
	for (size_t i = 0; i < usage->gpu_count; i++) {
		sm += usage->gpus[i].sm;
		idle += usage->gpus[i].idle;
	}
	fprintf(out,
		"%zu device%s: a kernel ran for %.0f %% of the time; idle (below 5 %%) for %.0f "
		"%%\n",
		usage->gpu_count, usage->gpu_count == 1 ? "" : "s", sm / (double)usage->gpu_count,
		idle / (double)usage->gpu_count);
}

/* Whose figures those of the job are: a recording of the whole machine has none. */
static const char *job_name(const struct report *report)
{
	return procs_has_job(report->context.procs) ? "the job" : "all processes";
}

static void print_cpu(const struct report *report, FILE *out)
{
	const struct cpu_usage *all = &report->usage.all;
	const struct tasks *tasks = &report->tasks;
	uint64_t length = report->context.window.end - report->context.window.start;
	char text[32];

	fprintf(out, LABEL, "CPU");
	if (all->weight > 0)
		fprintf(out, "usr %.0f %%, sys %.0f %%, iowait %.0f %%, idle %.0f %%", all->usr,
			all->sys, all->iowait, all->idle);
	else if (tasks->known)
		fprintf(out, "%.0f %% busy",
			percent((double)tasks->busy_ns, (double)(tasks->busy_ns + tasks->idle_ns)));
	else
		fputs("usage not recorded", out);
	if (tasks->known && length)
		fprintf(out, "; %s used %.2f CPUs, %s in all", job_name(report),
			(double)tasks->job_cpu_ns / (double)length,
			duration(text, tasks->job_cpu_ns));
	putc('\n', out);
	if (!tasks->known) {
		fprintf(out, LABEL "%s\n", "",
			"layer sched not recorded: time on CPUs, waits and switches are not known");
		return;
	}
	fprintf(out, LABEL "waits for a CPU: %s in all by %s", "",
		duration(text, tasks->job_wait_ns), job_name(report));
	if (tasks->job_waits.count)
		fprintf(out, ", 1 %% of them above %s",
			duration(text, hist_quantile(&tasks->job_waits, 0.99)));
	putc('\n', out);
}

/* The directory that most is read from: the data set, mostly. */
static void print_top_dir(const struct report *report, FILE *out)
{
	const struct dir_use *top = NULL;
	char a[32], b[32];

	for (size_t i = 0; i < report->files.dir_count; i++)
		if (!top || report->files.dirs[i].read.bytes > top->read.bytes)
			top = &report->files.dirs[i];
	if (!top || !top->read.bytes)
		return;
	fprintf(out, LABEL "%s of it in %s from ", "", bytes(a, top->read.bytes),
		duration(b, top->read.time_ns));
	safe_write(out, top->path.bytes, top->path.size);
	putc('\n', out);
}

static void print_reads(const struct report *report, FILE *out)
{
	const struct files_total *all = &report->files.regular;
	char a[32], b[32], c[32], d[32];

	fprintf(out, LABEL, "Read");
	if (!report_has_layer(report, LAYER_io) && !report->files.has_io) {
		fputs("layer io not recorded: reads and writes are not known\n", out);
		return;
	}
	fprintf(out, "%s of %s files in %s calls, %s inside them\n", bytes(a, all->read.bytes),
		count(b, all->read_files), count(c, all->read.calls),
		duration(d, all->read.time_ns));
	if (all->told_bytes)
		fprintf(out, LABEL "%.1f %% from the page cache; %s waited for, %s direct\n", "",
			percent((double)all->cached_bytes, (double)all->told_bytes),
			bytes(a, all->missed_bytes), bytes(b, all->direct_bytes));
	else if (all->read.bytes)
		fprintf(out, LABEL "%s\n", "",
			"what the page cache served is not known: the trace does not tell");
	if (all->read.calls)
		fprintf(out,
			LABEL "%.0f %% of calls below 4 KiB, %.0f %% empty, %.0f %% sequential; %s "
			      "of %s files read again\n",
			"", percent((double)all->small_reads, (double)all->read.calls),
			percent((double)all->empty_reads, (double)all->read.calls),
			percent((double)all->sequential, (double)all->compared),
			bytes(a, all->again_bytes), count(b, all->again_files));
	print_top_dir(report, out);
	fprintf(out, LABEL "%s to %s files in %s calls, %s inside them\n", "Written",
		bytes(a, all->written.bytes), count(b, all->written_files),
		count(c, all->written.calls), duration(d, all->written.time_ns));
}

static void print_metadata(const struct report *report, FILE *out)
{
	const struct files *files = &report->files;
	uint64_t reads = files->regular.read.calls;
	char a[32], b[32], c[32];

	fprintf(out, LABEL, "Metadata");
	if (!report_has_layer(report, LAYER_fs) && !files->has_fs) {
		fputs("layer fs not recorded: opens and stats are not known\n", out);
		return;
	}
	fprintf(out, "%s opens (%.0f %% failed), %s stats (%.0f %% failed), %s inside such calls",
		count(a, files->opens), percent((double)files->failed_opens, (double)files->opens),
		count(b, files->stats), percent((double)files->failed_stats, (double)files->stats),
		duration(c, files->metadata_ns));
	putc('\n', out);
	if (reads)
		fprintf(out, LABEL "%.2f opens and %.2f stats for each read\n", "",
			(double)files->opens / (double)reads, (double)files->stats / (double)reads);
}

static void print_devices(const struct report *report, FILE *out)
{
	const struct devices *devices = &report->devices;
	char a[32], b[32], c[32], d[32];

	if (!devices->count) {
		fprintf(out, LABEL "%s\n", "Disk",
			report_has_layer(report, LAYER_block)
				? "no request to a block device"
				: "layer block not recorded: requests to devices are not known");
		return;
	}
	for (size_t i = 0; i < devices->count && i < 2; i++) {
		const struct device *device = &devices->list[i];

		if (i && !device->read_bytes && !device->write_bytes)
			break;
		fprintf(out, LABEL, i ? "" : "Disk");
		safe_write(out, device->name, device->name_size);
		fprintf(out, ": %s read, %s written, %s of it for %s", bytes(a, device->read_bytes),
			bytes(b, device->write_bytes), bytes(c, device->job_bytes),
			job_name(report));
		if (device->read.count)
			fprintf(out, "; a read takes %s, 1 %% more than %s",
				duration(a, hist_quantile(&device->read, 0.5)),
				duration(d, hist_quantile(&device->read, 0.99)));
		putc('\n', out);
	}
}

static void print_workers(const struct report *report, FILE *out)
{
	const struct roles *roles = &report->context.roles;
	const struct traffic *read = &report->files.role_read[PROC_ROLE_WORKER];
	char a[32], b[32];

	if (roles->main == PROC_NONE)
		return;
	fprintf(out, LABEL, "Workers");
	if (!roles->counts[PROC_ROLE_WORKER]) {
		fputs("none: the main process loads its data itself\n", out);
		return;
	}
	fprintf(out, "%u, at most %u at once; they read %s in %s\n", roles->counts[PROC_ROLE_WORKER],
		roles->workers_at_once, bytes(a, read->bytes), duration(b, read->time_ns));
}

static void print_steps(const struct report *report, FILE *out)
{
	const struct steps *steps = &report->steps;
	char a[32], b[32];

	fprintf(out, LABEL, "Steps");
	if (!steps->count) {
		fputs("none marked and no rhythm found\n", out);
		return;
	}
	fprintf(out, "%zu, median %s, 1 %% more than %s; ", steps->count,
		duration(a, hist_quantile(&steps->durations, 0.5)),
		duration(b, hist_quantile(&steps->durations, 0.99)));
	if (steps->source == STEPS_NVTX || steps->source == STEPS_MARKS)
		fprintf(out, "from %s\n", steps->source == STEPS_NVTX ? "NVTX ranges" : "marks");
	else
		fprintf(out, "guessed from %s, confidence %.0f %%\n",
			steps->source == STEPS_HANDOFFS ? "batches handed over" : "bursts of reads",
			steps->confidence * 100);
}

static void print_trace(const struct report *report, FILE *out)
{
	const struct summary *summary = &report->summary;
	char text[32];

	fprintf(out, LABEL, "Trace");
	if (summary->lost)
		fprintf(out,
			"%s EVENTS LOST, figures are too low; %.2f %% of the time without loss",
			count(text, summary->lost),
			(double)(uint64_t)(summary->coverage.share * 1e4) / 100);
	else
		fputs("nothing lost", out);
	if (report->cost.cpu_known)
		fprintf(out, "; the recorder used %s of CPU (%.1f %% of one core)",
			duration(text, report->cost.cpu_ns - report->cost.start_cpu_ns),
			report->cost.core_share * 100);
	putc('\n', out);
}

void report_print_overview(const struct report *report, const struct report_style *style, FILE *out)
{
	print_head(report, out);
	if (!report->summary.rows)
		return;
	if (report->context.roles.main != PROC_NONE && report->waits.known)
		print_main(report, style->width, out);
	putc('\n', out);
	print_gpu(report, out);
	print_cpu(report, out);
	print_workers(report, out);
	print_steps(report, out);
	print_reads(report, out);
	print_metadata(report, out);
	print_devices(report, out);
	print_trace(report, out);
}
