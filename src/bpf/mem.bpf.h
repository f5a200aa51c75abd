/* Calls that change memory mappings. */
#ifndef STRATA_BPF_MEM_BPF_H
#define STRATA_BPF_MEM_BPF_H

#include "bpf/syscall.bpf.h"

static __always_inline void mem_enter(struct task_struct *task, struct task_state *state)
{
	if (state->syscall == SYSCALL_mmap && !(state->args[3] & MAP_ANONYMOUS))
		state->file = path_of_descriptor(task, state, state->args[4]);
}

__noinline int mem_exit(struct task_state *state, __s64 returned, __u64 end, __u8 flags)
{
	struct mem_record *record;

	if (!state || !prefix_has_file(state->file))
		return 0;
	record = ring_reserve(sizeof(*record), LAYER_mem);
	if (!record)
		return 0;
	head_fill(&record->head, state, FILE_MEM, end, flags);
	record->returned = returned;
	record->addr = state->args[0];
	record->length = state->args[1];
	record->old_length = RECORD_NULL;
	record->prot = RECORD_NULL;
	record->flags = RECORD_NULL;
	record->pos = RECORD_NULL;
	record->fd = RECORD_NULL;
	record->file = state->file;
	record->pad = 0;
	if (state->syscall == SYSCALL_mmap) {
		record->prot = (__u32)state->args[2];
		record->flags = (__u32)state->args[3];
		if (!(state->args[3] & MAP_ANONYMOUS)) {
			record->fd = (__s32)state->args[4];
			record->pos = state->args[5];
		}
	} else if (state->syscall == SYSCALL_mremap) {
		record->length = state->args[2];
		record->old_length = state->args[1];
		record->flags = (__u32)state->args[3];
	} else if (state->syscall != SYSCALL_munmap) {
		record->flags = (__u32)state->args[2];
	}
	ring_submit(record);
	return 0;
}

#endif
