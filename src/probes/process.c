/* The layer process: records of bpf/process.bpf.c as rows. */
#include "probes/probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "bpf/strata.skel.h"
#include "probes/names.h"

static void process_configure(const struct probe_setup *setup)
{
	struct strata_bpf *bpf = setup->bpf;
	for (unsigned layer = 0; layer < LAYER_COUNT; layer++)
		bpf->rodata->layer_on[layer] = setup->layers & LAYER_BIT(layer);
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

static const char *cgroup_path(const struct decoder *decoder, uint64_t id)
{
	const struct cgroup_name *names = (const void *)decoder->cgroups.data;

	for (size_t i = 0; i < decoder->cgroups.size / sizeof(*names); i++)
		if (names[i].id == id)
			return names[i].path;
	return NULL;
}

static void cgroup_decode(struct decoder *decoder, const struct cgroup_record *record)
{
	struct cgroup_name name = { .id = record->id };

	if (cgroup_path(decoder, record->id) ||
	    names_join(&decoder->scratch, (const char *)(record + 1), record->names_size))
		return;
	name.path = strndup((const char *)decoder->scratch.data, decoder->scratch.size);
	if (!name.path || buf_append(&decoder->cgroups, &name, sizeof(name)))
		free(name.path);
}

static void process_decode(struct decoder *decoder, const struct record *head, size_t size)
{
	const struct process_record *process = (const void *)head;
	struct builder *row;
	const char *cgroup;

	if (head->type == RECORD_CGROUP)
		return cgroup_decode(decoder, (const void *)head);
	row = sink_table(&decoder->sink, TABLE_process);
	cgroup = cgroup_path(decoder, process->cgroup);
	if (!row)
		return sink_drop(&decoder->sink, TABLE_process);
	SET(ts, head->ts);
	SET(event, head->op);
	if (head->pid)
		SET(pid, process->head.pid);
	if (head->tid)
		SET(tid, process->head.tid);
	if (process->ppid)
		SET(ppid, process->ppid);
	builder_set_text(row, column_process_comm, process->comm,
			 strnlen(process->comm, sizeof(process->comm)));
	SET(uid, process->uid);
	if (cgroup)
		builder_set_text(row, column_process_cgroup, cgroup, strlen(cgroup));
	if (head->op == EVENT_EXEC) {
		if (process->exe)
			SET(exe, process->exe);
		if (process->args_size && size >= sizeof(*process) + process->args_size &&
		    !args_join(&decoder->scratch, (const char *)(process + 1), process->args_size))
			builder_set_text(row, column_process_args, decoder->scratch.data,
					 decoder->scratch.size);
		if (process->old_tid && process->old_tid != head->tid)
			SET(old_tid, process->old_tid);
	}
	if (head->op == EVENT_EXIT)
		SET(exit_code, process->exit_code);
	sink_end_row(&decoder->sink, TABLE_process);
}

const struct probe process_probe = {
	.name = "process",
	.layers = LAYER_BIT(LAYER_process),
	.records = 1u << RECORD_PROCESS | 1u << RECORD_CGROUP,
	.configure = process_configure,
	.decode = process_decode,
};
