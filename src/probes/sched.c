/* The layer sched, and the time that calls of io and fs were off the CPU: bpf/sched.bpf.c. */
#include "bpf/sched.h"
#include "bpf/wait.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sched.skel.h"
#include "gen/syscall_numbers.h"
#include "probes/probe.h"
#include "probes/wait.h"

#define SWITCH_ARGUMENTS 4 /* with the state of the thread that leaves */

PROBE_OPEN(sched)

static uint32_t pid_max(void)
{
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	unsigned most = 1 << 22;

	if (file) {
		if (fscanf(file, "%u", &most) != 1)
			most = 1 << 22;
		fclose(file);
	}
	return most;
}

static void sched_configure(struct probe_run *run)
{
	const struct probe_setup *setup = run->setup;
	bool rows = setup->layers & LAYER_BIT(LAYER_sched);
	bool state =
		features_tracepoint_arguments(setup->features, "sched_switch") >= SWITCH_ARGUMENTS;
	struct sched_bpf *bpf = run->bpf;

	if (rows && !features_has_struct(setup->features, "sched_info"))
		absences_add(setup->absences, "sched.wait",
			     "this kernel does not count run-queue time");
	wait_fill_traits(bpf->rodata->wait_traits);
	bpf->rodata->sched_rows = rows;
	bpf->rodata->sched_settles_job = job_probe.wanted(setup);
	bpf_program__set_autoload(bpf->progs.sched_waking, rows);
	bpf_program__set_autoload(bpf->progs.sched_switch, state);
	bpf_program__set_autoload(bpf->progs.sched_switch_5_15, !state);
	bpf_map__set_max_entries(bpf->maps.wakers, rows ? pid_max() : 1);
}

/* Runs on each CPU for a moment, so that each has had a switch and the stay that it is in is known. */
static void visit_cpus(void)
{
	int cpus = libbpf_num_possible_cpus();
	cpu_set_t *all = CPU_ALLOC(cpus), *one = CPU_ALLOC(cpus);
	size_t size = CPU_ALLOC_SIZE(cpus);

	if (all && one && !sched_getaffinity(0, size, all)) {
		for (int cpu = 0; cpu < cpus; cpu++) {
			CPU_ZERO_S(size, one);
			CPU_SET_S(cpu, size, one);
			sched_setaffinity(0, size, one);
		}
		sched_setaffinity(0, size, all);
	}
	CPU_FREE(all);
	CPU_FREE(one);
}

static int sched_start(struct probe_run *run, struct error *e)
{
	(void)e;
	run->setup->shared->count_blocked = 1;
	if (run->setup->layers & LAYER_BIT(LAYER_sched))
		visit_cpus();
	return 0;
}

#define SET(column, value) builder_set(row, column_sched_##column, (int64_t)(value))

static void set_thread(struct builder *row, uint32_t pid, uint32_t tid, bool idle)
{
	if (pid || idle)
		SET(pid, pid);
	if (tid || idle)
		SET(tid, tid);
}

static void sched_decode(struct row_maker *maker, const struct record *head, size_t size)
{
	const struct sched_record *sched = (const void *)head;
	struct builder *row = sink_table(&maker->sink, TABLE_sched);
	const char *name = NULL;

	(void)size;
	if (!row)
		return sink_drop(&maker->sink, TABLE_sched);
	SET(ts, head->ts);
	SET(dur, head->dur);
	SET(cpu, head->cpu);
	set_thread(row, head->pid, head->tid, sched->idle);
	SET(prio, sched->prio);
	if (sched->wait != RECORD_NULL)
		SET(wait, sched->wait);
	if (sched->waker)
		SET(waker_tid, sched->waker);
	if (sched->state >= 0)
		SET(end_state, sched->state);
	if (sched->syscall >= 0 && (size_t)sched->syscall < SYSCALL_NUMBER_COUNT)
		name = syscall_by_number[sched->syscall];
	if (name)
		builder_set_text(row, column_sched_syscall, name, strlen(name));
	sink_end_row(&maker->sink, TABLE_sched);
}

static void add_last_stay(struct sink *sink, const struct stay *stay, unsigned cpu)
{
	struct builder *row = stay->ts ? sink_table(sink, TABLE_sched) : NULL;

	if (!row)
		return;
	SET(ts, stay->ts);
	SET(cpu, cpu);
	set_thread(row, stay->pid, stay->tid, stay->idle);
	SET(prio, stay->prio);
	if (stay->waker)
		SET(waker_tid, stay->waker);
	sink_end_row(sink, TABLE_sched);
}

/* The threads that are on the CPUs as the recording ends. */
static void sched_finish(struct probe_run *run, struct sink *sink)
{
	int cpus = libbpf_num_possible_cpus();
	struct stay *stays = calloc((size_t)cpus, sizeof(*stays));
	struct sched_bpf *bpf = run->bpf;
	uint32_t zero = 0;

	if (stays && bpf->rodata->sched_rows && run->setup->config->process_all &&
	    !bpf_map_lookup_elem(bpf_map__fd(bpf->maps.stays), &zero, stays))
		for (int cpu = 0; cpu < cpus; cpu++)
			add_last_stay(sink, &stays[cpu], (unsigned)cpu);
	free(stays);
}

const struct probe sched_probe = {
	.name = "sched",
	.layers = LAYER_BIT(LAYER_sched) | LAYER_BIT(LAYER_wait),
	.serves = LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fs) | LAYER_BIT(LAYER_stall),
	.part = "io.blocked",
	.open = sched_open,
	.configure = sched_configure,
	.start = sched_start,
	.finish = sched_finish,
	.decode = sched_decode,
};
