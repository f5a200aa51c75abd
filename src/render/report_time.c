/* The sections of a report about the run's time: phases, steps, roles, waits. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "render/report_sections.h"

static void cell_rate(struct table *table, double bytes_a_second)
{
	char text[32];

	if (isnan(bytes_a_second))
		table_cell(table, "%s", "");
	else
		table_cell(table, "%s/s",
			   units_format_bytes(text, sizeof(text), (uint64_t)bytes_a_second));
}

static void phase_row(struct table *table, const struct report *report, size_t i)
{
	const struct phase *phase = &report->phases.list[i];
	const struct phase_use *use = &report->phase_uses[i];
	char label[192];

	snprintf(label, sizeof(label), "%*s%s%s%s%s",
		 (int)(phase->depth < 20 ? phase->depth : 20) * 2, "", phase->stem,
		 *phase->number ? " " : "", phase->number, phase->open ? " (open)" : "");
	table_text(table, label, strlen(label));
	table_duration(table, phase->start - report->summary.span.start);
	table_duration(table, phase->end - phase->start);
	table_share(table, use->main_cpu_share);
	table_share(table, use->main_data_share);
	if (isnan(use->cpus))
		table_cell(table, "%s", "");
	else
		table_cell(table, "%.2f", use->cpus);
	table_bytes(table, use->figures.read_bytes);
	cell_rate(table, use->read_rate);
	table_bytes(table, use->figures.write_bytes);
	table_bytes(table, use->figures.device_read_bytes);
}

void section_phases(const struct section_print *print)
{
	const struct phases *phases = &print->report->phases;
	static const char *const sources[] = { "the job names none, so the run is one",
					       "from the job's marks", "from MLLOG lines recorded",
					       "from the log given" };
	struct table table;

	section_title(print, "Phases", sources[phases->source]);
	if (phases->bad_lines || phases->outside)
		fprintf(print->out, "  %zu lines of the log not understood, %zu of another time\n",
			phases->bad_lines, phases->outside);
	if (!print->report->whole) {
		section_missing(print, "see the report of the whole run for its phases");
		return;
	}
	table_begin(&table,
		    "phase|from|length|main on CPU|data, storage|CPUs|read|rate|written|from disk",
		    "lRrrrRrRRR");
	for (size_t i = 0; i < phases->count && i < print->style->top; i++)
		phase_row(&table, print->report, i);
	section_table(print, &table);
	section_more(print, phases->count, print->style->top, "phases");
}

void section_steps(const struct section_print *print)
{
	static const char *const sources[] = {
		"none", "from NVTX ranges", "from marks",
		"GUESSED: from one batch handed over by a worker to the next",
		"GUESSED: from one burst of reads by the main thread to the next"
	};
	const struct steps *steps = &print->report->steps;
	struct table table;

	section_title(print, "Steps", sources[steps->source]);
	if (!steps->count) {
		section_missing(
			print,
			"nothing marks steps (NVTX, strata mark step) and no rhythm is found");
		return;
	}
	if (steps_guessed(steps))
		fprintf(print->out,
			"  confidence %.0f %%: so many last from half of to twice the median\n",
			steps->confidence * 100);
	table_begin(&table, "steps|loops|mean|median|90 %|99 %|longest", "rRrrRrr");
	table_count(&table, steps->count);
	table_count(&table, steps->loops);
	table_duration(&table, (uint64_t)hist_mean(&steps->durations));
	table_duration(&table, hist_quantile(&steps->durations, 0.5));
	table_duration(&table, hist_quantile(&steps->durations, 0.9));
	table_duration(&table, hist_quantile(&steps->durations, 0.99));
	table_duration(&table, steps->durations.most);
	section_table(print, &table);
}

void section_roles(const struct section_print *print)
{
	const struct report *report = print->report;
	struct table table;

	section_title(print, "Roles",
		      "what the job's processes do, by the process tree and GPU use");
	if (report->context.roles.main == PROC_NONE) {
		section_missing(print,
				"the whole machine was recorded, or the job's first process is not "
				"known: no roles");
		return;
	}
	table_begin(&table,
		    "role|processes|on CPU|CPU wait|read|in reads|written|in metadata|wakes main",
		    "lrrRrRRRR");
	for (unsigned i = 0; i < PROC_ROLE_COUNT; i++) {
		const struct role_use *use = &report->by_role[i];

		if (!use->processes)
			continue;
		table_cell(&table, "%s", role_names[i]);
		table_count(&table, use->processes);
		table_duration(&table, use->cpu_ns);
		table_duration(&table, use->wait_ns);
		table_bytes(&table, use->read.bytes);
		table_duration(&table, use->read.time_ns);
		table_bytes(&table, use->written.bytes);
		table_duration(&table, use->metadata_ns);
		table_count(&table, use->wakes[PROC_ROLE_MAIN]);
	}
	section_table(print, &table);
}

void section_waits(const struct section_print *print)
{
	const struct waits *waits = &print->report->waits;
	struct table table;

	section_title(print, "Waits of the main thread", "the call it slept in, and who woke it");
	if (!waits->known) {
		section_missing(print, "layer sched not recorded, or no main process: not known");
		return;
	}
	table_begin(&table, "asleep|times|mean|in|woken by", "rrRll");
	for (size_t i = 0; i < waits->call_count && i < print->style->top; i++) {
		const struct wait_call *call = &waits->calls[i];

		table_duration(&table, call->ns);
		table_count(&table, call->count);
		table_duration(&table, call->mean_ns);
		if (call->syscall)
			table_text(&table, call->syscall, call->syscall_size);
		else
			table_cell(&table, "user mode (page faults)");
		if (call->reason == WAIT_LOCK)
			table_cell(&table, "%s, by %s", wait_reason_names[WAIT_LOCK],
				   wait_reason_names[call->waker]);
		else
			table_cell(&table, "%s", wait_reason_names[call->reason]);
	}
	section_table(print, &table);
	section_more(print, waits->call_count, print->style->top, "kinds of wait");
}
