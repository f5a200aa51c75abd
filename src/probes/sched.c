/* The layer sched, and the time that calls of io and fs were off the CPU, and minor faults asleep: bpf/sched.bpf.c. */
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
#define WAKES_MOST	 (1u << 18)

PROBE_OPEN(sched)

/* How many wakes to keep: a power of two, one for each id that a thread may have as long as that takes no more than
 * 8 MiB. */
static uint32_t wake_count(void)
{
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	unsigned most = WAKES_MOST;
	uint32_t count = 1;

	if (file) {
		if (fscanf(file, "%u", &most) != 1)
			most = WAKES_MOST;
		fclose(file);
	}
	while (count < most && count < WAKES_MOST)
		count *= 2;
	return count;
}

/* From a CPU's run queue to its preemption counter, a variable of its own but from 6.2 to 6.14; 0: not known. */
static int count_from_rq(const struct features *features)
{
	int queue = features_cpu_variable(features, "runqueues");
	int count = features_cpu_variable(features, "__preempt_count");

	if (count < 0) {
		int member = features_member_offset(features, "pcpu_hot", "preempt_count");

		count = features_cpu_variable(features, "pcpu_hot");
		count = count < 0 || member < 0 ? -ENOENT : count + member;
	}
	return queue < 0 || count < 0 ? 0 : count - queue;
}

static void sched_configure(struct probe_run *run)
{
	const struct probe_setup *setup = run->setup;
	bool rows = setup->layers & LAYER_BIT(LAYER_sched);
	bool state =
		features_tracepoint_arguments(setup->features, "sched_switch") >= SWITCH_ARGUMENTS;
	uint32_t wakes = rows ? wake_count() : 1;
	struct sched_bpf *bpf = run->bpf;
	struct bpf_program *for_rows[] = {
		bpf->progs.sched_waking,	bpf->progs.sched_wakeup_new,
		bpf->progs.sched_softirq_entry, bpf->progs.sched_softirq_exit,
		bpf->progs.sched_softirq_raise, bpf->progs.sched_timer_entry,
		bpf->progs.sched_timer_exit,
	};

	wait_fill_traits(bpf->rodata->wait_traits);
	bpf->rodata->sched_rows = rows;
	bpf->rodata->sched_settles_job = job_probe.wanted(setup);
	bpf->rodata->wakes_mask = wakes - 1;
	bpf->rodata->count_from_rq = count_from_rq(setup->features);
	for (size_t i = 0; i < sizeof(for_rows) / sizeof(*for_rows); i++)
		bpf_program__set_autoload(for_rows[i], rows);
	bpf_program__set_autoload(bpf->progs.sched_switch, state);
	bpf_program__set_autoload(bpf->progs.sched_switch_5_15, !state);
	bpf_map__set_max_entries(bpf->maps.wakes, wakes);
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
	SET_HOST_IDS(row, sched, pid, tid);
	if (idle) {
		SET(pid, 0);
		SET(tid, 0);
	}
}

static void set_syscall(struct builder *row, unsigned column, int number)
{
	const char *name = NULL;

	if (number >= 0 && (size_t)number < SYSCALL_NUMBER_COUNT)
		name = syscall_by_number[number];
	if (name)
		builder_set_text(row, column, name, strlen(name));
}

/* How the thread became ready for a stay. One that was not woken, but left ready, has no kind of waker. */
static void set_wake(struct builder *row, uint64_t ts, int64_t wait, uint32_t early, uint8_t kind)
{
	if (wait == RECORD_NULL)
		return;
	SET(wait, wait);
	if (kind == WAKER_NONE || kind > waker_kind_names.count)
		return;
	SET(wake_ts, ts - (uint64_t)wait - early);
	SET(waker_kind, kind - 1);
}

/* The letter that tools print for a state of the kernel's, as an index into task_state_names; -1: none of them. */
static int state_letter(unsigned state)
{
	static const struct {
		unsigned bits;
		int letter;
	} letters[] = { /* the first that fits counts */
			{ TASK_INTERRUPTIBLE, END_STATE_S },
			{ TASK_UNINTERRUPTIBLE, END_STATE_D },
			{ 0x4, END_STATE_T },
			{ 0x8, END_STATE_t },
			{ 0x10 | 0x80, END_STATE_X },
			{ 0x20, END_STATE_Z },
			{ 0x40, END_STATE_P }
	};

	if (!state)
		return END_STATE_R;
	if (state == SCHED_STATE_UNKNOWN)
		return -1;
	if ((state & TASK_IDLE) == TASK_IDLE)
		return END_STATE_I;
	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		if (state & letters[i].bits)
			return letters[i].letter;
	return -1;
}

static void sched_decode(struct row_maker *maker, const struct record *head, size_t size)
{
	const struct sched_record *sched = (const void *)head;
	struct builder *row = sink_table(&maker->sink, TABLE_sched);
	int state = state_letter(sched->state);

	(void)size;
	if (!row)
		return sink_drop(&maker->sink, TABLE_sched);
	SET(ts, head->ts);
	SET(dur, head->dur);
	SET(cpu, head->cpu);
	set_thread(row, head->pid, head->tid, head->flags & STAY_IDLE);
	SET(prio, sched->prio);
	set_wake(row, head->ts, sched->wait, sched->early, head->op);
	if (id_shown(sched->waker))
		SET(waker_tid, sched->waker);
	set_syscall(row, column_sched_waker_syscall, sched->waker_syscall);
	if (state >= 0) {
		SET(end_state, state);
		SET(iowait, !!(head->flags & STAY_IOWAIT));
	}
	set_syscall(row, column_sched_syscall, sched->syscall);
	if (head->flags & STAY_ARGUMENT)
		SET(arg0, sched->arg0);
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
	set_wake(row, stay->ts, stay->wait, stay->early, stay->waker_kind);
	if (id_shown(stay->waker))
		SET(waker_tid, stay->waker);
	set_syscall(row, column_sched_waker_syscall, stay->waker_syscall);
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
	.serves = LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fs) | LAYER_BIT(LAYER_fault) |
		  LAYER_BIT(LAYER_stall),
	.part = "io.blocked",
	.open = sched_open,
	.configure = sched_configure,
	.start = sched_start,
	.finish = sched_finish,
	.decode = sched_decode,
};
