/* Since when each thread is ready to run, and who made it so.
 *
 * A thread that leaves its CPU in state R is ready from then on; one that sleeps, from the first sched_waking. That
 * runs where the waker is: in a thread, or in an interrupt that came in a thread's way.
 *
 *     sched_waking, or left in R ───▶ wakes[tid] ───▶ sched_switch, when it gets a CPU
 *                                     (ready since when, by whom)
 */
#ifndef STRATA_BPF_WAKE_BPF_H
#define STRATA_BPF_WAKE_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/sched.h"
#include "bpf/task.bpf.h"

#define HARDIRQ_BITS \
	0x00ff0000 /* of the preemption counter: interrupts, and those that nothing masks */
#define SOFTIRQ_BIT   0x00000100 /* a softirq is served; the bits above count who holds them off */
#define STACK_BYTES   16384	 /* of a thread in the kernel, on x86-64 */
#define ON_RUN_QUEUE  1		 /* task_struct.on_rq */
#define SYSCALLS_MOST 0x8000

#define SOFTIRQ_TIMER	1
#define SOFTIRQ_HRTIMER 8

/* Set by strata before load. */
const volatile __u32 wakes_mask = 0; /* the number of wakes less 1 */
const volatile __s32 count_from_rq =
	0; /* from a CPU's run queue to its preemption counter; 0: not known */

/* By the thread's id on this machine, cut by the mask. Of threads that share an entry the one that came last has it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wake);
} wakes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct interrupts);
} interrupts SEC(".maps");

static __always_inline struct interrupts *interrupts_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&interrupts, &zero);
}

/* This CPU's preemption counter, which says whether an interrupt or a softirq runs. Kernels that do not list their variables give
 * programs no way to it; but all of a CPU's lie together, and the current thread knows its run queue, which is one
 * of them. */
static __always_inline bool preemption_count(struct task_struct *current, __u32 *count)
{
	struct rq *queue;

	if (!count_from_rq || !bpf_core_field_exists(current->se.cfs_rq->rq))
		return false;
	queue = current->se.cfs_rq->rq;
	return queue &&
	       !bpf_probe_read_kernel(count, sizeof(*count), (void *)queue + count_from_rq);
}

/* The system call that a thread's registers name: negative in user mode, of a kernel thread and of a 32-bit call. */
static __always_inline __s16 syscall_of(struct task_struct *task, struct pt_regs *regs)
{
	if (task->flags & PF_KTHREAD || task->thread_info.status & TS_COMPAT ||
	    regs->orig_ax >= SYSCALLS_MOST)
		return -1;
	return (__s16)regs->orig_ax;
}

/* Whether a program runs on behalf of the current thread, and not of an interrupt that came in its way. Two facts give
 * that away: one that came while the kernel ran has a stack of its own, where `context` then lies, and one that came in
 * user mode finds the thread in no system call. Softirqs are served on the thread's own stack, too. */
static __always_inline bool by_current(void *context, struct task_struct *current,
				       struct pt_regs *regs, struct interrupts *here)
{
	if (here->softirq || here->timers)
		return false;
	here->context = (__u64)context; /* a trip through memory makes a number of it */
	memory_order();
	if (here->context - (__u64)current->stack >= STACK_BYTES)
		return false;
	return current->flags & PF_KTHREAD || (__s64)regs->orig_ax >= 0;
}

/* What kind of code runs here. */
static __always_inline enum waker_kind kind_here(void *context, struct task_struct *current,
						 struct pt_regs *regs, struct interrupts *here)
{
	__u32 count = 0;

