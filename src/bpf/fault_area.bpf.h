/* The mapping that the address of a fault lies in: its file, and the position in it. */
#ifndef STRATA_BPF_FAULT_AREA_BPF_H
#define STRATA_BPF_FAULT_AREA_BPF_H

#include "bpf/block_file.bpf.h"

/* Set by strata before load. */
const volatile bool fault_areas = false; /* the kernel has bpf_find_vma */

/* What is asked of the mapping that an address lies in. */
struct fault_area {
	__u64 file;
	__u64 start;
	__u64 pages; /* before it in the file */
};

static long fault_take_area(struct task_struct *task, struct vm_area_struct *area, void *context)
{
	struct fault_area *taken = context;

	taken->file = (__u64)pointer_in(vm_area_struct, area, vm_file);
	taken->start = area->vm_start;
	taken->pages = area->vm_pgoff;
	return 0;
}

/* Finds the file and position that the fault's address is mapped to, and gives the inode; 0: no file, or
 * the kernel's own locks were in the way. */
static __noinline __u64 fault_locate(struct task_struct *task, struct task_state *state)
{
	struct fault_area area = {};
	struct file_view view;

	if (!fault_areas)
		return 0;
	if (bpf_find_vma(task, state->fault_addr, fault_take_area, &area, 0) || !area.file)
		return 0;
	file_read(&view, (void *)area.file);
	state->fault_pos = state->fault_addr - area.start + (area.pages << 12);
	state->fault_file = path_of_view(state, &view);
	return view.inode;
}

#endif
