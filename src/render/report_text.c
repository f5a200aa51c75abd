/* The sections of a report after its first screen, each a list or table of its own. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/report.h"
#include "render/report_sections.h"
#include "render/safe.h"
#include "render/table.h"

const char *const report_sections[SECTION_COUNT] = {
#define SECTION_NAME(name) #name,
	REPORT_SECTIONS(SECTION_NAME)
#undef SECTION_NAME
};

void section_title(const struct page *page, const char *name, const char *says)
{
	fprintf(page->out, "\n%s: %s\n", name, says);
}

void section_missing(const struct page *page, const char *what)
{
	fprintf(page->out, "  %s\n", what);
}

void section_more(const struct page *page, size_t count, const char *what)
{
	char text[32];

	if (count > page->style->top)
		fprintf(page->out, "  ... and %s more %s (--top N shows more)\n",
			units_format_count(text, sizeof(text), count - page->style->top), what);
}

static void cell_process(struct table *table, const struct report *report, uint32_t place)
{
	const struct proc *proc =
		place == PROC_NONE ? NULL : procs_get(report->context.procs, place);

	table_text(table, proc ? proc->comm.bytes : NULL, proc ? proc->comm.size : 0);
	if (proc)
		table_cell(table, "%lld", (long long)proc->pid);
	else
		table_cell(table, "?");
	table_cell(table, "%s", proc ? role_names[report->context.roles.of[place]] : "?");
}

/* ---- phases, steps ---- */

static void cell_rate(struct table *table, uint64_t bytes, uint64_t ns)
{
	char text[32];

	if (!ns)
		table_cell(table, "%s", "");
	else
		table_cell(table, "%s/s",
			   units_format_bytes(text, sizeof(text),
					      (uint64_t)((double)bytes / (double)ns * 1e9)));
}

static void phase_row(struct table *table, const struct report *report, size_t i)
{
	const struct phase *phase = &report->phases.list[i];
	const struct figures *figures = &report->phase_figures[i];
	uint64_t length = phase->end - phase->start;
	char label[192];

	snprintf(label, sizeof(label), "%*s%s%s%s%s",
		 (int)(phase->depth < 20 ? phase->depth : 20) * 2, "", phase->stem,
		 *phase->number ? " " : "", phase->number, phase->open ? " (open)" : "");
	table_text(table, label, strlen(label));
	table_duration(table, phase->start - report->summary.span.start);
	table_duration(table, length);
	table_share(table, (double)figures->main_cpu_ns, (double)length);
	table_share(table, (double)(figures->main_workers_ns + figures->main_disk_ns),
		    (double)length);
	table_cell(table, "%.2f", length ? (double)figures->cpu_ns / (double)length : 0);
	table_bytes(table, figures->read_bytes);
	cell_rate(table, figures->read_bytes, length);
	table_bytes(table, figures->write_bytes);
	table_bytes(table, figures->device_read_bytes);
}

static void print_phases(const struct page *page)
{
	const struct phases *phases = &page->report->phases;
	static const char *const sources[] = { "the job names none, so the run is one",
					       "from the job's marks", "from MLLOG lines recorded",
					       "from the log given" };
	struct table table;

	section_title(page, "Phases", sources[phases->source]);
	if (phases->bad_lines || phases->outside)
		fprintf(page->out, "  %zu lines of the log not understood, %zu of another time\n",
			phases->bad_lines, phases->outside);
	if (!page->report->whole) {
		section_missing(page, "see the report of the whole run for its phases");
		return;
	}
	table_begin(&table,
		    "phase|from|length|main on CPU|data, disk|CPUs|read|rate|written|from disk",
		    "lRrrrRrRRR");
	for (size_t i = 0; i < phases->count && i < page->style->top; i++)
		phase_row(&table, page->report, i);
	table_print(&table, page->out, page->style->width);
	section_more(page, phases->count, "phases");
}

static void print_steps(const struct page *page)
{
	static const char *const sources[] = {
		"none", "from NVTX ranges", "from marks",
		"GUESSED: from one batch handed over by a worker to the next",
		"GUESSED: from one burst of reads by the main thread to the next"
	};
	const struct steps *steps = &page->report->steps;
	struct table table;

	section_title(page, "Steps", sources[steps->source]);
	if (!steps->count) {
		section_missing(
			page,
			"nothing marks steps (NVTX, strata mark step) and no rhythm is found");
		return;
	}
	if (steps->source == STEPS_HANDOFFS || steps->source == STEPS_BURSTS)
		fprintf(page->out,
			"  confidence %.0f %%: so many last from half of to twice the median\n",
			steps->confidence * 100);
	table_begin(&table, "steps|loops|mean|median|90 %|99 %|longest", "rRrrRrr");
	table_count(&table, steps->count);
	table_count(&table, steps->loops);
	table_duration(&table, steps->durations.sum / steps->count);
	table_duration(&table, hist_quantile(&steps->durations, 0.5));
	table_duration(&table, hist_quantile(&steps->durations, 0.9));
	table_duration(&table, hist_quantile(&steps->durations, 0.99));
	table_duration(&table, steps->durations.most);
	table_print(&table, page->out, page->style->width);
}

