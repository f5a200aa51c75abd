/* The page cache under the job's reads and faults: how many bytes were filled in while a call, or a page
 * fault in user mode, ran in its thread.
 *
 * Nothing is written for a page: each fill is added to the call or fault that the thread is in, whose record
 * carries the sum.
 */
#include "bpf/task.bpf.h"

#include "bpf/compat.bpf.h"

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(cache_add, struct folio *folio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state;

	if (!task_may_be_recorded(task))
		return 0;
	state = task_find(task);
	if (!state)
		return 0;
	if (state->syscall)
		state->missed += folio_bytes(folio);
	else if (state->fault && !task_in_syscall(task))
		state->fault_missed += folio_bytes(folio);
	return 0;
}
