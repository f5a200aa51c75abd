/* The layer cpu: how each CPU spent the interval, from /proc/stat. */
#include "sampler/sampler.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "schema/layers.h"
#include "sampler/proc_cpu.h"
#include "sampler/proc_file.h"
#include "sampler/proc_text.h"

#define MOST_CPUS 8192 /* the kernel's own limit */
#define LINE_SIZE 256  /* of a CPU's line, at most */

struct cpu_sampling {
	struct proc_file file;
	size_t count;			  /* CPUs that there may ever be */
	struct cpu_times *before, *after; /* count each */
	struct cpu_shares *rows;	  /* count + 1 */
	uint64_t since;			  /* when `before` was read; 0: not yet */
};

/* The last number of a list such as "0-3,8-11", and one: CPUs may be plugged in later. */
static size_t cpus_possible(void)
{
	struct proc_file list;
	struct error ignored;
	uint64_t last = (uint64_t)get_nprocs_conf() - 1;

	if (!proc_file_open(&list, "/sys/devices/system/cpu/possible", 4096, &ignored)) {
		size_t end = list.size, start;

		while (end && (unsigned)(list.text[end - 1] - '0') > 9)
			end--;
		for (start = end; start && (unsigned)(list.text[start - 1] - '0') <= 9;)
			start--;
		if (end > start)
			proc_text_number(list.text + start, end - start, &last);
		proc_file_close(&list);
	}
	return last < MOST_CPUS ? last + 1 : MOST_CPUS;
}

static void cpu_close(void *opaque)
{
	struct cpu_sampling *state = opaque;

	if (state->file.fd >= 0)
		proc_file_close(&state->file);
	free(state->before);
	free(state->after);
	free(state->rows);
	free(state);
}

static int cpu_open(void **opaque, struct error *e)
{
	struct cpu_sampling *state = calloc(1, sizeof(*state));
	int err;

	if (!state)
		return error_set(e, -ENOMEM, "out of memory");
	state->count = cpus_possible();
	/* Only the lines of CPUs are wanted, and they come first. */
	err = proc_file_open(&state->file, "/proc/stat", (state->count + 1) * LINE_SIZE, e);
	if (err)
		state->file.fd = -1;
	state->before = calloc(state->count, sizeof(*state->before));
	state->after = calloc(state->count, sizeof(*state->after));
	state->rows = calloc(state->count + 1, sizeof(*state->rows));
	if (!err && (!state->before || !state->after || !state->rows))
		err = error_set(e, -ENOMEM, "out of memory");
	if (!err && !cpu_parse(state->file.text, state->file.size, state->before, state->count))
		err = error_set(e, -ENODATA, "/proc/stat tells of no CPU");
	if (err)
		cpu_close(state);
	else
		*opaque = state;
	return err;
}

static void cpu_start(void *opaque)
{
	struct cpu_sampling *state = opaque;

	if (proc_file_read(&state->file))
		return;
	cpu_parse(state->file.text, state->file.size, state->before, state->count);
	state->since = state->file.ts;
}

static void set_share(struct builder *row, unsigned column, double share)
{
	if (!isnan(share))
		builder_set_real(row, column, share);
}

static void cpu_add_row(struct sink *sink, const struct cpu_shares *shares, uint64_t ts,
			uint64_t dur)
{
	struct builder *row = sink_table(sink, TABLE_cpu);

	if (!row) {
		sink_drop(sink, TABLE_cpu);
		return;
	}
	builder_set(row, column_cpu_ts, (int64_t)ts);
	builder_set(row, column_cpu_dur, (int64_t)dur);
	builder_set(row, column_cpu_cpu, shares->cpu);
	set_share(row, column_cpu_usr, shares->usr);
	set_share(row, column_cpu_nice, shares->nice);
	set_share(row, column_cpu_sys, shares->sys);
	set_share(row, column_cpu_iowait, shares->iowait);
	set_share(row, column_cpu_irq, shares->irq);
	set_share(row, column_cpu_soft, shares->soft);
	set_share(row, column_cpu_steal, shares->steal);
	set_share(row, column_cpu_guest, shares->guest);
	set_share(row, column_cpu_gnice, shares->gnice);
	set_share(row, column_cpu_idle, shares->idle);
	sink_end_row(sink, TABLE_cpu);
}

static void cpu_sample(void *opaque, struct sink *sink)
{
	struct cpu_sampling *state = opaque;
	struct cpu_times *spent;
	size_t count;

	if (!state->since) {
		cpu_start(state);
		return;
	}
	/* A reading that fails, or comes before the next tick, leaves the interval open. */
	if (proc_file_read(&state->file) || state->file.ts <= state->since)
		return;
	cpu_parse(state->file.text, state->file.size, state->after, state->count);
	count = cpu_compare(state->before, state->after, state->count, state->rows);
	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		cpu_add_row(sink, &state->rows[i], state->since, state->file.ts - state->since);
	spent = state->before;
	state->before = state->after;
	state->after = spent;
	state->since = state->file.ts;
}

const struct sampler cpu_sampler = {
	.name = "cpu",
	.layers = LAYER_BIT(LAYER_cpu),
	.open = cpu_open,
	.start = cpu_start,
	.sample = cpu_sample,
	.close = cpu_close,
};
