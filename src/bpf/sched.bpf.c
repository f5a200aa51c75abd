/* The scheduler: the layer sched, and how long the job's calls were off the CPU.
 *
 * One record a stay on a CPU, written when the thread leaves. What must be known from its beginning is
 * kept per CPU (struct stay); each stay begins where the last one ended, so that a CPU's rows tile the
 * recording. How long the thread had been ready before, and who made it so, is told by wake.bpf.h.
 */
#include "bpf/job.bpf.h"
#include "bpf/process.h"
#include "bpf/stall.bpf.h"
#include "bpf/wait.bpf.h"
#include "bpf/wake.bpf.h"
#include "schema/syscalls.h"

/* Set by strata before load. */
const volatile bool sched_rows = false; /* the layer sched is on; else only `blocked` is counted */
const volatile bool sched_settles_job =
	false; /* on behalf of job.bpf.c, which spares each switch a program */

#define SYSCALL_FUTEX	   202 /* as x86-64 numbers them */
#define SYSCALL_FUTEX_WAIT 455

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stay);
} stays SEC(".maps");

/* Names told of threads that this kernel hides, by their ids. */
struct unseen_name {
	union {
		char comm[COMM_BYTES];
		__u64 words[2];
	};
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct unseen_name);
} unseen_names SEC(".maps");

SEC("?tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	if (rows_are_taken() && (config.process_all || job_bit(task)))
		wake_begin(task, ctx, false);
	return 0;
}

/* A thread's first time. */
SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	if (rows_are_taken() && (config.process_all || job_bit(task)))
		wake_begin(task, ctx, true);
	return 0;
}

/* ---- interrupts: what a waker is that is no thread ---- */

SEC("?tp_btf/softirq_entry")
int BPF_PROG(sched_softirq_entry, unsigned int number)
{
	struct interrupts *here = interrupts_here();
	__u32 place = number & (SOFTIRQS - 1);

	if (!here)
		return 0;
	here->softirq = number + 1;
	here->on_behalf_of = here->raised_by[place];
	here->raised_by[place] = 0;
	return 0;
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(sched_softirq_exit)
{
	struct interrupts *here = interrupts_here();

	if (here)
		here->softirq = 0;
	return 0;
}

/* On whose behalf it will be served: the thread's that raises it, or that of the softirq which does. Two make it
 * nobody's. */
SEC("?tp_btf/softirq_raise")
int BPF_PROG(sched_softirq_raise, unsigned int number)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct interrupts *here = interrupts_here();
	__u32 place = number & (SOFTIRQS - 1), by = RAISED_BY_INTERRUPT;
	enum waker_kind kind;

	if (!here)
		return 0;
	kind = kind_here(ctx, current, (struct pt_regs *)bpf_task_pt_regs(current), here);
	if (kind == WAKER_THREAD)
		by = current->pid;
	else if (kind >= WAKER_SOFTIRQ)
		by = here->on_behalf_of;
	if (here->raised_by[place] && here->raised_by[place] != by)
		by = RAISED_BY_INTERRUPT;
	here->raised_by[place] = by;
	return 0;
}

SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(sched_timer_entry)
{
	struct interrupts *here = interrupts_here();

	if (here)
		here->timers++;
	return 0;
}

SEC("?tp_btf/hrtimer_expire_exit")
int BPF_PROG(sched_timer_exit)
{
	struct interrupts *here = interrupts_here();

	if (here && here->timers)
		here->timers--;
	return 0;
}

/* ---- stays ---- */

/* What is known of a stay since it began. */
static __always_inline struct sched_record *sched_begin(struct stay *stay, __u64 end, __u8 flags)
{
	struct sched_record *record = ring_reserve(sizeof(*record), LAYER_sched);

	if (!record)
		return NULL;
	record_head(&record->head, PROBE_sched, 0, stay->waker_kind, flags);
	record->head.ts = stay->ts;
	record->head.dur = end - stay->ts;
	record->wait = stay->wait;
	record->early = stay->early;
	record->waker = stay->waker;
	record->waker_syscall = stay->waker_syscall;
	return record;
}

/* A descriptor or an id tells what a call waits for, and so does the address of a futex. Other addresses would cost
 * more bytes than all that is known of a wake. */
static __always_inline bool argument_tells(__s16 syscall, __u64 argument)
{
	return syscall == SYSCALL_FUTEX || syscall == SYSCALL_FUTEX_WAIT ||
	       (syscall >= 0 && argument <= 0x7fffffff);
}

/* The stay of a thread that leaves; state: 0 if it could have gone on. */
static __always_inline void sched_send(struct task_struct *task, struct stay *stay, __u64 now,
				       __u32 state)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u8 flags = task->pid ? 0 : STAY_IDLE;
	__s16 syscall = syscall_of(task, regs);
	struct sched_record *record;

	if (state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE) &&
	    argument_tells(syscall, regs->di))
		flags |= STAY_ARGUMENT;
	if (state && task_waits_for_io(task))
		flags |= STAY_IOWAIT;
	record = sched_begin(stay, now, flags);
	if (!record)
		return;
	record->head.tid = task_number(task); /* an exec may have changed it */
	record->head.pid = task_process(task);
	record->prio = task->prio;
	record->syscall = syscall;
	record->arg0 = regs->di;
	record->state = state;
	ring_submit(record);
}

/* The stay of a thread whose leaving was not seen. */
static __always_inline void sched_send_unseen(struct stay *stay, __u64 end)
{
	struct sched_record *record = sched_begin(stay, end, stay->idle ? STAY_IDLE : 0);

	if (!record)
		return;
	record->head.tid = stay->tid;
	record->head.pid = stay->pid;
	record->prio = stay->prio;
	record->syscall = -1;
	record->arg0 = 0;
	record->state = SCHED_STATE_UNKNOWN;
	ring_submit(record);
}

