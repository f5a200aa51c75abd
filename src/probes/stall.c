/* The layer stall: bpf/stall.bpf.c on those tracepoints that this kernel has, and its records as rows. */
#include "bpf/stall.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/stall.skel.h"
#include "probes/probe.h"

#define LOCK_NS		10000 /* shorter waits for locks are only counted */
#define DIRTY_ARGUMENTS 8     /* with a structure for what were five more */

PROBE_OPEN(stall)

static void choose(const struct probe_setup *setup, const char *part, const char *tracepoint,
		   struct bpf_program *begin, struct bpf_program *end)
{
	bool there = features_tracepoint_arguments(setup->features, tracepoint);

	bpf_program__set_autoload(begin, there);
	bpf_program__set_autoload(end, there);
	if (!there)
		absences_add(setup->absences, part, "this kernel has no tracepoint %s", tracepoint);
}

static void stall_configure(struct probe_run *run)
{
	const struct probe_setup *setup = run->setup;
	struct stall_bpf *bpf = run->bpf;
	int dirty = features_tracepoint_arguments(setup->features, "balance_dirty_pages");

	bpf->rodata->stall_lock_ns = LOCK_NS;
	bpf_program__set_autoload(bpf->progs.stall_dirty, dirty == DIRTY_ARGUMENTS);
	bpf_program__set_autoload(bpf->progs.stall_dirty_6_15, dirty > DIRTY_ARGUMENTS);
	if (dirty < DIRTY_ARGUMENTS)
		absences_add(setup->absences, "stall.dirty",
			     "this kernel has no tracepoint balance_dirty_pages");
	choose(setup, "stall.reclaim", "mm_vmscan_direct_reclaim_begin",
	       bpf->progs.stall_direct_begin, bpf->progs.stall_direct_end);
	choose(setup, "stall.cgroup_reclaim", "mm_vmscan_memcg_reclaim_begin",
	       bpf->progs.stall_cgroup_begin, bpf->progs.stall_cgroup_end);
	choose(setup, "stall.compaction", "mm_compaction_begin", bpf->progs.stall_compaction_begin,
	       bpf->progs.stall_compaction_end);
	choose(setup, "stall.locks", "contention_begin", bpf->progs.stall_lock_begin,
	       bpf->progs.stall_lock_end);
}

static int stall_attach(struct probe_run *run, struct error *e)
{
	(void)e;
	if (!(run->setup->loaded & 1u << PROBE_sched))
		absences_add(run->setup->absences, "stall.dirty",
			     "the end of a pause is not seen without sched_switch");
	return 0;
}

#define SET(column, value) builder_set(row, column_stall_##column, (int64_t)(value))

static void stall_decode(struct row_maker *maker, const struct record *head, size_t size)
{
	const struct stall_record *stall = (const void *)head;
	struct builder *row = sink_table(&maker->sink, TABLE_stall);

	(void)size;
	if (!row)
		return sink_drop(&maker->sink, TABLE_stall);
	SET_HEAD(row, stall, head);
	SET(kind, head->op);
	if (stall->value != RECORD_NULL)
		SET(value, stall->value);
	if (stall->file)
		SET(file, stall->file);
	if (stall->dev[0])
		builder_set_text(row, column_stall_dev, stall->dev,
				 strnlen(stall->dev, sizeof(stall->dev)));
	sink_end_row(&maker->sink, TABLE_stall);
}

static void add_fact(struct sink *sink, const char *key, uint64_t number)
{
	struct builder *row = sink_table(sink, TABLE_run);
	char value[24];

	if (!row)
		return;
	snprintf(value, sizeof(value), "%llu", (unsigned long long)number);
	builder_set_text(row, column_run_key, key, strlen(key));
	builder_set_text(row, column_run_value, value, strlen(value));
	sink_end_row(sink, TABLE_run);
}

/* Tells how many waits for locks were too short for a row. */
static void stall_finish(struct probe_run *run, struct sink *sink)
{
	int cpus = libbpf_num_possible_cpus();
	struct cpu_state *states = calloc((size_t)cpus, sizeof(*states));
	struct stall_bpf *bpf = run->bpf;
	uint64_t count = 0, ns = 0;
	uint32_t zero = 0;

	if (!states || !bpf_program__autoload(bpf->progs.stall_lock_end) ||
	    bpf_map_lookup_elem(bpf_map__fd(bpf->maps.cpu_states), &zero, states)) {
		free(states);
		return;
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		count += states[cpu].short_locks;
		ns += states[cpu].short_locks_ns;
	}
	free(states);
	add_fact(sink, "stall.lock_threshold_ns", LOCK_NS);
	add_fact(sink, "stall.short_locks", count);
	add_fact(sink, "stall.short_locks_ns", ns);
}

const struct probe stall_probe = {
	.name = "stall",
	.layers = LAYER_BIT(LAYER_stall),
	.open = stall_open,
	.configure = stall_configure,
	.attach = stall_attach,
	.finish = stall_finish,
	.decode = stall_decode,
};
