/* The timeline as an SVG figure: phases, lanes, a time axis. Colours are those of the page. */
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "render/page.h"

#define WIDTH	    1000
#define LEFT	    150
#define LANE	    18
#define COLUMNS	    (WIDTH - LEFT - 10)
#define MOST_PHASES 200

static const char *const colours[TIMELINE_KIND_COUNT] = { "#9aa5b1", "#2b7bba", "#d1495b",
							  "#e6a117", "#8e6bbf", "#3c8d5a",
							  "#76b900" };

static double x_of(const struct report *report, uint64_t ts)
{
	const struct span *window = &report->context.window;
	double length = (double)(window->end - window->start);

	return LEFT + (length > 0 ? (double)(ts - window->start) / length * COLUMNS : 0);
}

static void print_phases(const struct report *report, FILE *out)
{
	char label[128];

	for (size_t i = 0; i < report->phases.count && i < MOST_PHASES; i++) {
		const struct phase *phase = &report->phases.list[i];
		double from = x_of(report, context_clip(&report->context, phase->start));
		double to = x_of(report, context_clip(&report->context, phase->end));
		unsigned y = 24 + (phase->depth < 3 ? phase->depth : 3) * 14;

		fprintf(out,
			"<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"12\" fill=\"%s\" "
			"stroke=\"#fff\" stroke-width=\".5\"/>\n",
			from, y, to - from, i % 2 ? "#c9d6df" : "#aebfcc");
		phase_label(phase, label, sizeof(label));
		if (to - from < 6.0 * (double)strlen(label))
			continue;
		fprintf(out, "<text x=\"%.2f\" y=\"%u\">", from + 2, y + 10);
		escape_print(out, ESCAPE_XML, label, strlen(label));
		fputs("</text>\n", out);
	}
}

/* One column of the figure is one or several slices; what is there at all shows. */
static void print_kind(const struct timeline *timeline, const struct timeline_lane *lane,
		       unsigned kind, double y, FILE *out)
{
	const float *busy = lane->busy[kind];
	double height = kind == TIMELINE_cpu ? LANE - 3 : LANE - 6;

	if (!busy)
		return;
	fprintf(out, "<path fill=\"%s\" d=\"", colours[kind]);
	for (unsigned column = 0; column < COLUMNS; column++) {
		size_t from = column * (size_t)TIMELINE_SLICES / COLUMNS;
		size_t to = (column + 1) * (size_t)TIMELINE_SLICES / COLUMNS;
		double share = 0, tall;

		for (size_t slice = from; slice < to; slice++)
			share += busy[slice] / timeline->slice_ns / (double)(to - from);
		if (share <= 0)
			continue;
		tall = height * (share > 1 ? 1 : share < 0.08 ? 0.08 : share);
		fprintf(out, "M%u %.1fh1v%.1fh-1z", LEFT + column, y + LANE - 2 - tall, tall);
	}
	fputs("\"/>\n", out);
}

static void print_lanes(const struct report *report, unsigned top, FILE *out)
{
	const struct timeline *timeline = report->timeline;

	for (size_t i = 0; i < timeline->lane_count; i++) {
		uint32_t place = timeline->lanes[i].proc;
		double y = top + (double)i * LANE;

		fprintf(out, "<text x=\"4\" y=\"%.1f\">", y + LANE - 5);
		if (timeline->lanes[i].of_stream) {
			fprintf(out, "&#160;&#160;GPU %u stream %u", timeline->lanes[i].gpu,
				timeline->lanes[i].stream);
		} else if (place == PROC_NONE) {
			fputs("other processes", out);
		} else {
			const struct proc *proc = procs_get(report->context.procs, place);

			if (proc->comm.bytes)
				escape_print(out, ESCAPE_XML, proc->comm.bytes, proc->comm.size);
			fprintf(out, " %lld (%s)", (long long)proc->pid,
				role_names[report->context.roles.of[place]]);
		}
		fputs("</text>\n", out);
		for (unsigned kind = 0; kind < TIMELINE_KIND_COUNT; kind++)
			print_kind(timeline, &timeline->lanes[i], kind, y, out);
	}
}

static void print_axis(const struct report *report, double y, FILE *out)
{
	uint64_t length = report->context.window.end - report->context.window.start;
	char text[32];

	for (unsigned i = 0; i <= 10; i++) {
		double x = LEFT + COLUMNS * i / 10.0;

		units_format_duration(text, sizeof(text), length / 10 * i);
		fprintf(out,
			"<path d=\"M%.1f 22V%.1f\" stroke=\"#ccc\" stroke-width=\".5\"/>"
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
			x, y, x, y + 12, i == 10 ? "end" : "middle", text);
	}
}

static void print_legend(FILE *out)
{
	for (unsigned i = 0; i < TIMELINE_KIND_COUNT; i++)
		fprintf(out,
			"<rect x=\"%u\" y=\"6\" width=\"10\" height=\"10\" fill=\"%s\"/>"
			"<text x=\"%u\" y=\"15\">%s</text>\n",
			LEFT + i * 90, colours[i], LEFT + 14 + i * 90,
			i == TIMELINE_cpu ? "on CPU" : timeline_kinds[i].name);
}

void page_print_svg(const struct report *report, FILE *out)
{
	unsigned depth = 0, top, height;

	for (size_t i = 0; i < report->phases.count; i++)
		if (report->phases.list[i].depth > depth)
			depth = report->phases.list[i].depth;
	top = 24 + (depth < 3 ? depth + 1 : 4) * 14 + 4;
	height = top + (unsigned)report->timeline->lane_count * LANE + 20;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" "
		"font-family=\"sans-serif\" font-size=\"10\" role=\"img\">\n<title>Timeline of ",
		WIDTH, height);
	if (report->summary.command)
		escape_print(out, ESCAPE_XML, report->summary.command,
			     strlen(report->summary.command));
	fprintf(out, "</title>\n<rect width=\"%d\" height=\"%u\" fill=\"#fff\"/>\n", WIDTH, height);
	print_axis(report, height - 16, out);
	print_legend(out);
	print_phases(report, out);
	print_lanes(report, top, out);
	fputs("</svg>\n", out);
}