/* ---- roles, waits ---- */

static void print_roles(const struct page *page)
{
	const struct report *report = page->report;
	const struct roles *roles = &report->context.roles;
	uint64_t cpu[PROC_ROLE_COUNT] = { 0 }, wait[PROC_ROLE_COUNT] = { 0 };
	struct table table;

	section_title(page, "Roles",
		      "what the job's processes do, by the process tree and GPU use");
	if (roles->main == PROC_NONE) {
		section_missing(page,
				"the whole machine was recorded, or the job's first process is not "
				"known: no roles");
		return;
	}
	for (size_t i = 0; i < report->tasks.process_count; i++) {
		cpu[roles->of[report->tasks.processes[i].proc]] +=
			report->tasks.processes[i].cpu_ns;
		wait[roles->of[report->tasks.processes[i].proc]] +=
			report->tasks.processes[i].wait_ns;
	}
	table_begin(&table,
		    "role|processes|on CPU|CPU wait|read|in reads|written|in metadata|wakes main",
		    "lrrRrRRRR");
	for (unsigned i = 0; i < PROC_ROLE_COUNT; i++) {
		if (!roles->counts[i])
			continue;
		table_cell(&table, "%s", role_names[i]);
		table_count(&table, roles->counts[i]);
		table_duration(&table, cpu[i]);
		table_duration(&table, wait[i]);
		table_bytes(&table, report->files.role_read[i].bytes);
		table_duration(&table, report->files.role_read[i].time_ns);
		table_bytes(&table, report->files.role_written[i].bytes);
		table_duration(&table, report->files.role_metadata_ns[i]);
		table_count(&table, report->waits.wakes[i][PROC_ROLE_MAIN]);
	}
	table_print(&table, page->out, page->style->width);
}

static void print_waits(const struct page *page)
{
	const struct waits *waits = &page->report->waits;
	struct table table;

	section_title(page, "Waits of the main thread", "the call it slept in, and who woke it");
	if (!waits->known) {
		section_missing(page, "layer sched not recorded, or no main process: not known");
		return;
	}
	table_begin(&table, "asleep|times|mean|in|woken by", "rrRll");
	for (size_t i = 0; i < waits->call_count && i < page->style->top; i++) {
		const struct wait_call *call = &waits->calls[i];

		table_duration(&table, call->ns);
		table_count(&table, call->count);
		table_duration(&table, call->ns / call->count);
		if (call->syscall)
			table_text(&table, call->syscall, call->syscall_size);
		else
			table_cell(&table, "user mode (page faults)");
		table_cell(&table, "%s", wait_reason_names[call->reason]);
	}
	table_print(&table, page->out, page->style->width);
	section_more(page, waits->call_count, "kinds of wait");
}

/* ---- tasks, processes, cpus ---- */

static void task_row(struct table *table, const struct tasks *tasks, const struct task_name *name)
{
	bool idle = name->name_size == 4 && !memcmp(name->name, "idle", 4);

	table_text(table, name->name, name->name_size);
	table_duration(table, name->cpu_ns);
	table_share(table, (double)name->cpu_ns, (double)(tasks->busy_ns + tasks->idle_ns));
	table_share(table, idle ? 0 : (double)name->cpu_ns, idle ? 0 : (double)tasks->busy_ns);
	table_count(table, name->stays);
	table_duration(table, name->stays ? name->cpu_ns / name->stays : 0);
	if (name->waits.count) {
		table_duration(table, name->waits.sum);
		table_duration(table, hist_quantile(&name->waits, 0.99));
	} else {
		table_cell(table, "%s", "");
		table_cell(table, "%s", "");
	}
	table_count(table, name->processes);
	if (name->lives)
		table_duration(table, name->life_ns / name->lives);
	else
		table_cell(table, "%s", "");
}

static bool always_shown(const struct task_name *name)
{
	return (name->name_size == 4 && !memcmp(name->name, "idle", 4)) ||
	       (name->name_size == 7 && !memcmp(name->name, "kworker", 7));
}