/* Tells strata the name of a thread whose leaving was not seen, nor anything else of it: else it would have none. */
static __always_inline void unseen_tell(struct stay *stay)
{
	struct task_struct *task = (void *)stay->task;
	struct unseen_name name = {}, *known;
	struct process_record *record;
	__u32 tid = stay->tid;

	BPF_CORE_READ_STR_INTO(&name.comm, task, comm);
	known = bpf_map_lookup_elem(&unseen_names, &tid);
	if (known && known->words[0] == name.words[0] && known->words[1] == name.words[1])
		return;
	record = ring_reserve(sizeof(*record), LAYER_process);
	if (!record)
		return;
	__builtin_memset(record, 0, sizeof(*record));
	record_head(&record->head, PROBE_process, 0, known ? EVENT_RENAME : EVENT_EXISTS, 0);
	record->head.tid = stay->tid;
	record->head.pid = stay->pid;
	record->head.ts = stay->ts;
	record->uid = BPF_CORE_READ(task, cred, euid.val);
	__builtin_memcpy(record->comm, name.comm, sizeof(record->comm));
	bpf_map_update_elem(&unseen_names, &tid, &name, BPF_ANY);
	ring_submit(record);
}

static __always_inline void stay_begin(struct stay *stay, struct task_struct *task, __u64 now)
{
	stay->ts = now;
	stay->task = (__u64)task;
	stay->run_sum = task->se.sum_exec_runtime;
	stay->tid = task_number(task);
	stay->pid = task_process(task);
	stay->prio = task->prio;
	stay->idle = !task->pid;
	if (sched_rows)
		wake_end(stay, task, now);
}

/* A thread leaves inside a call, or a fault that it has not ended yet. */
static __always_inline void job_leave(struct task_struct *task, struct task_state *state,
				      bool ready, __u64 now)
{
	if (state->syscall && !state->interrupted) /* else the call has ended */
		state->off_since = now;
	if (state->fault && !ready && state->fault_ended == task_faults(task))
		state->fault_asleep = 1;
}

/* ... and comes back. */
static __always_inline void job_come(struct task_state *state, __u64 now)
{
	if (state->syscall && state->off_since) {
		state->blocked += now - state->off_since;
		state->off_since = 0;
	}
	if (state->fault_asleep) {
		state->fault_asleep = 0;
		state->fault_back = now;
	}
}

static __always_inline struct task_state *job_state(struct task_struct *task)
{
	return config.record_all || job_bit(task) ? task_find(task) : NULL;
}

/* Some kernels hide a process from tracing: its threads are seen to come, and not to leave. Then the
 * thread that leaves now is not the one that came last: it came when that one had run what the scheduler
 * says it ran. Global: the verifier looks at it once, not once for each way that leads here. */
__noinline int stay_mend(struct stay *stay, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf(); /* which leaves */
	struct task_struct *unseen;
	struct task_state *state;
	__u64 end;

	if (!stay)
		return 0;
	unseen = (void *)stay->task;
	end = stay->ts + BPF_CORE_READ(unseen, se.sum_exec_runtime) - stay->run_sum;
	if (end < stay->ts || end > now)
		end = now;
	if (sched_rows && config.process_all) {
		sched_send_unseen(stay, end);
		unseen_tell(stay);
	}
	stay_begin(stay, task, end);
	state = job_state(task);
	if (state && state->off_since < end)
		job_come(state, end);
	return 0;
}

/* Whether a thread that leaves is the job's. On its way out it is not among those of job_bits any more. */
static __always_inline bool is_job(struct task_struct *task)
{
	struct task_state *state;

	if (job_bit(task))
		return true;
	if (!(task->flags & PF_EXITING))
		return false;
	state = task_find(task);
	return state && state->mode == TASK_GONE && !state->left_out;
}

/* What the job's calls, faults and stalls have to know of a switch. */
static __always_inline void job_switched(struct task_struct *prev, struct task_struct *next,
					 bool ready, __u64 now)
{
	struct task_state *state = job_state(prev);

	wait_leave(state, !ready, now);
	if (state) {
		stall_leave(state, !ready);
		job_leave(prev, state, ready, now);
	}
	state = job_state(next);
	if (state) {
		stall_come(state, now);
		job_come(state, now);
	}
}

/* The parts follow each other, and none has more ways to end than it must: the verifier walks what follows a part once for each
 * of them. */
static __always_inline int sched_switched(bool preempted, struct task_struct *prev,
					  struct task_struct *next, __u32 prev_state)
{
	__u32 state = preempted ? 0 : prev_state;
	struct stay *stay;
	__u32 zero = 0;
	__u64 now;

	if (sched_settles_job)
		job_settle(prev);
	if (!shared.recording)
		return 0;
	stay = bpf_map_lookup_elem(&stays, &zero);
	if (!stay || (!stay->ts && !rows_are_taken()))
		return 0;
	now = bpf_ktime_get_boot_ns();
	if (!stay->ts) { /* the first switch of this CPU: prev was there when the recording began, or went on */
		stay->ts = shared.on_ts;
		stay->wait = RECORD_NULL;
		stay->waker_syscall = -1; /* nor who woke it */
	} else if (stay->task != (__u64)prev) {
		stay_mend(stay, now);
	}
	if (sched_rows && (config.process_all || is_job(prev))) {
		sched_send(prev, stay, now, state);
		wake_leave(prev, !state, now);
	}
	job_switched(prev, next, !state, now);
	if (rows_are_taken())
		stay_begin(stay, next, now);
	else /* the last stay that began while it was on */
		stay->ts = 0;
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
