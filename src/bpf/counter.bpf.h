/* Calls that are counted instead of recorded: a place for each function and thread, which counts from the beginning of the recording
 * on. Only that thread writes there, so that no addition is ever contended, and strata reads without stopping anybody.
 */
#ifndef STRATA_BPF_COUNTER_BPF_H
#define STRATA_BPF_COUNTER_BPF_H

#include "bpf/call.h"

#include "bpf/ring.bpf.h"

#define CALL_NO_LENGTH (~0ull) /* its return was not seen */

#define COUNTERS(name)                                \
	struct {                                      \
		__uint(type, BPF_MAP_TYPE_HASH);      \
		__uint(map_flags, BPF_F_NO_PREALLOC); \
		__uint(max_entries, 262144);          \
		__type(key, struct call_counter_key); \
		__type(value, struct call_counter);   \
	} name SEC(".maps")

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct call_counter);
} counter_zeros SEC(".maps");

static __always_inline __u32 counter_bucket(__u64 dur)
{
	__u32 bucket = 0;

#pragma unroll
	for (int bits = 32; bits; bits /= 2) {
		if (dur >> bits) {
			dur >>= bits;
			bucket += bits;
		}
	}
	return bucket < CALL_BUCKETS ? bucket : CALL_BUCKETS - 1;
}

/* The place of a function and thread, made when there is none; NULL: no memory, which is counted. */
static __always_inline struct call_counter *counter_of(void *counters, struct call_counter_key *key,
						       enum layer layer)
{
	struct call_counter *counter = bpf_map_lookup_elem(counters, key), *fresh;
	__u32 zero = 0;

	if (counter)
		return counter;
	fresh = bpf_map_lookup_elem(&counter_zeros, &zero);
	if (!fresh)
		return NULL;
	bpf_map_update_elem(counters, key, fresh, BPF_NOEXIST);
	counter = bpf_map_lookup_elem(counters, key);
	if (!counter)
		loss_count(layer, LOSS_STATE);
	return counter;
}

static __always_inline void counter_add(void *counters, struct call_counter_key key, __u32 pid,
					__u64 dur, __u64 bytes, enum layer layer)
{
	struct call_counter *counter = counter_of(counters, &key, layer);
	__u32 bucket;

	if (!counter)
		return;
	counter->pid = pid;
	__sync_fetch_and_add(&counter->count, 1);
	__sync_fetch_and_add(&counter->bytes, bytes);
	if (dur == CALL_NO_LENGTH)
		return;
	__sync_fetch_and_add(&counter->time, dur);
	bucket = counter_bucket(dur);
	if (bucket < CALL_BUCKETS)
		__sync_fetch_and_add(&counter->buckets[bucket], 1);
}

#endif
