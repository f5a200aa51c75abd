/* The report as text: its sections, one after another, in lines that fit the terminal. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/report_sections.h"
#include "render/safe.h"

const char *const report_sections[SECTION_COUNT] = {
#define SECTION_NAME(name) #name,
	REPORT_SECTIONS(SECTION_NAME)
#undef SECTION_NAME
};

void section_title(const struct section_print *print, const char *name, const char *says)
{
	fprintf(print->out, "\n%s: %s\n", name, says);
}

void section_missing(const struct section_print *print, const char *what)
{
	fprintf(print->out, "  %s\n", what);
}

void section_more(const struct section_print *print, size_t count, size_t shown, const char *what)
{
	char text[32];

	if (count > shown)
		fprintf(print->out, "  ... and %s more %s (--top N shows more)\n",
			units_format_count(text, sizeof(text), count - shown), what);
}

void section_table(const struct section_print *print, struct table *table)
{
	table_print(table, print->out, print->style->width);
}

void section_trace(const struct section_print *print)
{
	const struct summary *summary = &print->report->summary;
	const struct cost *cost = &print->report->cost;
	char text[32], size[32], start[32];

	section_title(print, "Trace", "what recording cost, and what it could not see");
	fprintf(print->out, "  %s rows, %s, %.1f bytes a row\n",
		units_format_count(text, sizeof(text), summary->rows),
		units_format_bytes(size, sizeof(size), summary->bytes), summary->bytes_a_row);
	if (cost->cpu_known)
		fprintf(print->out,
			"  the recorder's CPU time: %s, %.1f %% of one core, and %s to start\n",
			units_format_duration(text, sizeof(text), cost->recording_cpu_ns),
			cost->core_share * 100,
			units_format_duration(start, sizeof(start), cost->start_cpu_ns));
	else
		section_missing(print, "the recorder's CPU time is not known: it did not finish");
	fputs(summary->layer_count ? "  layers: " : "  layers: unknown", print->out);
	for (size_t i = 0; i < summary->layer_count; i++) {
		fputs(i ? "," : "", print->out);
		safe_write(print->out, summary->layers[i].bytes, summary->layers[i].size);
	}
	putc('\n', print->out);
	for (size_t i = 0; i < summary->absent_count; i++) {
		fputs("  absent: ", print->out);
		safe_print(print->out, summary->absent[i].what);
		fputs(": ", print->out);
		safe_print(print->out, summary->absent[i].why);
		putc('\n', print->out);
	}
	if (!summary->lost)
		section_missing(print, "nothing was lost");
	for (size_t i = 0; i < summary->loss_count; i++) {
		fprintf(print->out, "  lost: %s events of layer ",
			units_format_count(text, sizeof(text), summary->losses[i].count));
		safe_print(print->out, summary->losses[i].layer);
		fputs(": ", print->out);
		safe_print(print->out, summary->losses[i].reason);
		putc('\n', print->out);
	}
}

static void print_sections(const struct report *report, const struct report_style *style, FILE *out)
{
	static void (*const printers[SECTION_COUNT])(const struct section_print *) = {
		[SECTION_phases] = section_phases,
		[SECTION_steps] = section_steps,
		[SECTION_roles] = section_roles,
		[SECTION_containers] = section_containers,
		[SECTION_waits] = section_waits,
		[SECTION_tasks] = section_tasks,
		[SECTION_processes] = section_processes,
		[SECTION_cpus] = section_cpus,
		[SECTION_gpus] = section_gpus,
		[SECTION_job] = section_job,
		[SECTION_files] = section_files,
		[SECTION_directories] = section_directories,
		[SECTION_operations] = section_operations,
		[SECTION_histograms] = section_histograms,
		[SECTION_devices] = section_devices,
		[SECTION_levels] = section_levels,
		[SECTION_trace] = section_trace,
	};
	struct section_print print = { report, style, out };

	if (style->section == SECTION_overview || style->section == SECTION_COUNT)
		report_print_overview(report, style, out);
	if (!report->summary.rows && style->section == SECTION_COUNT)
		return;
	for (int i = 0; i < SECTION_COUNT; i++)
		if (printers[i] && (style->section == i || style->section == SECTION_COUNT))
			printers[i](&print);
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
