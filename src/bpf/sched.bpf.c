/* The scheduler: the layer sched, and how long the job's calls were off the CPU.
 *
 * One record a stay on a CPU, written when the thread leaves. What must be known from its beginning is
 * kept per CPU (struct stay); each stay begins where the last one ended, so that a CPU's rows tile the
 * recording. The run-queue time is the kernel's own count: what run_delay grew by when the thread got
 * the CPU.
 */
#include "bpf/job.bpf.h"

#include "bpf/compat.bpf.h"
#include "bpf/sched.h"
#include "bpf/stall.bpf.h"
#include "bpf/wait.bpf.h"

/* Set by strata before load. */
const volatile bool sched_rows = false; /* the layer sched is on; else only `blocked` is counted */
const volatile bool sched_settles_job =
	false; /* on behalf of job.bpf.c, which spares each switch a program */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stay);
} stays SEC(".maps");

/* Who woke each thread last, by the woken one's id on this machine; as many as there may be ids. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} wakers SEC(".maps");

#define STACK_BYTES 16384 /* of a thread in the kernel, on x86-64 */

/* Whether a program runs on behalf of the current thread, and not of an interrupt that came in its way.
 * The counter that would tell is out of reach on many kernels, but two facts give it away: an interrupt
 * that came while the kernel ran has a stack of its own, where `context` then lies, and one that came in
 * user mode finds the thread in no system call. */
static __always_inline bool by_current(void *context, struct task_struct *current)
{
	struct pt_regs *regs;
	struct stay *stay;
	__u32 zero = 0;

	stay = bpf_map_lookup_elem(&stays, &zero);
	if (!stay)
		return false;
	stay->context = (__u64)context; /* a trip through memory makes a number of it */
	memory_order();
	if (stay->context - (__u64)current->stack >= STACK_BYTES)
		return false;
	if (current->flags & PF_KTHREAD)
		return true;
	regs = (struct pt_regs *)bpf_task_pt_regs(current);
	return (__s64)regs->orig_ax >= 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u32 tid = task->pid, *waker;

	if (!shared.recording)
		return 0;
	waker = bpf_map_lookup_elem(&wakers, &tid);
	if (waker)
		*waker = by_current(ctx, current) ? task_number(current) : 0;
	return 0;
}

/* The letter that tools print for a state, as an index into task_state_names; -1: none of them. */
static __always_inline __s8 state_of(bool preempted, __u32 state)
{
	if (preempted || !state)
		return 0; /* R */
	if ((state & 0x402) == 0x402)
		return 8; /* I: uninterruptible, but no load */
	if (state & 0x1)
		return 1; /* S */
	if (state & 0x2)
		return 2; /* D */
	if (state & 0x4)
		return 3; /* T */
	if (state & 0x8)
		return 4; /* t */
	if (state & 0x90)
		return 5; /* X */
	if (state & 0x20)
		return 6; /* Z */
	if (state & 0x40)
		return 7; /* P */
	return -1;
}

/* The system call that a thread is in; -1 in user mode and for kernel threads. */
static __always_inline __s32 syscall_of(struct task_struct *task)
{
	struct pt_regs *regs;

	if (task->flags & PF_KTHREAD || task->thread_info.status & TS_COMPAT)
		return -1;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	return regs->orig_ax;
}

static __always_inline struct sched_record *sched_reserve(__u64 ts, __u64 end)
{
	struct sched_record *record = ring_reserve(sizeof(*record), LAYER_sched);

	if (!record)
		return NULL;
	record_head(&record->head, PROBE_sched, 0, 0, 0);
	record->head.ts = ts;
	record->head.dur = end - ts;
	return record;
}

/* The stay of a thread that leaves. */
static __always_inline void sched_send(struct task_struct *task, struct stay *stay, __u64 now,
				       __s8 state)
{
	struct sched_record *record = sched_reserve(stay->ts, now);

	if (!record)
		return;
	record->head.tid = task_number(task); /* an exec may have changed it */
	record->head.pid = task_process(task);
	record->wait =
		stay->unknown ? RECORD_NULL : (__s64)(task_run_delay(task) - stay->run_delay);
	record->waker = stay->waker;
	record->prio = task->prio;
	record->syscall = syscall_of(task);
	record->state = state;
	record->idle = !task->pid;
	ring_submit(record);
}

