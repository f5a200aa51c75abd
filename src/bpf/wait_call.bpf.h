/* Calls that are in no table but wait, and slept: their beginning, and their end as a record. See wait.bpf.h. */
#ifndef STRATA_BPF_WAIT_CALL_BPF_H
#define STRATA_BPF_WAIT_CALL_BPF_H

#include "bpf/syscall.bpf.h"
#include "bpf/wait.bpf.h"

#define POLLED_MOST 16 /* descriptors of a poll that are looked at */

/* Set by strata before load. */
const volatile bool waits = false; /* the layer wait is on */

/* Whether a call ended so that it may be begun anew, after a signal. */
static __always_inline bool ends_interrupted(__s64 returned)
{
	return returned <= -512 && returned >= -516 && returned != -515;
}

/* ---- how long it would have slept at most ---- */

static __always_inline __s64 wait_futex_timeout(struct task_state *state)
{
	__u32 operation = state->args[1] & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	bool realtime = state->args[1] & FUTEX_CLOCK_REALTIME;

	if (operation == FUTEX_LOCK_PI)
		state->wait_clock = CLOCK_REALTIME;
	else if (operation == FUTEX_WAIT_BITSET || operation == FUTEX_WAIT_REQUEUE_PI ||
		 operation == FUTEX_LOCK_PI2)
		state->wait_clock = realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	else if (operation != FUTEX_WAIT)
		return RECORD_NULL;
	return wait_read_time(state->args[3], 1);
}

static __always_inline __s64 wait_uring_timeout(struct task_state *state)
{
	struct user_getevents_arg argument = {};
	__u64 flags = state->args[3];

	if (!(flags & IORING_ENTER_EXT_ARG) || flags & IORING_ENTER_EXT_ARG_REG ||
	    bpf_probe_read_user(&argument, sizeof(argument), (void *)state->args[4]))
		return RECORD_NULL;
	if (flags & IORING_ENTER_ABS_TIMER)
		state->wait_clock = CLOCK_MONOTONIC;
	return wait_read_time(argument.time, 1);
}

/* What lies in memory is only read of the current thread. kind: enum wait_timeout; place: of the argument. */
__noinline __s64 wait_timeout(struct task_state *state, __u32 kind, __u32 place)
{
	__u64 value;

	if (!state)
		return RECORD_NULL;
	value = argument(state, place);
	switch (kind) {
	case WAIT_TIMESPEC: return wait_read_time(value, 1);
	case WAIT_UNTIL_REALTIME:
		state->wait_clock = CLOCK_REALTIME;
		return wait_read_time(value, 1);
	case WAIT_UNTIL:
		state->wait_clock = argument(state, place + 1);
		return wait_read_time(value, 1);
	case WAIT_SLEEP:
		if (state->args[1] & TIMER_ABSTIME)
			state->wait_clock = state->args[0];
		return wait_read_time(value, 1);
	case WAIT_FUTEX: return wait_futex_timeout(state);
	case WAIT_URING: return wait_uring_timeout(state);
	default: return state->wait_timeout; /* none, or read before the kernel wrote there */
	}
}

/* ---- what it waited on ---- */

/* The first descriptor of a poll that is ready, or the only one. */
__noinline __s32 wait_polled(__u64 descriptors, __u64 count, __s64 returned)
{
	struct user_pollfd one = {};

	for (__u32 i = 0; i < POLLED_MOST && i < count; i++) {
		if (bpf_probe_read_user(&one, sizeof(one), (void *)(descriptors + i * sizeof(one))))
			return DESCRIPTOR_NONE;
		if (count == 1 || (returned > 0 && one.revents))
			return one.fd;
	}
	return DESCRIPTOR_NONE;
}

/* The file behind the call's descriptor, if it is the one that was there as it began to sleep. */
static __always_inline __u32 wait_file(struct task_struct *task, struct task_state *state, __u32 fd)
{
	struct file *file = path_descriptor(task, fd);
	__u64 before = state->wait_file;

	if (!file)
		return 0;
	state->wait_file = (__u64)file; /* a trip through memory makes a number of it */
	memory_order();
	if (before && before != state->wait_file)
		return 0;
	return path_of_descriptor(task, state, fd);
}

/* Takes all that the record tells from the registers, which keep the arguments, and the memory of a call at its end. */
static __always_inline void wait_take(struct task_struct *task, struct task_state *state,
				      struct pt_regs *regs, __s64 returned, bool absent)
{
	const volatile struct wait_trait *trait = wait_trait_of(regs->orig_ax);
	__u32 number = regs->orig_ax;

	state->wait_number = number;
	state->wait_clock = CLOCK_NONE;
	state->wait_fd = DESCRIPTOR_NONE;
	state->file = 0;
	for (int i = 0; i < 6; i++)
		state->args[i] = wait_register(regs, i);
	if (trait->has_fd)
		state->wait_fd = state->args[0];
	else if ((number == NR_POLL || number == NR_PPOLL) && !absent)
		state->wait_fd = wait_polled(state->args[0], state->args[1], returned);
	if (state->wait_fd >= 0)
		state->file = wait_file(task, state, state->wait_fd);
	if (trait->timeout == WAIT_MILLISECONDS) {
		__s32 most = argument(state, trait->place);

		state->wait_timeout = most < 0 ? RECORD_NULL : most * 1000000ll;
	} else if (!absent) {
		state->wait_timeout = wait_timeout(state, trait->timeout, trait->place);
	}
}

/* The same of the current thread. */
__noinline int wait_take_own(struct task_state *state, __s64 returned)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (state)
		wait_take(task, state, (struct pt_regs *)bpf_task_pt_regs(task), returned, false);
	return 0;
}

/* ---- enter and exit ---- */

