/* The first screen of a report: what matters most about the run, in some twenty lines. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "render/report.h"
#include "render/safe.h"
#include "render/table.h"

#define LABEL	     "%-9s"
#define MOST_DEVICES 2

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

/* A share as a percentage; one that is not known is no number. */
static const char *percent(char *out, double share, int digits)
{
	if (isnan(share))
		strcpy(out, "? %");
	else
		snprintf(out, 32, "%.*f %%", digits, share * 100);
	return out;
}

/* An amount that may not be known. */
static const char *told(char *out, int64_t cell, const char *(*format)(char *, uint64_t))
{
	return cell == CELL_NULL ? "?" : format(out, (uint64_t)cell);
}

static void print_head(const struct report *report, FILE *out)
{
	static const char *const states[] = {
		[SUMMARY_COMPLETE] = "",
		[SUMMARY_DAMAGED] = "The trace is damaged: this is what comes before the damage.\n",
		[SUMMARY_LIVE] = "The trace is not complete: it is still being recorded.\n",
		[SUMMARY_KILLED] = ("The trace is not complete: its recorder was killed; the end "
				    "is that of its last row.\n"),
		[SUMMARY_UNWRITTEN] =
			("The trace is not complete: its recorder could not write on; "
			 "'strata info' tells why.\n"),
	};
	const struct summary *summary = &report->summary;
	const struct span *window = &report->context.window;
	char text[40];

	safe_print(out, summary->command ? summary->command : summary->path);
	fprintf(out, "\n%s", duration(text, span_length(&summary->span)));
	if (summary->host) {
		fputs(" on ", out);
		safe_print(out, summary->host);
	}
	if (summary->cpus.known)
		fprintf(out, ", %llu CPU%s", (unsigned long long)summary->cpus.value,
			summary->cpus.value == 1 ? "" : "s");
	if (summary->exit_signal.known)
		fprintf(out, ", ended by signal %llu",
			(unsigned long long)summary->exit_signal.value);
	if (summary->exit_code.known)
		fprintf(out, ", exit %llu", (unsigned long long)summary->exit_code.value);
	if (summary->has_utc)
		fprintf(out, ", began %.19s UTC",
			units_format_utc(text, sizeof(text), summary->start_utc));
	putc('\n', out);
	if (!report->whole) {
		fputs("Only phase ", out);
		safe_print(out, report->window_name);
		fprintf(out, ", %s from %.3f s on: all figures below are of it alone\n",
			duration(text, span_length(window)),
			(double)(window->start - summary->span.start) / 1e9);
	}
	fputs(states[summary->state], out);
	if (!summary->rows)
		fputs("The trace has no rows: nothing can be said.\n", out);
}

static void print_main(const struct report *report, unsigned width, FILE *out)
{
	const struct main_thread *main = &report->main;
	const struct proc *proc = procs_get(report->context.procs, main->proc);
	struct table table;
	char text[32];

	fputs("\nMain thread, ", out);
	if (proc->comm.bytes)
		safe_write(out, proc->comm.bytes, proc->comm.size);
	fprintf(out, " (pid %lld): where its %s went\n", (long long)proc->pid,
		duration(text, main->life_ns));
	table_begin(&table, NULL, "lrrb");
	for (size_t i = 0; i < MAIN_PART_COUNT; i++) {
		const struct main_part *part = &main->parts[i];

		if (part->slight)
			continue;
		table_cell(&table, "%s", part->says);
		table_duration(&table, part->ns);
		table_share(&table, part->share);
		table_bar(&table, part->share);
	}
	table_print(&table, out, width);
}

/* ---- one line a subject ---- */

static void print_gpu(const struct report *report, FILE *out)
{
	const struct usage *usage = &report->usage;

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
	if (report->gpu_work.device_count) {
		const struct gpu_work *work = &report->gpu_work;
		double sum = 0;

		for (size_t i = 0; i < work->device_count; i++)
			sum += work->devices[i].share;
		fprintf(out, "%zu device%s: the job's work ran for %.0f %% of the time\n",
			work->device_count, work->device_count == 1 ? "" : "s",
			100 * sum / (double)work->device_count);
		return;
	}
	fprintf(out,
		"%zu device%s: a kernel ran for %.0f %% of the time; idle (below %d %%) for %.0f "
		"%%\n",
		usage->gpu_count, usage->gpu_count == 1 ? "" : "s", usage->all_gpus.sm,
		USAGE_IDLE_SM, usage->all_gpus.idle);
}

/* Whose figures those of the job are: a recording of the whole machine has none. */
static const char *job_name(const struct report *report)
{
	return report->has_job ? "the job" : "all processes";
}