/* The stay of a thread whose leaving was not seen. */
static __always_inline void sched_send_unseen(struct stay *stay, __u64 end)
{
	struct sched_record *record = sched_reserve(stay->ts, end);
	struct task_struct *task = (void *)stay->task;

	if (!record)
		return;
	record->head.tid = stay->tid;
	record->head.pid = stay->pid;
	record->wait =
		stay->unknown
			? RECORD_NULL
			: (__s64)(BPF_CORE_READ(task, sched_info.run_delay) - stay->run_delay);
	record->waker = stay->waker;
	record->prio = stay->prio;
	record->syscall = -1;
	record->state = -1;
	record->idle = stay->idle;
	ring_submit(record);
}

static __always_inline void stay_begin(struct stay *stay, struct task_struct *task, __u64 now)
{
	__u32 tid = task->pid, *waker = bpf_map_lookup_elem(&wakers, &tid);

	stay->ts = now;
	stay->task = (__u64)task;
	stay->run_sum = task->se.sum_exec_runtime;
	stay->run_delay = task_run_delay(task);
	stay->unknown = !task_has_run_delay();
	stay->tid = task_number(task);
	stay->pid = task_process(task);
	stay->prio = task->prio;
	stay->idle = !tid;
	stay->waker = waker ? *waker : 0;
	if (waker)
		*waker = 0;
}

/* Some kernels hide a process from tracing: its threads are seen to come, and not to leave. Then the
 * thread that leaves now is not the one that came last: it came when that one had run what the scheduler
 * says it ran. */
static __always_inline void stay_mend(struct stay *stay, struct task_struct *task,
				      struct task_state *state, __u64 now)
{
	struct task_struct *unseen = (void *)stay->task;
	__u64 end = stay->ts + BPF_CORE_READ(unseen, se.sum_exec_runtime) - stay->run_sum;

	if (end < stay->ts || end > now)
		end = now;
	if (sched_rows && config.process_all)
		sched_send_unseen(stay, end);
	stay_begin(stay, task, end);
	stay->unknown = !state || !state->run_delay;
	stay->run_delay = state ? state->run_delay : 0;
	if (state && state->syscall && state->off_since && state->off_since < end) {
		state->blocked += end - state->off_since;
		state->off_since = 0;
	}
}

static __always_inline struct task_state *job_state(struct task_struct *task)
{
	return config.record_all || job_bit(task) ? task_find(task) : NULL;
}

static __always_inline int sched_switched(bool preempted, struct task_struct *prev,
					  struct task_struct *next, __u32 prev_state)
{
	struct task_state *leaving, *coming;
	struct stay *stay;
	__u32 zero = 0;
	__u64 now;

	if (sched_settles_job)
		job_settle(prev);
	if (!shared.recording)
		return 0;
	now = bpf_ktime_get_boot_ns();
	leaving = job_state(prev);
	coming = job_state(next);
	stay = bpf_map_lookup_elem(&stays, &zero);
	if (!stay)
		return 0;
	if (!stay->ts) { /* the first switch of this CPU: prev was there when the recording began */
		stay->ts = shared.start_ts;
		stay->unknown = 1;
	} else if (stay->task != (__u64)prev) {
		stay_mend(stay, prev, leaving, now);
	}
	if (sched_rows && (config.process_all || job_bit(prev)))
		sched_send(prev, stay, now, state_of(preempted, prev_state));
	wait_leave(leaving, !preempted && prev_state, now);
	stall_switch(leaving, !preempted && prev_state, coming, now);
	if (leaving) {
		leaving->run_delay = task_run_delay(prev);
		if (leaving->syscall && !leaving->interrupted) /* else the call has ended */
			leaving->off_since = now;
	}
	if (coming && coming->syscall && coming->off_since) {
		coming->blocked += now - coming->off_since;
		coming->off_since = 0;
	}
	stay_begin(stay, next, now);
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempted, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return sched_switched(preempted, prev, next, prev_state);
}

/* Before 5.18 the tracepoint does not say the state. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switch_5_15, bool preempted, struct task_struct *prev, struct task_struct *next)
{
	return sched_switched(preempted, prev, next, prev->__state);
}
