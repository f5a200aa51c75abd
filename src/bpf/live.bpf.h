/* What the programs of live histograms share: whom they watch, and adding to a histogram. */
#ifndef STRATA_BPF_LIVE_BPF_H
#define STRATA_BPF_LIVE_BPF_H

#include "bpf/kernel.h"
#include "bpf/live.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by strata before load. */
const volatile __u32 live_subjects = 1;	 /* histograms of a CPU */
const volatile __u64 live_unit = 1000;	 /* ns of a slot's unit */
const volatile bool live_chosen = false; /* only the processes in live_pids are watched */
const volatile __u32 live_mask = 0;	 /* the number of entries of live_threads less 1 */

/* What could not be counted. */
__u64 live_lost = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct live_hist);
} live_hists SEC(".maps");

/* The processes that are watched. One map for all objects: that of live_sched.bpf.c. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u8);
} live_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct live_thread);
} live_threads SEC(".maps");

static __always_inline bool live_watched(struct task_struct *task)
{
	__u32 pid = task->tgid;

	return !live_chosen || bpf_map_lookup_elem(&live_pids, &pid);
}

static __always_inline void live_lose(void)
{
	__sync_fetch_and_add(&live_lost, 1);
}

static __always_inline struct live_hist *live_hist_here(__u32 subject)
{
	__u32 place = bpf_get_smp_processor_id() * live_subjects + subject;

	return bpf_map_lookup_elem(&live_hists, &place);
}

static __always_inline struct live_thread *live_thread(__u32 tid)
{
	__u32 place = tid & live_mask;

	return bpf_map_lookup_elem(&live_threads, &place);
}

/* bcc's bpf_log2l() less 1, and no more than there are. */
static __always_inline __u32 live_slot(__u64 value)
{
	__u32 slot = 0;

	for (__u32 step = 32; step; step >>= 1) {
		if (value >> step) {
			slot += step;
			value >>= step;
		}
	}
	return slot < LIVE_SLOTS ? slot : LIVE_SLOTS - 1;
}

/* To a histogram that only this CPU adds to, and no interrupt. */
static __always_inline void live_add(struct live_hist *hist, __u64 ns)
{
	__u32 slot = live_slot(ns / live_unit);

	if (slot < LIVE_SLOTS)
		hist->slots[slot]++;
	hist->sum += ns;
	if (ns > hist->most)
		hist->most = ns;
}

/* To one that others may add to at the same time. Of two that are the longest at once, either may be kept. */
static __always_inline void live_add_shared(struct live_hist *hist, __u64 ns)
{
	__u32 slot = live_slot(ns / live_unit);

	if (slot < LIVE_SLOTS)
		__sync_fetch_and_add(&hist->slots[slot], 1);
	__sync_fetch_and_add(&hist->sum, ns);
	if (ns > hist->most)
		hist->most = ns;
}

#endif
