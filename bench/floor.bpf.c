/* The floor: the least that a tracer of system calls with one record a call can do. It knows its target
 * from task storage, takes the time twice and writes 40 bytes into the CPU's ring without a wake-up.
 */
#include "bpf/kernel.h"
#include "floor.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

_Static_assert(sizeof(struct floor_record) == 40, "the floor is stated for 40 bytes");

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

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct floor_state);
} targets SEC(".maps");

__u64 lost = 0;

SEC("tp_btf/sys_enter")
int BPF_PROG(floor_enter, struct pt_regs *regs, long number)
{
	struct floor_state *state =
		bpf_task_storage_get(&targets, bpf_get_current_task_btf(), NULL, 0);

	if (!state)
		return 0;
	state->number = number;
	state->ts = bpf_ktime_get_boot_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(floor_exit, struct pt_regs *regs, long returned)
{
	struct floor_state *state =
		bpf_task_storage_get(&targets, bpf_get_current_task_btf(), NULL, 0);
	struct floor_record *record = NULL;
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 end, id;
	void *ring;

	if (!state)
		return 0;
	end = bpf_ktime_get_boot_ns();
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (ring)
		record = bpf_ringbuf_reserve(ring, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	id = bpf_get_current_pid_tgid();
	record->ts = state->ts;
	record->dur = end - state->ts;
	record->pid = id >> 32;
	record->tid = id;
	record->number = state->number;
	record->returned = returned;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}