	if (by_current(context, current, regs, here))
		return WAKER_THREAD;
	if (preemption_count(current, &count)) {
		if (count & HARDIRQ_BITS)
			return here->timers ? WAKER_TIMER : WAKER_HARDIRQ;
		if (!(count & SOFTIRQ_BIT)) /* a page fault, say, or a signal that is taken */
			return WAKER_THREAD;
	} else if (here->timers || !here->softirq) {
		return here->timers ? WAKER_TIMER : WAKER_HARDIRQ;
	}
	if (!here->softirq) /* it began before the recording */
		return WAKER_NONE;
	if (here->softirq == SOFTIRQ_TIMER + 1 || here->softirq == SOFTIRQ_HRTIMER + 1)
		return WAKER_TIMER;
	return WAKER_SOFTIRQ + here->softirq - 1;
}

static __always_inline struct wake *wake_of(__u32 tid)
{
	__u32 place = tid & wakes_mask;

	return tid ? bpf_map_lookup_elem(&wakes, &place) : NULL;
}

/* Who wakes: the thread, also when it raised the softirq that does and serves it by itself, as it does when it sends to a
 * socket of this machine. One that another thread or an interrupt raised is nobody's. */
static __always_inline void wake_by(struct wake *wake, void *context)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(current);
	struct interrupts *here = interrupts_here();

	wake->waker = 0;
	wake->syscall = -1;
	wake->kind = WAKER_NONE;
	if (!here)
		return;
	wake->kind = kind_here(context, current, regs, here);
	if (wake->kind == WAKER_THREAD ||
	    (wake->kind >= WAKER_SOFTIRQ && here->on_behalf_of == (__u32)current->pid)) {
		wake->waker = task_number(current);
		wake->syscall = syscall_of(current, regs);
	}
}

/* A thread is made ready. One that is still on its CPU may not leave at all, so that this is believed only for want of
 * another; after that, the first one counts: some kernels tell of it again where the thread will run. */
static __always_inline void wake_begin(struct task_struct *task, void *context, bool born)
{
	struct wake *wake = wake_of(task->pid);

	if (!wake)
		return;
	if (wake->tid != (__u32)task->pid || born) {
		wake->tid = task->pid;
		wake->left = 0;
	} else if (wake->ts >= shared.on_ts && wake->certain) {
		return;
	}
	wake->certain = born || task->on_rq != ON_RUN_QUEUE || task_delayed(task);
	wake->ts = bpf_ktime_get_boot_ns();
	wake_by(wake, context);
}

/* A thread leaves its CPU: ready at once, or not before it is woken, which may have come before this. */
static __always_inline void wake_leave(struct task_struct *task, bool ready, __u64 now)
{
	struct wake *wake = wake_of(task->pid);

	if (!wake)
		return;
	if (wake->tid != (__u32)task->pid) {
		wake->tid = task->pid;
		wake->ts = 0;
	}
	wake->left = now;
	if (!ready)
		return;
	wake->ts = now;
	wake->certain = 1;
	wake->kind = WAKER_NONE;
	wake->waker = 0;
	wake->syscall = -1;
}

/* A thread gets a CPU: the stay takes over how it became ready. */
static __always_inline void wake_end(struct stay *stay, struct task_struct *task, __u64 now)
{
	struct wake *wake = wake_of(task->pid);
	__u64 ready;

	stay->wait = RECORD_NULL;
	stay->waker = 0;
	stay->waker_kind = WAKER_NONE;
	stay->waker_syscall = -1;
	stay->early = 0;
	if (!wake || wake->tid != (__u32)task->pid || !wake->ts)
		return;
	if (wake->ts < shared.on_ts) { /* of before it was switched off: it has run since, maybe */
		wake->ts = 0;
		wake->certain = 0;
		return;
	}
	ready = wake->ts > wake->left ? wake->ts : wake->left;
	ready = ready < now ? ready : now;
	stay->wait = now - ready;
	if (wake->ts < ready)
		stay->early = ready - wake->ts < 0xffffffff ? ready - wake->ts : 0xffffffff;
	stay->waker = wake->waker;
	stay->waker_kind = wake->kind;
	stay->waker_syscall = wake->syscall;
	wake->ts = 0;
	wake->certain = 0;
}

#endif
