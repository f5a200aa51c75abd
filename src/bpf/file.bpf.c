/* Calls on files and mappings: the layers io, fs and mem.
 *
 * sys_enter takes what may change while the call runs (time, arguments, the file behind a descriptor,
 * the file position) into the thread's state; sys_exit adds the result and writes one record. What
 * lies in user memory (paths, vectors, offsets) is read at the end: at the start its pages are often
 * not resident yet, and a program cannot fault them in.
 *
 * A call that a signal interrupted stays open until it is known whether the kernel restarts it: a
 * handler decides at signal_deliver, without one the next call of the thread is the restarted one,
 * and a thread that exits restarts nothing.
 */
#include "bpf/aio.bpf.h"
#include "bpf/fs.bpf.h"
#include "bpf/io.bpf.h"
#include "bpf/mark.bpf.h"
#include "bpf/mem.bpf.h"
#include "bpf/wait_call.bpf.h"

/* Opens a call: everything about it that is known before it runs. */
static __noinline void syscall_begin(struct task_struct *task, struct task_state *state,
				     struct pt_regs *regs, __u8 syscall)
{
	const volatile struct syscall_shape *shape = shape_of(syscall);

	state->syscall = syscall;
	state->interrupted = 0;
	state->slept = CALL_STAYED;
	state->off_since = 0;
	state->missed = 0;
	state->file_flags = 0;
	state->blocked = shared.count_blocked ? 0 : RECORD_NULL;
	state->args[0] = regs->di;
	state->args[1] = regs->si;
	state->args[2] = regs->dx;
	state->args[3] = regs->r10;
	state->args[4] = regs->r8;
	state->args[5] = regs->r9;
	state->pos = RECORD_NULL;
	state->file = 0;
	state->file2 = 0;
	state->file_pointer = 0;
	state->position_shared = 0;
	if (shape->io >= IO_SUBMIT)
		return;
	if (shape->layer == LAYER_io)
		io_enter(task, state, shape->io);
	else if (shape->layer == LAYER_fs)
		fs_enter(task, state, shape);
	else
		mem_enter(task, state);
}

/* Writes the record of the call that the thread is in, and closes it. */
__noinline int syscall_end(struct task_state *state, __s64 returned, __u64 end, __u8 flags)
{
	const volatile struct syscall_shape *shape;

	if (!state)
		return 0;
	shape = shape_of(state->syscall);
	if (state->syscall == SYSCALL_OTHER)
		wait_end(state, returned, end, flags);
	else if (shape->io >= IO_SUBMIT)
		; /* its operations have records */
	else if (shape->layer == LAYER_fs)
		fs_exit(state, returned, end, flags);
	else if (shape->layer == LAYER_mem)
		mem_exit(state, returned, end, flags);
	else if (shape->io >= IO_TEE) /* and none of the above */
		io_copy_exit(state, returned, end, flags);
	else
		io_exit(state, returned, end, flags);
	state->syscall = 0;
	state->interrupted = 0;
	return 0;
}

/* Ends a call that a signal interrupted, now that it is known whether it restarts. */
static __always_inline void syscall_end_interrupted(struct task_state *state, __u8 flags)
{
	syscall_end(state, -EINTR, state->end, RECORD_INTERRUPTED | flags);
}

/* A call through the 32-bit entry has other numbers and layouts: counted as lost, never misread. */
static __always_inline void syscall_foreign(struct task_struct *task, __u8 layer_and_one)
{
	__u8 layer = layer_and_one - 1;

	if (layer_and_one && task_state_recorded(task, layer))
		loss_count(layer, LOSS_ABI32);
}

/* What follows the filter is a function of its own, so that a thread which is not recorded does not pay
 * for its registers and stack. */