static void print_tasks(const struct page *page)
{
	const struct tasks *tasks = &page->report->tasks;
	struct table table;
	char text[32];

	section_title(page, "Tasks", "time on CPUs by name, of all CPUs' time and without idle");
	if (!tasks->known)
		section_missing(
			page, "layer sched not recorded: only processes and their lives are known");
	table_begin(
		&table,
		"task|on CPU|of all|no idle|stays|mean stay|CPU wait|wait p99|processes|mean life",
		"lrrRRRrRrR");
	for (size_t i = 0; i < tasks->name_count; i++)
		if (i < page->style->top || always_shown(&tasks->names[i]))
			task_row(&table, tasks, &tasks->names[i]);
	table_print(&table, page->out, page->style->width);
	section_more(page, tasks->name_count, "names");
	if (tasks->gaps)
		fprintf(page->out,
			"  the record has %zu gaps: %s of CPU time in all that no row covers\n",
			(size_t)tasks->gaps,
			units_format_duration(text, sizeof(text), tasks->gap_ns));
}

static void print_processes(const struct page *page)
{
	const struct tasks *tasks = &page->report->tasks;
	const struct files *files = &page->report->files;
	struct table table;

	section_title(page, "Processes", "by time on CPUs, then by time in file calls");
	table_begin(&table, "process|pid|role|on CPU|stays|CPU wait", "lrlrrr");
	for (size_t i = 0; i < tasks->process_count && i < page->style->top; i++) {
		cell_process(&table, page->report, tasks->processes[i].proc);
		table_duration(&table, tasks->processes[i].cpu_ns);
		table_count(&table, tasks->processes[i].stays);
		table_duration(&table, tasks->processes[i].wait_ns);
	}
	if (tasks->process_count)
		table_print(&table, page->out, page->style->width);
	else
		buf_free(&table.text);
	section_more(page, tasks->process_count, "processes");
	if (!files->process_count)
		return;
	putc('\n', page->out);
	table_begin(&table,
		    "process|pid|role|read|reads|in reads|p99|written|opens|stats|in metadata",
		    "lrlrRrRRRRR");
	for (size_t i = 0; i < files->process_count && i < page->style->top; i++) {
		const struct process_use *use = &files->processes[i];

		cell_process(&table, page->report, use->proc);
		table_bytes(&table, use->read.bytes);
		table_count(&table, use->read.calls);
		table_duration(&table, use->read.time_ns);
		table_duration(&table, hist_quantile(&use->latency, 0.99));
		table_bytes(&table, use->written.bytes);
		table_count(&table, use->opens);
		table_count(&table, use->stats);
		table_duration(&table, use->metadata_ns);
	}
	table_print(&table, page->out, page->style->width);
	section_more(page, files->process_count, "processes");
}

static void print_cpus(const struct page *page)
{
	const struct tasks *tasks = &page->report->tasks;
	const struct usage *usage = &page->report->usage;
	struct table table;

	section_title(page, "CPUs", "from every stay, then from the kernel's own counters");
	table_begin(&table, "CPU|busy|share||stays|gaps|in gaps", "rrrBRRR");
	for (size_t i = 0; i < tasks->cpu_count; i++) {
		const struct task_cpu *cpu = &tasks->cpus[i];
		double all = (double)(cpu->busy_ns + cpu->idle_ns);

		table_cell(&table, "%llu", (unsigned long long)cpu->cpu);
		table_duration(&table, cpu->busy_ns);
		table_share(&table, (double)cpu->busy_ns, all);
		table_bar(&table, all > 0 ? (double)cpu->busy_ns / all : 0);
		table_count(&table, cpu->stays);
		table_count(&table, cpu->gaps);
		table_duration(&table, cpu->gap_ns);
	}
	if (tasks->cpu_count)
		table_print(&table, page->out, page->style->width);
	else
		buf_free(&table.text);
	if (usage->all.weight <= 0) {
		section_missing(page, "layer cpu not recorded: no counters");
		return;
	}
	table_begin(&table, "CPU|usr %|sys %|iowait %|irq %|steal %|idle %", "rrrrrrr");
	for (size_t i = 0; i <= usage->cpu_count; i++) {
		const struct cpu_usage *cpu = i ? &usage->cpus[i - 1] : &usage->all;

		if (i)
			table_cell(&table, "%lld", (long long)cpu->cpu);
		else
			table_cell(&table, "all");
		table_cell(&table, "%.1f", cpu->usr);
		table_cell(&table, "%.1f", cpu->sys);
		table_cell(&table, "%.1f", cpu->iowait);
		table_cell(&table, "%.1f", cpu->irq);
		table_cell(&table, "%.1f", cpu->steal);
		table_cell(&table, "%.1f", cpu->idle);
	}
	table_print(&table, page->out, page->style->width);
}

