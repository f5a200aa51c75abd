/* Records into the ring of the current CPU, and the count of those that find no room.
 *
 *     rings:  [cpu 0]->ring  [cpu 1]->ring ...   one producer each, no wake-up per record
 */
#ifndef STRATA_BPF_RING_BPF_H
#define STRATA_BPF_RING_BPF_H

#include "bpf/maps.bpf.h"

/* Global, as are other functions that take no pointers of the kernel's: the verifier looks at them once, not at every call. */
__noinline int loss_add(__u32 layer, __u32 reason, __u32 rows)
{
	__u32 zero = 0;
	struct cpu_state *state = bpf_map_lookup_elem(&cpu_states, &zero);

	if (state)
		state->loss[layer & (LOSS_LAYERS - 1)][reason & (LOSS_REASONS - 1)] += rows;
	return 0;
}

static __always_inline void loss_count(enum layer layer, enum loss reason)
{
	loss_add(layer, reason, 1);
}

/* Whose record it is and what it tells; the rest of the head is the caller's. */
static __always_inline void record_head(struct record *head, enum probe_id probe, __u8 kind,
					__u8 op, __u8 flags)
{
	head->probe = probe;
	head->kind = kind;
	head->op = op;
	head->flags = flags;
	head->cpu = bpf_get_smp_processor_id();
}

static __always_inline void *ring_of_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/* The flags of a submit: no wake-up, until enough has gathered for one to pay. */
static __always_inline __u64 ring_announce(__u32 size)
{
	__u32 zero = 0;
	struct cpu_state *state = bpf_map_lookup_elem(&cpu_states, &zero);

	if (!state)
		return BPF_RB_NO_WAKEUP;
	state->unannounced += size;
	if (state->unannounced < config.doorbell_bytes)
		return BPF_RB_NO_WAKEUP;
	state->unannounced = 0;
	return BPF_RB_FORCE_WAKEUP;
}

/* Room for a record of constant size, to be passed to ring_submit; NULL, and its rows counted, when full. */
#define ring_reserve_rows(size, layer, rows)                                      \
	({                                                                        \
		void *ring_ = ring_of_cpu();                                      \
		void *room_ = ring_ ? bpf_ringbuf_reserve(ring_, size, 0) : NULL; \
		if (!room_)                                                       \
			loss_add(layer, LOSS_RING, rows);                         \
		room_;                                                            \
	})

#define ring_reserve(size, layer) ring_reserve_rows(size, layer, 1)

#define ring_submit(record) bpf_ringbuf_submit(record, ring_announce(sizeof(*(record))))

/* Copies a record of any size into the ring. 0, or an error that is counted. */
static __always_inline long ring_output(void *record, __u64 size, enum layer layer, __u64 wake)
{
	void *ring = ring_of_cpu();
	long err = ring ? bpf_ringbuf_output(ring, record, size, wake | ring_announce(size)) : -1;

	if (err)
		loss_count(layer, LOSS_RING);
	return err;
}

#endif
