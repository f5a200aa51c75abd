/* Calls that are in no table but wait, and slept: what the switch away from a thread notes of them.
 *
 *     sys_enter       a flag in the CPU's own memory: no thread's state is looked up, no clock read
 *     sched_switch    still there: the thread leaves inside that call, whose state is opened in task storage
 *     sys_exit        still there: it never left the CPU, and that is all; else wait_call.bpf.h ends the call
 *
 * Between the enter of a call and the first switch no other thread can run on its CPU, so that the flag which the switch
 * finds is that of the thread that leaves. A clock read at the enter of each such call would cost more than all else
 * that strata does for it: so the row begins where the thread first left the CPU.
 */
#ifndef STRATA_BPF_WAIT_BPF_H
#define STRATA_BPF_WAIT_BPF_H

#include "bpf/descriptor.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/wait.h"

/* Set by strata before load. */
const volatile struct wait_trait wait_traits[SYSCALL_NUMBERS] = {};

static __always_inline const volatile struct wait_trait *wait_trait_of(__u64 number)
{
	return &wait_traits[number & (SYSCALL_NUMBERS - 1)];
}

static __always_inline __s64 wait_nanoseconds(struct user_timespec *time, __u32 unit)
{
	if (time->seconds < 0 || time->parts < 0)
		return RECORD_NULL;
	if (time->seconds >= WAIT_SECONDS_MOST)
		return __INT64_MAX__; /* the kernel takes it for never */
	return time->seconds * 1000000000ll + time->parts * unit;
}

/* Reads a length or time of the current thread's. */
static __always_inline __s64 wait_read_time(__u64 pointer, __u32 unit)
{
	struct user_timespec time = {};

	if (!pointer || bpf_probe_read_user(&time, sizeof(time), (void *)pointer))
		return RECORD_NULL;
	return wait_nanoseconds(&time, unit);
}

static __always_inline __u64 wait_register(struct pt_regs *regs, __u8 place)
{
	switch (place) {
	case 0: return regs->di;
	case 1: return regs->si;
	case 2: return regs->dx;
	case 3: return regs->r10;
	case 4: return regs->r8;
	default: return regs->r9;
	}
}

/* Opens the call that the current thread is in as it leaves the CPU for the first time inside it. Global: the verifier looks at
 * it once, not once for each way that leads here. */
__noinline int wait_open(struct task_state *state)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	const volatile struct wait_trait *trait = wait_trait_of(regs->orig_ax);

	if (!state)
		return 0;
	state->syscall = SYSCALL_OTHER;
	state->interrupted = 0;
	state->in_flight = 0;
	state->slept = CALL_STAYED;
	state->blocked = 0;
	state->off_since = 0;
	state->file_pointer = 0;
	state->wait_number = regs->orig_ax;
	state->args[0] = regs->di;
	state->wait_file = trait->has_fd ? (__u64)path_descriptor(task, regs->di) : 0;
	state->wait_timeout = RECORD_NULL;
	if (trait->timeout >= WAIT_TIMESPEC_REWRITTEN)
		state->wait_timeout =
			wait_read_time(wait_register(regs, trait->place),
				       trait->timeout == WAIT_TIMEVAL_REWRITTEN ? 1000 : 1);
	return 0;
}

/* At each switch: the state of the thread that leaves, if it is recorded, and whether it sleeps or could have gone on. */
static __always_inline void wait_leave(struct task_state *state, bool sleeps, __u64 now)
{
	__u32 zero = 0;
	struct cpu_state *cpu = bpf_map_lookup_elem(&cpu_states, &zero);

	if (cpu && cpu->in_call) {
		cpu->in_call = 0;
		if (state && !state->syscall)
			wait_open(state);
	}
	if (!state || state->interrupted)
		return;
	if (state->slept == CALL_STAYED) {
		state->slept = CALL_LEFT;
		state->wait_ts = now;
	}
	if (sleeps)
		state->slept = CALL_SLEPT;
}

#endif
