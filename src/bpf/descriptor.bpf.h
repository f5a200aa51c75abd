/* From a descriptor to the open file behind it. */
#ifndef STRATA_BPF_DESCRIPTOR_BPF_H
#define STRATA_BPF_DESCRIPTOR_BPF_H

#include "bpf/typed.bpf.h"

/* The struct file behind a descriptor of a task, or NULL. */
static __always_inline struct file *path_descriptor(struct task_struct *task, __u32 fd)
{
	struct files_struct *open_files = pointer_in(task_struct, task, files);
	struct hlist_head *cell; /* a pointer in memory: any type that begins with one would do */
	struct file *file = NULL;
	struct fdtable *table;

	if (!open_files)
		return NULL;
	table = open_files->fdt;
	if (fd >= table->max_fds)
		return NULL;
	if (config.typed_reads) {
		cell = typed(hlist_head, table->fd + fd);
		return (struct file *)cell->first;
	}
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
	return file;
}

#endif
