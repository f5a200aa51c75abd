/* The floor for switches: the least that a tracer of sched_switch with one record a switch can do. It takes
 * the time and writes 40 bytes into the CPU's ring without a wake-up.
 */
#include "bpf/kernel.h"
#include "floor.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

__u64 lost = 0;

SEC("tp_btf/sched_switch")
int BPF_PROG(floor_switch, bool preempted, struct task_struct *prev, struct task_struct *next)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct floor_record *record = NULL;

	if (ring)
		record = bpf_ringbuf_reserve(ring, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	record->ts = bpf_ktime_get_boot_ns();
	record->dur = 0;
	record->pid = prev->tgid;
	record->tid = prev->pid;
	record->number = next->pid;
	record->returned = prev->__state;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}
