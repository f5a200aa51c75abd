/* What all BPF programs share: configuration set before load, the rings, loss counters, and scratch
 * memory. The definitions are weak, so that every program file may include them and the linker keeps
 * one of each.
 *
 *     rings:  [cpu 0]->ring  [cpu 1]->ring ...   one producer each, no wake-up per record
 */
#ifndef STRATA_BPF_MAPS_BPF_H
#define STRATA_BPF_MAPS_BPF_H

#include "bpf/kernel.h"
#include "bpf/records.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* Keeps loads and stores as they are written; so does x86. */
#define memory_order() asm volatile("" ::: "memory")

/* Set by strata before load. */
const volatile __u32 self_pid __weak = 0;	/* strata's pid in its own PID namespace, ... */
const volatile __u32 self_namespace __weak = 0; /* ... that namespace's inode number, ... */
const volatile __u32 proc_above __weak = 0;	/* ... and how many levels above it /proc shows */
const volatile bool record_all __weak = false;	/* io, fs, mem of every process, not only the job */
const volatile bool process_all __weak = true;	/* likewise for process */
const volatile bool has_job __weak = false;	/* a command or processes to follow */
const volatile bool layer_on[LAYER_COUNT] __weak = {};
const volatile __u32 doorbell_bytes __weak = 1 << 20;

const volatile bool count_blocked __weak = false; /* sched.bpf.c counts time off the CPU */
const volatile bool count_missed __weak = false;  /* cache.bpf.c counts fills of the page cache */
const volatile bool typed_reads __weak = false;	  /* the kernel has bpf_rdonly_cast */

/* Shared while running. */
__u32 recording __weak = 0; /* strata sets it when all is attached, and clears it to stop */
__u32 live __weak = 0;	    /* threads of the job */
__u64 start_ts __weak = 0;
__u32 path_epoch __weak = 0; /* moves when the path of a file may have changed */
__u32 last_file __weak = 0;  /* id */

/* The last signals sent to the launched command, for strata to know which ones it need not pass on. */
__u32 command_pid __weak = 0;
__u32 signal_senders[SIGNALS] __weak = {};
__u64 signal_times[SIGNALS] __weak = {};

/* The PID namespace that strata's /proc shows, found by process.bpf.c; level 0 is the machine's. */
__u32 pid_level __weak = 0;
__u32 pid_namespace __weak = 0;

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} cpu_states __weak SEC(".maps");

static __always_inline void loss_add(enum layer layer, enum loss reason, __u32 rows)
{
	__u32 zero = 0;
	struct cpu_state *state = bpf_map_lookup_elem(&cpu_states, &zero);

	if (state)
		state->loss[layer & (LOSS_LAYERS - 1)][reason & (LOSS_REASONS - 1)] += rows;
}

static __always_inline void loss_count(enum layer layer, enum loss reason)
{
	loss_add(layer, reason, 1);
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
	if (state->unannounced < doorbell_bytes)
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
