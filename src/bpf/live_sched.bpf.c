/* cpudist, runqlat and pidpersec by bcc's definitions, and the busiest threads.
 *
 * On the CPU: from the switch that brings a thread to the one that takes it away. Off: from there to its next. Ready: from
 * sched_wakeup or sched_wakeup_new, or from leaving in state R, to the switch that brings it. The idle threads count nowhere.
 */
#include "bpf/live.bpf.h"

/* Set by strata before load. */
const volatile bool live_on_cpu = false, live_off_cpu = false, live_queue = false;
const volatile bool live_per_process = false; /* histograms of each process too */
const volatile bool live_busy = false;	      /* CPU time of each thread too */

__u64 live_started = 0; /* processes and threads */

/* Who is on the CPU, and since when. */
struct live_stay {
	__u64 task;
	__u64 since;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct live_stay);
} live_stays SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct live_process_key);
	__type(value, struct live_process);
} live_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct live_busy);
} live_busiest SEC(".maps");

/* A fresh entry is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct live_process);
} live_empty SEC(".maps");

static __always_inline void count_of_process(struct task_struct *task, __u32 subject, __u64 ns)
{
	struct live_process_key key = { .pid = task->tgid, .subject = subject };
	struct live_process *process = bpf_map_lookup_elem(&live_processes, &key), *empty;
	__u32 zero = 0;

	if (!process) {
		empty = bpf_map_lookup_elem(&live_empty, &zero);
		if (!empty ||
		    bpf_map_update_elem(&live_processes, &key, empty, BPF_NOEXIST) == -7) {
			live_lose();
			return;
		}
		process = bpf_map_lookup_elem(&live_processes, &key);
		if (!process) {
			live_lose();
			return;
		}
		BPF_CORE_READ_STR_INTO(&process->comm, task, group_leader, comm);
	}
	live_add_shared(&process->hist, ns);
}

static __always_inline void count(struct task_struct *task, __u32 subject, __u64 ns)
{
	struct live_hist *hist = live_hist_here(subject);

	if (hist)
		live_add(hist, ns);
	if (live_per_process)
		count_of_process(task, subject, ns);
}

static __always_inline void count_busy(struct task_struct *task, __u64 ns)
{
	__u32 tid = task->pid;
	struct live_busy *busy = bpf_map_lookup_elem(&live_busiest, &tid);

	if (busy) {
		busy->ns += ns;
	} else {
		struct live_busy fresh = { .ns = ns, .pid = task->tgid };

		BPF_CORE_READ_STR_INTO(&fresh.comm, task, comm);
		if (bpf_map_update_elem(&live_busiest, &tid, &fresh, BPF_ANY))
			live_lose();
	}
}

/* The entry of a thread, made its own. */
static __always_inline struct live_thread *thread_taken(__u32 tid)
{
	struct live_thread *thread = live_thread(tid);

	if (thread && thread->tid != tid) {
		if (thread->tid && (thread->ready || thread->since))
			live_lose();
		thread->tid = tid;
		thread->ready = 0;
		thread->since = 0;
	}
	return thread;
}

static __always_inline int thread_ready(struct task_struct *task)
{
	struct live_thread *thread;

	if (!task->pid || !live_watched(task))
		return 0;
	thread = thread_taken(task->pid);
	if (thread)
		thread->ready = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/sched_wakeup")
int BPF_PROG(live_wakeup, struct task_struct *task)
{
	return thread_ready(task);
}

SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(live_wakeup_new, struct task_struct *task)
{
	return thread_ready(task);
}

static __always_inline void thread_leaves(struct task_struct *task, bool ready, __u64 now)
{
	struct live_thread *thread;

	if (!live_queue && !live_off_cpu)
		return;
	thread = thread_taken(task->pid);
	if (!thread)
		return;
	if (live_queue && ready)
		thread->ready = now;
	if (live_off_cpu)
		thread->since = now;
}

static __always_inline void thread_comes(struct task_struct *task, __u64 now)
{
	__u32 tid = task->pid;
	struct live_thread *thread;

	if (!live_queue && !live_off_cpu)
		return;
	thread = live_thread(tid);
	if (!thread || thread->tid != tid)
		return;
	if (live_queue && thread->ready)
		count(task, LIVE_QUEUE, now - thread->ready);
	if (live_off_cpu && thread->since)
		count(task, LIVE_OFF_CPU, now - thread->since);
	thread->ready = 0;
	thread->since = 0;
}

static __always_inline int live_switched(struct task_struct *prev, struct task_struct *next,
					 bool ready)
{
	struct live_stay *stay;
	__u32 zero = 0;
	__u64 now = bpf_ktime_get_ns();

	stay = bpf_map_lookup_elem(&live_stays, &zero);
	if (!stay)
		return 0;
	if (prev->pid && live_watched(prev)) {
		/* Some kernels hide a process: it is seen to come and not to leave. */
		if (stay->task == (__u64)prev) {
			if (live_on_cpu)
				count(prev, LIVE_ON_CPU, now - stay->since);
			if (live_busy)
				count_busy(prev, now - stay->since);
		}
		thread_leaves(prev, ready, now);
	}
	stay->task = (__u64)next;
	stay->since = now;
	if (next->pid && live_watched(next))
		thread_comes(next, now);
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(live_switch, bool preempted, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return live_switched(prev, next, preempted || !prev_state);
}

/* Before 5.18 the tracepoint does not say the state. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(live_switch_5_15, bool preempted, struct task_struct *prev, struct task_struct *next)
{
	return live_switched(prev, next, preempted || !prev->__state);
}

/* Threads too, as bcc's pidpersec counts them. */
SEC("?tp_btf/sched_process_fork")
int BPF_PROG(live_fork, struct task_struct *parent, struct task_struct *child)
{
	if (live_watched(parent))
		__sync_fetch_and_add(&live_started, 1);
	return 0;
}

/* ---- a job: the children of its processes are its own ---- */

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(live_follow, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, pid = child->tgid;
	__u8 yes = 1;

	if (from != pid && bpf_map_lookup_elem(&live_pids, &from) &&
	    bpf_map_update_elem(&live_pids, &pid, &yes, BPF_ANY))
		live_lose();
	return 0;
}

/* The first thread of a process is freed after all others. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(live_forget, struct task_struct *task)
{
	__u32 pid = task->tgid;

	if (task->pid == task->tgid)
		bpf_map_delete_elem(&live_pids, &pid);
	return 0;
}
