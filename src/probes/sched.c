/* The layer sched, and the time that calls of io and fs were off the CPU: bpf/sched.bpf.c. */
#include "probes/sched.h"

#include <stdio.h>
#include <string.h>

#include "bpf/strata.skel.h"
#include "capture/features.h"
#include "gen/syscall_numbers.h"
#include "probes/probe.h"

#define SWITCH_ARGUMENTS 4 /* with the state of the thread that leaves */

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

static void sched_configure(const struct probe_setup *setup)
{
	struct strata_bpf *bpf = setup->bpf;
	bool rows = setup->layers & LAYER_BIT(LAYER_sched);
	bool blocked = setup->layers & (LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fs));
	bool state =
		features_tracepoint_arguments(setup->features, "sched_switch") >= SWITCH_ARGUMENTS;

	if (rows && !features_has_struct(setup->features, "sched_info"))
		absences_add(setup->absences, "sched.wait",
			     "this kernel does not count run-queue time");
	bpf->rodata->sched_rows = rows;
	bpf->rodata->sched_all = bpf->rodata->process_all;
	bpf->rodata->count_blocked = blocked;
	bpf_program__set_autoload(bpf->progs.sched_waking, rows);
	bpf_program__set_autoload(bpf->progs.sched_switch, (rows || blocked) && state);
	bpf_program__set_autoload(bpf->progs.sched_switch_5_15, (rows || blocked) && !state);
	bpf_map__set_max_entries(bpf->maps.wakers, rows ? pid_max() : 1);
}

#define SET(column, value) builder_set(row, column_sched_##column, (int64_t)(value))

static void set_thread(struct builder *row, uint32_t pid, uint32_t tid, bool idle)
{
	if (pid || idle)
		SET(pid, pid);
	if (tid || idle)
		SET(tid, tid);
}

static void sched_decode(struct decoder *decoder, const struct record *head, size_t size)
{
	const struct sched_record *sched = (const void *)head;
	struct builder *row = sink_table(&decoder->sink, TABLE_sched);
	const char *name = NULL;

	(void)size;
	if (!row)
		return sink_drop(&decoder->sink, TABLE_sched);
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
	sink_end_row(&decoder->sink, TABLE_sched);
}

void sched_add_unfinished(struct sink *sink, const struct stay *stay, unsigned cpu)
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

const struct probe sched_probe = {
	.name = "sched",
	.layers = LAYER_BIT(LAYER_sched),
	.records = 1u << RECORD_SCHED,
	.configure = sched_configure,
	.decode = sched_decode,
};
