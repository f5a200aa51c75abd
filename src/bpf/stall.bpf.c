/* What the kernel makes a thread of the job wait for, where its tracepoints tell: the layer stall.
 *
 * A wait's beginning is kept in the thread's state, its end writes one record. A thread may wait for several kernel locks at
 * once, one inside another, and an interrupt that comes in its way for one more; the tracepoints name the lock, by which the
 * two ends are matched. Short waits for locks are counted, not recorded.
 */
#include "bpf/stall.bpf.h"

/* Set by strata before load. */
const volatile __u64 stall_lock_ns = 0; /* shorter waits for locks are only counted */

/* The state of the current thread if it is recorded. */
static __always_inline struct task_state *stall_current(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task_may_be_recorded(task) ? task_find(task) : NULL;
}

static __always_inline void stall_send(struct task_state *state, __u8 kind, __u64 ts, __s64 value)
{
	struct stall_record *record = stall_begin(state, kind, ts, bpf_ktime_get_boot_ns());

	if (!record)
		return;
	record->value = value;
	ring_submit(record);
}

/* ---- pages that are dirtied too fast ---- */

static __always_inline int stall_pause(struct bdi_writeback *wb, unsigned long dirtied, long pause)
{
	struct task_state *state = pause > 0 ? stall_current() : NULL;

	if (!state)
		return 0;
	if (state->stall.dirty == DIRTY_SLEEPS)
		stall_dirty_end(state, 0);
	state->stall.dirty_device = (__u64)BPF_CORE_READ(wb, bdi);
	state->stall.dirtied = dirtied * 4096;
	state->stall.dirty_ts = bpf_ktime_get_boot_ns();
	state->stall.dirty = DIRTY_PAUSES;
	return 0;
}

SEC("?tp_btf/balance_dirty_pages")
int BPF_PROG(stall_dirty, struct bdi_writeback *wb, void *control, unsigned long dirty_rate,
	     unsigned long task_rate, unsigned long dirtied, unsigned long period, long pause)
{
	return stall_pause(wb, dirtied, pause);
}

/* Before 6.16 the tracepoint has what is in `control` as arguments of its own. */
SEC("?tp_btf/balance_dirty_pages")
int BPF_PROG(stall_dirty_6_15, struct bdi_writeback *wb, unsigned long thresh,
	     unsigned long bg_thresh, unsigned long dirty, unsigned long bdi_thresh,
	     unsigned long bdi_dirty, unsigned long dirty_rate, unsigned long task_rate,
	     unsigned long dirtied, unsigned long period, long pause)
{
	return stall_pause(wb, dirtied, pause);
}

/* ---- memory that has to be found first ---- */

static __always_inline int stall_reclaim_begin(void)
{
	struct task_state *state = stall_current();

	if (state)
		state->stall.reclaim_ts = bpf_ktime_get_boot_ns();
	return 0;
}

static __always_inline int stall_reclaim_end(__u8 kind, unsigned long pages)
{
	struct task_state *state = stall_current();

	if (!state || !state->stall.reclaim_ts)
		return 0;
	stall_send(state, kind, state->stall.reclaim_ts, pages * 4096);
	state->stall.reclaim_ts = 0;
	return 0;
}

SEC("?tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(stall_direct_begin)
{
	return stall_reclaim_begin();
}

SEC("?tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(stall_direct_end, unsigned long pages)
{
	return stall_reclaim_end(STALL_reclaim, pages);
}

SEC("?tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(stall_cgroup_begin)
{
	return stall_reclaim_begin();
}

SEC("?tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(stall_cgroup_end, unsigned long pages)
{
	return stall_reclaim_end(STALL_cgroup_reclaim, pages);
}

SEC("?tp_btf/mm_compaction_begin")
int BPF_PROG(stall_compaction_begin)
{
	struct task_state *state = stall_current();

	if (state)
		state->stall.compaction_ts = bpf_ktime_get_boot_ns();
	return 0;
}

SEC("?tp_btf/mm_compaction_end")
int BPF_PROG(stall_compaction_end)
{
	struct task_state *state = stall_current();

	if (!state || !state->stall.compaction_ts)
		return 0;
	stall_send(state, STALL_compaction, state->stall.compaction_ts, RECORD_NULL);
	state->stall.compaction_ts = 0;
	return 0;
}

/* ---- locks ---- */

static __always_inline __u8 stall_kind_of(__u32 flags)
{
	if (flags & LCB_F_MUTEX)
		return STALL_mutex;
	if (flags & LCB_F_RT)
		return STALL_rt_mutex;
	if (flags & LCB_F_PERCPU)
		return flags & LCB_F_WRITE ? STALL_percpu_write : STALL_percpu_read;
	if (flags & LCB_F_SPIN)
		return flags & LCB_F_WRITE  ? STALL_rwlock_write
		       : flags & LCB_F_READ ? STALL_rwlock_read
					    : STALL_spin;
	return flags & LCB_F_WRITE ? STALL_rwsem_write : STALL_rwsem_read;
}

SEC("?tp_btf/contention_begin")
int BPF_PROG(stall_lock_begin, void *lock, unsigned int flags)
{
	struct task_state *state = stall_current();
	struct stall_state *stall;
	__u32 i;

	if (!state)
		return 0;
	stall = &state->stall;
	/* One that is spun for first and then slept for begins twice. */
	for (i = 0; i < STALL_LOCKS && i < stall->lock_count; i++)
		if (stall->locks[i].address == (__u64)lock)
			return 0;
	if (i == STALL_LOCKS) {
		loss_count(LAYER_stall, LOSS_STATE);
		return 0;
	}
	stall->locks[i].address = (__u64)lock;
	stall->locks[i].flags = flags;
	stall->locks[i].ts = bpf_ktime_get_boot_ns();
	stall->lock_count = i + 1;
	return 0;
}

static __always_inline void stall_count_short(__u64 ns)
{
	__u32 zero = 0;
	struct cpu_state *cpu = bpf_map_lookup_elem(&cpu_states, &zero);

	if (!cpu)
		return;
	cpu->short_locks++;
	cpu->short_locks_ns += ns;
}

SEC("?tp_btf/contention_end")
int BPF_PROG(stall_lock_end, void *lock)
{
	struct task_state *state = stall_current();
	struct stall_state *stall;
	__u64 ns;

	if (!state)
		return 0;
	stall = &state->stall;
	for (__u32 i = 0; i < STALL_LOCKS && i < stall->lock_count; i++) {
		if (stall->locks[i].address != (__u64)lock)
			continue;
		ns = bpf_ktime_get_boot_ns() - stall->locks[i].ts;
		stall->lock_count = i;
		if (ns < stall_lock_ns)
			stall_count_short(ns);
		else
			stall_send(state, stall_kind_of(stall->locks[i].flags), stall->locks[i].ts,
				   RECORD_NULL);
		break;
	}
	return 0;
}
