/* The layer stall: records, and the pauses of threads that dirty pages faster than the device takes them. The kernel tells
 * that such a pause begins, not that it ends: that is when the thread is back on a CPU, which sched.bpf.c sees.
 */
#ifndef STRATA_BPF_STALL_BPF_H
#define STRATA_BPF_STALL_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/kernel_stall.h"
#include "bpf/task.bpf.h"
#include "bpf/wait.h"

/* Room for the record of a wait that ends now, to be submitted. */
static __always_inline struct stall_record *stall_begin(struct task_state *state, __u8 kind,
							__u64 ts, __u64 now)
{
	struct stall_record *record = ring_reserve(sizeof(*record), LAYER_stall);

	if (!record)
		return NULL;
	record_head(&record->head, PROBE_stall, 0, kind, 0);
	record->head.pid = state->pid;
	record->head.tid = state->tid;
	record->head.ts = ts;
	record->head.dur = now - ts;
	record->value = RECORD_NULL;
	record->file = 0;
	record->pad = 0;
	record->dev[0] = 0;
	return record;
}

/* now: 0 where the thread was not seen to come back, as some kernels hide a process from tracing, and who comes after it. */
__noinline int stall_dirty_end(struct task_state *state, __u64 now)
{
	struct backing_dev_info *device;
	struct stall_record *record;

	if (!state)
		return 0;
	state->stall.dirty = DIRTY_NONE;
	record = stall_begin(state, STALL_dirty, state->stall.dirty_ts, now);
	if (!record)
		return 0;
	if (!now)
		record->head.flags = RECORD_UNFINISHED;
	record->value = state->stall.dirtied;
	if (state->syscall && state->syscall != SYSCALL_OTHER)
		record->file = state->file2 ?: state->file;
	device = (void *)state->stall.dirty_device;
	if (bpf_probe_read_kernel_str(record->dev, sizeof(record->dev),
				      BPF_CORE_READ(device, owner, kobj.name)) < 0)
		record->dev[0] = 0;
	ring_submit(record);
	return 0;
}

/* At each switch, of a thread that is recorded: it leaves ... */
static __always_inline void stall_leave(struct task_state *state, bool sleeps)
{
	if (state->stall.dirty == DIRTY_SLEEPS)
		stall_dirty_end(state, 0);
	if (sleeps && state->stall.dirty == DIRTY_PAUSES)
		state->stall.dirty = DIRTY_SLEEPS;
}

/* ... or comes. */
static __always_inline void stall_come(struct task_state *state, __u64 now)
{
	if (state->stall.dirty == DIRTY_SLEEPS)
		stall_dirty_end(state, now);
}

#endif