static __noinline int syscall_enter(struct task_struct *task, struct pt_regs *regs, long number)
{
	struct task_state *state;
	__u8 syscall;

	if (task->thread_info.status & TS_COMPAT) {
		syscall_foreign(task, layers_by_number32[number & (SYSCALL_NUMBERS - 1)]);
		wait_enter(task);
		return 0;
	}
	syscall = syscalls_by_number[number & (SYSCALL_NUMBERS - 1)] & SYSCALL_MASK;
	if ((__u64)number >= SYSCALL_NUMBERS) {
		if (number & X32_BIT)
			syscall_foreign(task, syscall ? shape_of(syscall)->layer + 1 : 0);
		wait_enter(task);
		return 0;
	}
	if (!syscall) {
		wait_enter(task);
		return 0;
	}
	state = task_state_recorded(task, shape_of(syscall)->layer);
	if (!state)
		return 0;
	if (state->syscall && state->interrupted)
		syscall_end_interrupted(state, RECORD_RESTARTED);
	state->in_flight = 0;
	state->epoch = shared.recording;
	syscall_begin(task, state, regs, syscall);
	state->ts = bpf_ktime_get_boot_ns();
	if (shape_of(syscall)->io == IO_SUBMIT)
		aio_submit(state->args[2], state->args[1], state->ts, state->pid, state->tid);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(file_sys_enter, struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!task_may_be_recorded(task))
		return 0;
	return syscall_enter(task, regs, number);
}

/* Opens a call of the current thread whose end is all that was seen of it: at state->end. Its arguments are still in the
 * registers; the file's position is where the call has left it. Gives flags for its record. */
__noinline int syscall_begin_late(struct task_state *state, __s64 returned, __u32 known)
{
	__u8 syscall = known & SYSCALL_MASK; /* the verifier sees no bounds of an argument */
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u8 shape = shape_of(syscall)->io;
	bool slept;

	if (!state)
		return 0;
	slept = state->in_flight == (__u16)(regs->orig_ax + 1);
	syscall_begin(task, state, regs, syscall);
	state->blocked = RECORD_NULL;
	state->slept = slept ? CALL_SLEPT : CALL_STAYED;
	state->wait_ts = shared.start_ts;
	if (state->position_shared && !io_positioned(state, shape)) {
		state->pos = RECORD_NULL;
		state->out_pos = RECORD_NULL;
	}
	if (state->pos != RECORD_NULL && returned > 0 && !io_positioned(state, shape))
		state->pos -= returned;
	if (shape >= IO_SENDFILE && state->out_pos != RECORD_NULL && returned > 0 &&
	    (shape == IO_SENDFILE || !state->args[3]))
		state->out_pos -= returned;
	/* In flight when the recording began, or answered by a seccomp filter, of which the kernel tells the end
	 * alone. */
	state->ts = slept ? shared.start_ts : state->end;
	return slept ? 0 : RECORD_NO_START;
}

/* Of a call whose beginning was not seen: whether that is so because the recording was switched off then, or still is. */
static __always_inline bool began_while_off(const struct task_state *state)
{
	if (!rows_are_taken())
		return true;
	return shared.recording > RECORDING_OFF && state->epoch != (__u16)shared.recording;
}

static __noinline int syscall_exit(struct task_struct *task, struct pt_regs *regs, long returned,
				   __u8 syscall)
{
	__u64 end = bpf_ktime_get_boot_ns();
	struct task_state *state;
	__u8 flags = 0;

	if (task->thread_info.status & TS_COMPAT)
		return wait_exit(task, returned);
	state = task_state_recorded(task, shape_of(syscall)->layer);
	if (!state)
		return 0;
	if (!state->syscall && began_while_off(state))
		return 0;
	state->end = end;
	if (!state->syscall)
		flags = syscall_begin_late(state, returned, syscall);
	state->in_flight = 0;
	blocked_settle(state);
	if (shape_of(syscall)->io >= IO_SUBMIT && state->slept == CALL_SLEPT && waits)
		wait_queue(state, returned, end);
	if (ends_interrupted(returned)) {
		state->interrupted = returned;
		return 0;
	}
	if (returned == -EINTR) /* by a call that is never begun anew */
		flags |= RECORD_INTERRUPTED;
	aio_end(state, shape_of(syscall)->io, returned, end);
	syscall_end(state, returned, end, flags);
	return 0;
}

