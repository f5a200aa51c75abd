/* The layer process, and who belongs to the job: bpf/process.bpf.c, and its records as rows. It runs with every recording:
 * the others learn from it whom to record. */
#include "probes/probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/container.h"
#include "base/quote.h"
#include "bpf/process.h"
#include "bpf/process.skel.h"
#include "probes/bpf_error.h"
#include "probes/iterate.h"
#include "probes/names.h"
#include "probes/unloaded.h"

PROBE_OPEN(process)

static void process_configure(struct probe_run *run)
{
	struct process_bpf *bpf = run->bpf;
	bool cgroup = run->setup->config->select_cgroup;

	bpf_program__set_autoload(bpf->progs.process_moved, cgroup);
	bpf_program__set_autoload(bpf->progs.process_select, cgroup);
	bpf_program__set_autoload(bpf->progs.process_signal, run->setup->command);
	/* That one is needed for as long as the command runs, longer than the recording maybe. */
	bpf_program__set_autoattach(bpf->progs.process_signal, false);
}

static int process_attach(struct probe_run *run, struct error *e)
{
	const struct probe_setup *setup = run->setup;
	struct process_bpf *bpf = run->bpf;
	uint8_t yes = 1;

	for (size_t i = 0; i < setup->target_count; i++) {
		uint32_t pid = (uint32_t)setup->targets[i];

		if (bpf_map_update_elem(bpf_map__fd(bpf->maps.targets), &pid, &yes, BPF_ANY))
			return bpf_error(e, -errno, "cannot add a process");
	}
	if (setup->command) {
		run->state = bpf_program__attach(bpf->progs.process_signal);
		if (!run->state)
			return bpf_error(e, -errno, "cannot watch signals to the command");
	}
	return iterate(bpf->progs.process_find_self, NULL, NULL, e);
}

static int process_start(struct probe_run *run, struct error *e)
{
	struct process_bpf *bpf = run->bpf;

	return iterate(bpf->progs.process_existing, NULL, NULL, e);
}

/* Asks of each thread again whether it is selected, where that may have changed unseen. */
static void process_poll(struct probe_run *run)
{
	struct process_bpf *bpf = run->bpf;
	struct error ignored;

	if (__atomic_exchange_n(&run->setup->shared->selection_stale, 0, __ATOMIC_SEQ_CST))
		iterate(bpf->progs.process_select, NULL, NULL, &ignored);
}

static void process_close(struct probe_run *run)
{
	bpf_link__destroy(run->state);
}

#define SET(column, value) builder_set(row, column_process_##column, (int64_t)(value))

/* NUL-ended arguments as a shell would take them. */
static int args_join(struct buf *out, const char *args, size_t size)
{
	int err = 0;

	out->size = 0;
	for (size_t at = 0; at < size && !err;) {
		size_t length = strnlen(args + at, size - at);

		if (at)
			err = buf_append(out, " ", 1);
		if (!err)
			err = quote_word(out, args + at, length);
		at += length + 1;
	}
	return err;
}

/* The container that a process is in, as its cgroups tell: an engine's way of writing it first, in either hierarchy. */
static struct container_name process_container(const struct row_maker *maker,
					       const struct process_record *process)
{
	const char *unified = names_cgroup(maker, process->cgroup);
	const char *v1 = process->cgroup_v1 ? names_cgroup(maker, process->cgroup_v1) : NULL;
	struct container_name name = { 0 };

	if (unified)
		name = container_of_group(unified);
	if (!name.text && v1)
		name = container_of_group(v1);
	if (!name.text && unified && process->head.flags & PROCESS_MOVED)
		name = container_bare(unified);
	if (!name.text && v1 && process->head.flags & PROCESS_MOVED_V1)
		name = container_bare(v1);
	return name;
}

static void process_decode(struct row_maker *maker, const struct record *head, size_t size)
{
	struct container_name container;
	const struct process_record *process = (const void *)head;
	struct builder *row;
	const char *cgroup;

	row = sink_table(&maker->sink, TABLE_process);
	cgroup = names_cgroup(maker, process->cgroup);
	if (!row)
		return sink_drop(&maker->sink, TABLE_process);
	SET(ts, head->ts);
	SET(event, head->op);
	SET_HOST_IDS(row, process, head->pid, head->tid);
	if (id_shown(process->ppid))
		SET(ppid, process->ppid);
	builder_set_text(row, column_process_comm, process->comm,
			 strnlen(process->comm, sizeof(process->comm)));
	SET(uid, process->uid);
	if (process->ns_pid)
		SET(ns_pid, process->ns_pid);
	container = process_container(maker, process);
	if (container.text)
		builder_set_text(row, column_process_container, container.text, container.size);
	if (cgroup)
		builder_set_text(row, column_process_cgroup, cgroup, strlen(cgroup));
	if (head->op == EVENT_EXEC) {
		if (head->flags & PROCESS_OF_JOB)
			unloaded_note_exec(maker->unloaded, head->pid, head->ts, process->comm);
		if (process->exe)
			SET(exe, process->exe);
		if (process->args_size && size >= sizeof(*process) + process->args_size &&
		    !args_join(&maker->scratch, (const char *)(process + 1), process->args_size))
			builder_set_text(row, column_process_args, maker->scratch.data,
					 maker->scratch.size);
		if (id_shown(process->old_tid) && process->old_tid != head->tid)
			SET(old_tid, process->old_tid);
	}
	if (head->op == EVENT_FORK && id_shown(process->creator))
		SET(creator_tid, process->creator);
	if (head->op == EVENT_EXIT)
		SET(exit_code, process->exit_code);
	sink_end_row(&maker->sink, TABLE_process);
}

const struct probe process_probe = {
	.name = "process",
	.layers = LAYER_BIT(LAYER_process),
	.open = process_open,
	.configure = process_configure,
	.attach = process_attach,
	.start = process_start,
	.poll = process_poll,
	.close = process_close,
	.decode = process_decode,
};