static void print_cpu(const struct report *report, FILE *out)
{
	const struct cpu_average *all = &report->usage.all;
	const struct tasks *tasks = &report->tasks;
	char text[32];

	fprintf(out, LABEL, "CPU");
	if (all->weight > 0)
		fprintf(out, "usr %.0f %%, sys %.0f %%, iowait %.0f %%, idle %.0f %%", all->usr,
			all->sys, all->iowait, all->idle);
	else if (tasks->known)
		fprintf(out, "%s busy", percent(text, tasks->busy_share, 0));
	else
		fputs("usage not recorded", out);
	if (!isnan(tasks->job_cpus))
		fprintf(out, "; %s used %.2f CPUs, %s in all", job_name(report), tasks->job_cpus,
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

/* The job by the kernel's counters. */
static void print_job(const struct report *report, FILE *out)
{
	const struct job_use *job = &report->job;
	char a[32], b[32], c[32];

	if (!report->has_job)
		return;
	fprintf(out, LABEL, "Job");
	if (!job->known) {
		fputs("its CPU time, memory and faults are not known: layer cpu has no sample\n",
		      out);
		return;
	}
	fprintf(out, "%s of CPU time, %s user; most memory %s", told(a, job->cpu_ns, duration),
		percent(b, job->usr_share, 0), told(c, job->most_rss, bytes));
	fprintf(out, "; storage %s in, %s out; %s major faults\n", told(a, job->read_bytes, bytes),
		told(b, job->write_bytes, bytes), told(c, job->major_faults, count));
}

static void print_top_dir(const struct report *report, FILE *out)
{
	const struct dir_use *top = report->files.top_dir;
	char a[32], b[32];

	if (!top)
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
	if (!report->files.io_known) {
		fputs("layer io not recorded: reads and writes are not known\n", out);
		return;
	}
	fprintf(out, "%s of %s files in %s calls, %s inside them\n", bytes(a, all->read.bytes),
		count(b, all->read_files), count(c, all->read.calls),
		duration(d, all->read.time_ns));
	if (all->told_bytes)
		fprintf(out, LABEL "%s from the page cache; %s waited for, %s direct\n", "",
			percent(c, all->cached_share, 1), bytes(a, all->missed_bytes),
			bytes(b, all->direct_bytes));
	else if (all->read.bytes)
		fprintf(out, LABEL "%s\n", "",
			"what the page cache served is not known: the trace does not tell");
	if (all->read.calls) {
		fprintf(out, LABEL "%s of calls below 4 KiB, %s empty, %s sequential; ", "",
			percent(a, all->small_share, 0), percent(b, all->empty_share, 0),
			percent(c, all->sequential_share, 0));
		fprintf(out, "%s of %s files read again\n", bytes(a, all->again_bytes),
			count(b, all->again_files));
	}
	print_top_dir(report, out);
	fprintf(out, LABEL "%s to %s files in %s calls, %s inside them\n", "Written",
		bytes(a, all->written.bytes), count(b, all->written_files),
		count(c, all->written.calls), duration(d, all->written.time_ns));
}

static void print_metadata(const struct report *report, FILE *out)
{
	const struct files *files = &report->files;
	char a[32], b[32], c[32], d[32], e[32];

	fprintf(out, LABEL, "Metadata");
	if (!files->fs_known) {
		fputs("layer fs not recorded: opens and stats are not known\n", out);
		return;
	}
	fprintf(out, "%s opens (%s failed), %s stats (%s failed), %s inside such calls\n",
		count(a, files->opens), percent(b, files->failed_open_share, 0),
		count(c, files->stats), percent(d, files->failed_stat_share, 0),
		duration(e, files->metadata_ns));
	if (!isnan(files->opens_a_read))
		fprintf(out, LABEL "%.2f opens and %.2f stats for each read\n", "",
			files->opens_a_read, files->stats_a_read);
}

static void print_devices(const struct report *report, FILE *out)
{
	const struct devices *devices = &report->devices;
	char a[32], b[32], c[32], d[32];

	if (!devices->count) {
		fprintf(out, LABEL "%s\n", "Disk",
			devices->known
				? "no request to a block device"
				: "layer block not recorded: requests to devices are not known");
		return;
	}
	for (size_t i = 0; i < MOST_DEVICES && (i < devices->moving || !i); i++) {
		const struct device *device = &devices->list[i];

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
	const struct role_use *workers = &report->by_role[PROC_ROLE_WORKER];
	char a[32], b[32];

	if (roles->main == PROC_NONE)
		return;
	fprintf(out, LABEL, "Workers");
	if (!workers->processes) {
		fputs("none: the main process loads its data itself\n", out);
		return;
	}
	fprintf(out, "%u, at most %u at once; they read %s in %s\n", workers->processes,
		roles->workers_at_once, bytes(a, workers->read.bytes),
		duration(b, workers->read.time_ns));
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
	if (!steps_guessed(steps))
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
			count(text, summary->lost), summary->coverage.percent);
	else
		fputs("nothing lost", out);
	if (summary->off.windows)
		fprintf(out, "; SWITCHED OFF for %s, of which nothing is known",
			duration(text, summary->off.ns));
	if (report->cost.cpu_known)
		fprintf(out, "; the recorder used %s of CPU (%.1f %% of one core)",
			duration(text, report->cost.recording_cpu_ns),
			report->cost.core_share * 100);
	putc('\n', out);
}

void report_print_overview(const struct report *report, const struct report_style *style, FILE *out)
{
	print_head(report, out);
	if (!report->summary.rows)
		return;
	if (report->main.known)
		print_main(report, style->width, out);
	putc('\n', out);
	print_gpu(report, out);
	print_cpu(report, out);
	print_job(report, out);
	print_workers(report, out);
	print_steps(report, out);
	print_reads(report, out);
	print_metadata(report, out);
	print_devices(report, out);
	print_trace(report, out);
}
