/* What the floors share: the CPUs' rings, and a record in the one of this CPU. */
#ifndef STRATA_BENCH_FLOOR_BPF_H
#define STRATA_BENCH_FLOOR_BPF_H

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

__u64 lost = 0;

/* Room for a record, or NULL, which counts as lost. */
static __always_inline struct floor_record *floor_reserve(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct floor_record *record = NULL;

	if (ring)
		record = bpf_ringbuf_reserve(ring, sizeof(*record), 0);
	if (!record)
		__sync_fetch_and_add(&lost, 1);
	return record;
}

#endif