static void print_gpus(const struct page *page)
{
	const struct usage *usage = &page->report->usage;
	struct table table;

	section_title(page, "GPUs", "averages of samples");
	if (!usage->gpu_count) {
		section_missing(page, "not recorded");
		return;
	}
	table_begin(&table, "GPU|kernels %||memory %|idle %|most memory|of|power W", "rrbRrrRR");
	for (size_t i = 0; i < usage->gpu_count; i++) {
		const struct gpu_usage *gpu = &usage->gpus[i];

		table_cell(&table, "%lld", (long long)gpu->gpu);
		table_cell(&table, "%.1f", gpu->sm);
		table_bar(&table, gpu->sm / 100);
		table_cell(&table, "%.1f", gpu->mem);
		table_cell(&table, "%.1f", gpu->idle);
		table_bytes(&table, gpu->most_fb);
		table_bytes(&table, gpu->fb_total);
		table_cell(&table, "%.0f", gpu->power);
	}
	table_print(&table, page->out, page->style->width);
}

/* ---- the trace itself ---- */

static void print_trace(const struct page *page)
{
	const struct summary *summary = &page->report->summary;
	const struct cost *cost = &page->report->cost;
	char text[32], size[32], start[32];

	section_title(page, "Trace", "what recording cost, and what it could not see");
	fprintf(page->out, "  %s rows, %s, %.1f bytes a row\n",
		units_format_count(text, sizeof(text), summary->rows),
		units_format_bytes(size, sizeof(size), summary->bytes), cost->bytes_a_row);
	if (cost->cpu_known)
		fprintf(page->out,
			"  the recorder's CPU time: %s, %.1f %% of one core, and %s to start\n",
			units_format_duration(text, sizeof(text),
					      cost->cpu_ns - cost->start_cpu_ns),
			cost->core_share * 100,
			units_format_duration(start, sizeof(start), cost->start_cpu_ns));
	else
		section_missing(page, "the recorder's CPU time is not known: it did not finish");
	fputs("  layers: ", page->out);
	safe_print(page->out, summary->layers ? summary->layers : "unknown");
	putc('\n', page->out);
	for (size_t i = 0; i < summary->absent_count; i++) {
		fputs("  absent: ", page->out);
		safe_print(page->out, summary->absent[i].what);
		fputs(": ", page->out);
		safe_print(page->out, summary->absent[i].why);
		putc('\n', page->out);
	}
	if (!summary->lost)
		section_missing(page, "nothing was lost");
	for (size_t i = 0; i < summary->loss_count; i++) {
		fprintf(page->out, "  lost: %s events of layer ",
			units_format_count(text, sizeof(text), summary->losses[i].count));
		safe_print(page->out, summary->losses[i].layer);
		fputs(": ", page->out);
		safe_print(page->out, summary->losses[i].reason);
		putc('\n', page->out);
	}
}

static void print_sections(const struct report *report, const struct report_style *style, FILE *out)
{
	static void (*const printers[SECTION_COUNT])(const struct page *) = {
		[SECTION_phases] = print_phases,
		[SECTION_steps] = print_steps,
		[SECTION_roles] = print_roles,
		[SECTION_waits] = print_waits,
		[SECTION_tasks] = print_tasks,
		[SECTION_processes] = print_processes,
		[SECTION_cpus] = print_cpus,
		[SECTION_gpus] = print_gpus,
		[SECTION_files] = section_files,
		[SECTION_directories] = section_directories,
		[SECTION_operations] = section_operations,
		[SECTION_histograms] = section_histograms,
		[SECTION_devices] = section_devices,
		[SECTION_trace] = print_trace,
	};
	struct page page = { report, style, out };

	if (style->section == SECTION_overview || style->section == SECTION_COUNT)
		report_print_overview(report, style, out);
	if (!report->summary.rows && style->section == SECTION_COUNT)
		return;
	for (int i = 0; i < SECTION_COUNT; i++)
		if (printers[i] && (style->section == i || style->section == SECTION_COUNT))
			printers[i](&page);
}

/* Breaks lines that are longer than the terminal is wide at spaces; what follows is indented. */
static void print_wrapped(const char *text, unsigned width, FILE *out)
{
	static const unsigned indent = 9;

	for (; *text; text += strcspn(text, "\n") + 1) {
		size_t left = strcspn(text, "\n"), room = width;
		const char *line = text;

		while (left > room) {
			size_t cut = room;

			/* A number stays with its unit. */
			while (cut && (line[cut] != ' ' || isdigit((unsigned char)line[cut - 1])))
				cut--;
			if (!cut)
				break; /* a word that is longer than a line */
			fprintf(out, "%.*s\n%*s", (int)cut, line, (int)indent, "");
			line += cut + 1;
			left -= cut + 1;
			room = width - indent;
		}
		fprintf(out, "%.*s\n", (int)left, line);
		if (!text[strcspn(text, "\n")])
			return;
	}
}

void report_print_text(const struct report *report, const struct report_style *style, FILE *out)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory) {
		print_sections(report, style, out);
		return;
	}
	print_sections(report, style, memory);
	if (!fclose(memory))
		print_wrapped(text, style->width, out);
	free(text);
}
