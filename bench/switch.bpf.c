/* The floor for switches: the least that a tracer of sched_switch with one record a switch can do. It takes
 * the time and writes 40 bytes into the CPU's ring without a wake-up.
 */
#include "floor.bpf.h"

SEC("tp_btf/sched_switch")
int BPF_PROG(floor_switch, bool preempted, struct task_struct *prev, struct task_struct *next)
{
	struct floor_record *record = floor_reserve();

	if (!record)
		return 0;
	record->ts = bpf_ktime_get_boot_ns();
	record->dur = 0;
	record->pid = prev->tgid;
	record->tid = prev->pid;
	record->number = next->pid;
	record->returned = prev->__state;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}
