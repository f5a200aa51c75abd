/* Table cpu as `mpstat -P ALL 1` prints it, with its averages at the end; as `mpstat 1` does: all CPUs together, under one
 * header.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/classic.h"

#define SHARES (column_cpu_idle - column_cpu_usr + 1)

/* Of one CPU, over all intervals. */
struct average {
	int64_t cpu;
	double sums[SHARES], weights[SHARES];
};

struct cpu_layout {
	struct buf averages; /* struct average, in the order in which the CPUs were met */
	uint64_t interval;   /* start of the one under way */
	bool begun;
};

static const char header[] =
	"  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle";

/* Linux 6.1.0 (host) <tab>11/15/26 <tab>_x86_64_<tab>(2 CPU) */
static void write_machine(struct classic *c, uint64_t ts)
{
	static const char *const keys[] = { "kernel", "host", "machine", "cpus" };
	const char *facts[4];
	char date[16] = "-";
	uint64_t ns;

	for (unsigned i = 0; i < 4; i++) {
		facts[i] = dims_run(c->run->dims, keys[i]);
		if (!facts[i])
			facts[i] = "-";
	}
	if (classic_local(c, ts, &ns))
		strftime(date, sizeof(date), "%m/%d/%y", &c->local);
	field_printf(c, "%s (%s) \t%s \t_%s_\t(%s CPU)", facts[0], facts[1], date, facts[2],
		     facts[3]);
	line_write(c);
}

static void write_header(struct classic *c, const char *when)
{
	output_append(c->out, "\n", 1);
	field_printf(c, "%-11s%s", when, header);
	line_write(c);
}

static void write_shares(struct classic *c, const char *when, int64_t cpu, const double *shares,
			 const bool *known)
{
	char line[256];
	int size;

	size = cpu < 0 ? snprintf(line, sizeof(line), "%-11s  all", when)
		       : snprintf(line, sizeof(line), "%-11s %4lld", when, (long long)cpu);
	for (unsigned i = 0; i < SHARES; i++)
		size += known[i] ? snprintf(line + size, sizeof(line) - (size_t)size, " %7.2f",
					    shares[i])
				 : snprintf(line + size, sizeof(line) - (size_t)size, " %7s", "-");
	field_printf(c, "%s", line);
	line_write(c);
}

static struct average *average_of(struct classic *c, struct cpu_layout *layout, int64_t cpu)
{
	struct average fresh = { .cpu = cpu };
	struct average *averages = (struct average *)layout->averages.data;
	size_t count = layout->averages.size / sizeof(fresh);

	for (size_t i = 0; i < count; i++)
		if (averages[i].cpu == cpu)
			return &averages[i];
	if (buf_append(&layout->averages, &fresh, sizeof(fresh))) {
		c->error = -ENOMEM;
		return NULL;
	}
	return (struct average *)layout->averages.data + count;
}

static void take_sample(struct classic *c, struct cpu_layout *layout, const struct rows *rows)
{
	uint64_t ts = (uint64_t)rows_cell(rows, column_cpu_ts);
	int64_t dur = rows_cell(rows, column_cpu_dur), cpu = rows_cell(rows, column_cpu_cpu);
	struct average *average;
	double shares[SHARES];
	bool known[SHARES];
	char when[16];

	if (dur == CELL_NULL || (c->layout->summed && cpu >= 0))
		return;
	average = average_of(c, layout, cpu);
	if (!average)
		return;
	if (!layout->begun)
		write_machine(c, ts);
	if (!layout->begun || (!c->layout->summed && layout->interval != ts)) {
		classic_clock(c, ts, when);
		write_header(c, when);
	}
	layout->begun = true;
	layout->interval = ts;
	for (unsigned i = 0; i < SHARES; i++) {
		int64_t cell = rows_cell(rows, column_cpu_usr + i);

		known[i] = cell != CELL_NULL;
		memcpy(&shares[i], &cell, sizeof(cell));
		if (known[i]) {
			average->sums[i] += shares[i] * (double)dur;
			average->weights[i] += (double)dur;
		}
	}
	classic_clock(c, ts + (uint64_t)dur, when);
	write_shares(c, when, cpu, shares, known);
	c->rows++;
}

static void write_averages(struct classic *c, const struct cpu_layout *layout)
{
	const struct average *averages = (const struct average *)layout->averages.data;

	if (!c->layout->summed)
		write_header(c, "Average:");
	for (size_t n = 0; n < layout->averages.size / sizeof(*averages); n++) {
		double shares[SHARES];
		bool known[SHARES];

		for (unsigned i = 0; i < SHARES; i++) {
			known[i] = averages[n].weights[i] > 0;
			shares[i] = known[i] ? averages[n].sums[i] / averages[n].weights[i] : 0;
		}
		write_shares(c, "Average:", averages[n].cpu, shares, known);
	}
}

int classic_cpu(struct classic *c, struct error *e)
{
	struct cpu_layout layout = { 0 };
	struct rows *rows = NULL;
	int err = rows_open(&rows, c->run->reader, TABLE_cpu, ~0ull, c->run->from, c->run->to, e);

	while (!err && (err = rows_next(rows, e)) > 0) {
		take_sample(c, &layout, rows);
		err = 0;
	}
	if (!err && layout.begun)
		write_averages(c, &layout);
	export_progress(c->request, c->rows);
	rows_close(rows);
	buf_free(&layout.averages);
	return err;
}
