/* The sections of a report about who used the machine: tasks, processes, CPUs, the job as a whole. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "render/report_sections.h"

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

static void cell_mean(struct table *table, double ns)
{
	if (isnan(ns))
		table_cell(table, "%s", "");
	else
		table_duration(table, (uint64_t)ns);
}

static void task_row(struct table *table, const struct task_name *name)
{
	table_text(table, name->name, name->name_size);
	table_duration(table, name->cpu_ns);
	table_share(table, name->share);
	table_share(table, name->busy_share);
	table_count(table, name->stays);
	cell_mean(table, name->mean_stay_ns);
	if (name->waits.count) {
		table_duration(table, name->waits.sum);
		table_duration(table, hist_quantile(&name->waits, 0.99));
	} else {
		table_cell(table, "%s", "");
		table_cell(table, "%s", "");
	}
	table_count(table, name->processes);
	cell_mean(table, name->mean_life_ns);
}

void section_tasks(const struct section_print *print)
{
	const struct tasks *tasks = &print->report->tasks;
	struct table table;
	size_t shown = 0;
	char text[32];

	section_title(print, "Tasks", "time on CPUs by name, of all CPUs' time and without idle");
	if (!tasks->known)
		section_missing(
			print,
			"layer sched not recorded: only processes and their lives are known");
	table_begin(
		&table,
		"task|on CPU|of all|no idle|stays|mean stay|CPU wait|wait p99|processes|mean life",
		"lrrRRRrRrR");
	for (size_t i = 0; i < tasks->name_count; i++) {
		if (i >= print->style->top && !tasks->names[i].telling)
			continue;
		task_row(&table, &tasks->names[i]);
		shown++;
	}
	section_table(print, &table);
	section_more(print, tasks->name_count, shown, "names");
	if (tasks->gaps)
		fprintf(print->out,
			"  the record has %zu gaps: %s of CPU time in all that no row covers\n",
			(size_t)tasks->gaps,
			units_format_duration(text, sizeof(text), tasks->gap_ns));
}

void section_processes(const struct section_print *print)
{
	const struct tasks *tasks = &print->report->tasks;
	const struct files *files = &print->report->files;
	struct table table;

	section_title(print, "Processes", "by time on CPUs, then by time in file calls");
	table_begin(&table, "process|pid|role|on CPU|stays|CPU wait", "lrlrrr");
	for (size_t i = 0; i < tasks->process_count && i < print->style->top; i++) {
		cell_process(&table, print->report, tasks->processes[i].proc);
		table_duration(&table, tasks->processes[i].cpu_ns);
		table_count(&table, tasks->processes[i].stays);
		table_duration(&table, tasks->processes[i].wait_ns);
	}
	if (tasks->process_count)
		section_table(print, &table);
	else
		buf_free(&table.text);
	section_more(print, tasks->process_count, print->style->top, "processes");
	if (!files->process_count)
		return;
	putc('\n', print->out);
	table_begin(&table,
		    "process|pid|role|read|reads|in reads|p99|written|opens|stats|in metadata",
		    "lrlrRrRRRRR");
	for (size_t i = 0; i < files->process_count && i < print->style->top; i++) {
		const struct process_use *use = &files->processes[i];

		cell_process(&table, print->report, use->proc);
		table_bytes(&table, use->read.bytes);
		table_count(&table, use->read.calls);
		table_duration(&table, use->read.time_ns);
		table_duration(&table, hist_quantile(&use->latency, 0.99));
		table_bytes(&table, use->written.bytes);
		table_count(&table, use->opens);
		table_count(&table, use->stats);
		table_duration(&table, use->metadata_ns);
	}
	section_table(print, &table);
	section_more(print, files->process_count, print->style->top, "processes");
}

void section_cpus(const struct section_print *print)
{
	const struct tasks *tasks = &print->report->tasks;
	const struct usage *usage = &print->report->usage;
	struct table table;

	section_title(print, "CPUs", "from every stay, then from the kernel's own counters");
	table_begin(&table, "CPU|busy|share||stays|gaps|in gaps", "rrrBRRR");
	for (size_t i = 0; i < tasks->cpu_count; i++) {
		const struct task_cpu *cpu = &tasks->cpus[i];

		table_cell(&table, "%llu", (unsigned long long)cpu->cpu);
		table_duration(&table, cpu->busy_ns);
		table_share(&table, cpu->busy_share);
		table_bar(&table, isnan(cpu->busy_share) ? 0 : cpu->busy_share);
		table_count(&table, cpu->stays);
		table_count(&table, cpu->gaps);
		table_duration(&table, cpu->gap_ns);
	}
	if (tasks->cpu_count)
		section_table(print, &table);
	else
		buf_free(&table.text);
	if (usage->all.weight <= 0) {
		section_missing(print, "layer cpu not recorded: no counters");
		return;
	}
	table_begin(&table, "CPU|usr %|sys %|iowait %|irq %|steal %|idle %", "rrrrrrr");
	for (size_t i = 0; i <= usage->cpu_count; i++) {
		const struct cpu_average *cpu = i ? &usage->cpus[i - 1] : &usage->all;

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
	section_table(print, &table);
}

/* ---- the job by the kernel's counters ---- */

typedef char *(*cell_format)(char *, size_t, uint64_t);

static void job_row(struct table *table, const char *what, int64_t value, cell_format format)
{
	char text[32];

	table_cell(table, "%s", what);
	table_cell(table, "%s",
		   value == CELL_NULL ? "not known" : format(text, sizeof(text), (uint64_t)value));
}

void section_job(const struct section_print *print)
{
	const struct job_use *job = &print->report->job;
	struct table table;

	section_title(print, "Job", "what it used as a whole, by the kernel's own counters");
	if (!job->known) {
		section_missing(print, print->report->has_job
					       ? "layer cpu not recorded, or no sample: not known"
					       : "the whole machine was recorded: there is none");
		return;
	}
	table_begin(&table, NULL, "lr");
	job_row(&table, "CPU time in user mode", job->usr_ns, units_format_duration);
	job_row(&table, "CPU time in the kernel", job->sys_ns, units_format_duration);
	job_row(&table, "most memory (resident, sampled)", job->most_rss, units_format_bytes);
	job_row(&table, "most processes (sampled)", job->most_processes, units_format_count);
	job_row(&table, "most threads (sampled)", job->most_threads, units_format_count);
	job_row(&table, "moved by calls that read", job->rchar_bytes, units_format_bytes);
	job_row(&table, "moved by calls that write", job->wchar_bytes, units_format_bytes);
	job_row(&table, "fetched from storage", job->read_bytes, units_format_bytes);
	job_row(&table, "sent to storage", job->write_bytes, units_format_bytes);
	job_row(&table, "page faults that waited for storage", job->major_faults,
		units_format_count);
	job_row(&table, "other page faults", job->minor_faults, units_format_count);
	job_row(&table, "switches to wait for something", job->voluntary, units_format_count);
	job_row(&table, "switches forced", job->involuntary, units_format_count);
	section_table(print, &table);
}