/* What is watched of a call, whoever makes it. */
static __noinline int syscall_watched(struct task_struct *task, struct pt_regs *regs, long returned,
				      __u16 known)
{
	if (!returned && (known & SYSCALL_MOVES_PATHS ||
			  (known & SYSCALL_MAY_REMOVE && regs->dx & AT_REMOVEDIR)))
		__sync_fetch_and_add(&shared.path_epoch, 1);
	if (known & SYSCALL_MAY_MARK && (__u32)regs->di == MARK_DESCRIPTOR && shared.recording)
		mark_send(task, regs);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(file_sys_exit, struct pt_regs *regs, long returned)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 number = regs->orig_ax;
	__u16 known = number < SYSCALL_NUMBERS ? syscalls_by_number[number] : 0;

	if (known & SYSCALL_WATCHED)
		syscall_watched(task, regs, returned, known);
	known &= SYSCALL_MASK;
	if (!known)
		return wait_exit(task, returned);
	if (!task_may_end(task))
		return 0;
	return syscall_exit(task, regs, returned, known);
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(file_signal_deliver, int signal, struct kernel_siginfo *info,
	     struct k_sigaction *action)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_find(task);
	bool restarts;

	if (!state || !state->syscall || !state->interrupted || !shared.recording)
		return 0;
	if ((unsigned long)action->sa.sa_handler <= 1) /* SIG_DFL and SIG_IGN run no handler */
		return 0;
	restarts = state->interrupted == -513 ||
		   (state->interrupted == -512 && action->sa.sa_flags & SA_RESTART);
	syscall_end_interrupted(state, restarts ? RECORD_RESTARTED : 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(file_process_exit, struct task_struct *task)
{
	struct task_state *state = task_find(task);

	if (!state || !state->syscall || !shared.recording)
		return 0;
	if (state->interrupted)
		syscall_end_interrupted(state, 0);
	else if (state->syscall == SYSCALL_OTHER) /* exit: it has no end */
		state->syscall = 0;
	else
		syscall_end(state, 0, state->ts, RECORD_UNFINISHED);
	return 0;
}

/* Opens the call that a thread sleeps in since before the recording began, if there is one. */
static __always_inline void syscall_begin_before(struct task_struct *task, struct task_state *state,
						 struct pt_regs *regs)
{
	__u64 number = regs->orig_ax;
	__u8 syscall;

	if (!task->__state || task->thread_info.status & TS_COMPAT || number >= SYSCALL_NUMBERS ||
	    state->in_flight != number + 1)
		return;
	syscall = syscalls_by_number[number] & SYSCALL_MASK;
	if (syscall) {
		syscall_begin(task, state, regs, syscall);
		state->ts = shared.start_ts;
		state->blocked = RECORD_NULL;
		state->slept = CALL_SLEPT;
		state->wait_ts = shared.start_ts;
	} else if (waits) {
		wait_begin_late(state, number, regs->di);
	}
}

/* At the end of a recording: closes the calls that have not returned. */
SEC("iter/task")
int file_in_flight(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;
	struct pt_regs *regs;

	if (!task || task->flags & PF_KTHREAD)
		return 0;
	state = task_state_recorded(task, LAYER_io);
	if (!state)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (!state->syscall)
		syscall_begin_before(task, state, regs);
	if (!state->syscall)
		return 0;
	if (waits && state->slept == CALL_SLEPT && !state->interrupted &&
	    (state->syscall == SYSCALL_OTHER || shape_of(state->syscall)->io >= IO_SUBMIT))
		wait_in_flight(task, state, regs);
	if (state->interrupted)
		syscall_end_interrupted(state, SYSCALL_ABSENT);
	else if (state->syscall != SYSCALL_OTHER)
		syscall_end(state, 0, state->ts, RECORD_UNFINISHED | SYSCALL_ABSENT);
	return 0;
}