/* Writes the record of a call that wait_take() has looked at. */
__noinline int wait_send(struct task_state *state, __s64 returned, __u64 end, __u8 flags)
{
	struct wait_record *record;

	if (!state)
		return 0;
	record = ring_reserve(sizeof(*record), LAYER_wait);
	if (!record)
		return 0;
	record_head(&record->head, PROBE_wait, 0, 0, flags & ~SYSCALL_ABSENT);
	record->head.pid = state->pid;
	record->head.tid = state->tid;
	record->head.ts = state->wait_ts;
	record->head.dur = end - state->wait_ts;
	record->returned = returned;
	record->arg0 = state->args[0];
	record->blocked = state->blocked;
	record->timeout = state->wait_timeout;
	record->fd = state->wait_fd;
	record->file = state->file;
	record->number = state->wait_number;
	record->clock = state->wait_clock;
	__builtin_memset(record->pad, 0, sizeof(record->pad));
	ring_submit(record);
	return 0;
}

/* The end of a call that is in no other table. */
static __always_inline void wait_end(struct task_state *state, __s64 returned, __u64 end,
				     __u8 flags)
{
	wait_send(state, returned, end, flags);
	if (state->interrupted)
		__sync_fetch_and_sub(&shared.waits_interrupted, 1);
	state->syscall = 0;
	state->interrupted = 0;
}

/* Of a call that hands over or collects operations, which have rows of their own: that it slept. */
static __always_inline void wait_queue(struct task_state *state, __s64 returned, __u64 end)
{
	state->wait_file = 0;
	state->wait_timeout = RECORD_NULL;
	wait_take_own(state, returned);
	wait_send(state, returned, end, returned == -EINTR ? RECORD_INTERRUPTED : 0);
}

/* The record of a call that has not returned as the recording ends; another may be under way by now. */
static __noinline void wait_in_flight(struct task_struct *task, struct task_state *state,
				      struct pt_regs *regs)
{
	if (state->syscall != SYSCALL_OTHER) {
		state->wait_number = regs->orig_ax;
		state->wait_file = 0;
		state->wait_timeout = RECORD_NULL;
	}
	state->blocked = RECORD_NULL;
	if (regs->orig_ax == state->wait_number && regs->di == state->args[0]) {
		wait_take(task, state, regs, 0, true);
	} else {
		state->wait_fd = DESCRIPTOR_NONE;
		state->wait_clock = CLOCK_NONE;
		state->file = 0;
	}
	wait_send(state, 0, state->wait_ts, RECORD_UNFINISHED);
}

/* A call begins that is in no other table. A thread's state is not looked up for it. */
static __always_inline void wait_enter(struct task_struct *task)
{
	__u32 zero = 0;
	struct cpu_state *cpu;
	struct task_state *state;

	if (!waits)
		return;
	if (config.record_all && !task_state_recorded(task, LAYER_wait))
		return;
	if (shared.waits_interrupted) {
		state = task_find(task);
		if (state && state->syscall == SYSCALL_OTHER && state->interrupted)
			wait_end(state, -EINTR, state->end, RECORD_INTERRUPTED | RECORD_RESTARTED);
	}
	cpu = bpf_map_lookup_elem(&cpu_states, &zero);
	if (cpu)
		cpu->in_call = 1;
}

/* A call that was there when the recording began, of which only the end is seen. */
static __always_inline void wait_begin_late(struct task_state *state, __u64 number, __u64 arg0)
{
	state->syscall = SYSCALL_OTHER;
	state->wait_number = number;
	state->args[0] = arg0;
	state->interrupted = 0;
	state->slept = CALL_SLEPT;
	state->wait_ts = shared.start_ts;
	state->blocked = RECORD_NULL;
	state->wait_file = 0;
	state->wait_timeout = RECORD_NULL;
}

/* The end of a call of the current thread's that has left the CPU, or whose beginning was not seen. */
__noinline int wait_exit_slept(__s64 returned)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct task_state *state = task_state_recorded(task, LAYER_wait);
	__u64 end = bpf_ktime_get_boot_ns(), number = regs->orig_ax;
	__u8 flags = 0;

	if (!state)
		return 0;
	if (state->syscall != SYSCALL_OTHER) {
		if (state->in_flight != (__u16)(number + 1) || !rows_are_taken())
			return 0;
		wait_begin_late(state, number, regs->di);
	}
	state->in_flight = 0;
	if (state->slept && (task->thread_info.status & TS_COMPAT || number >= SYSCALL_NUMBERS)) {
		/* One that is another layer's is counted there. */
		if (number & X32_BIT || !layers_by_number32[number & (SYSCALL_NUMBERS - 1)])
			loss_count(LAYER_wait, LOSS_ABI32);
		state->slept = CALL_LEFT;
	}
	if (state->slept != CALL_SLEPT) { /* it only had to give way */
		state->syscall = 0;
		return 0;
	}
	blocked_settle(state);
	wait_take_own(state, returned);
	if (ends_interrupted(returned)) {
		state->end = end;
		state->interrupted = returned;
		__sync_fetch_and_add(&shared.waits_interrupted, 1);
		return 0;
	}
	if (returned == -EINTR)
		flags |= RECORD_INTERRUPTED;
	wait_end(state, returned, end, flags);
	return 0;
}

static __always_inline int wait_exit(struct task_struct *task, long returned)
{
	__u32 zero = 0;
	struct cpu_state *cpu;

	if (!waits || !task_may_end(task))
		return 0;
	cpu = bpf_map_lookup_elem(&cpu_states, &zero);
	if (cpu && cpu->in_call) { /* it never left the CPU */
		cpu->in_call = 0;
		return 0;
	}
	return wait_exit_slept(returned);
}

#endif
