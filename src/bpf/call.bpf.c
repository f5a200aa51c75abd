/* Calls of functions of programs, libraries and the kernel: the ends of each, by whichever probe the kernel has.
 *
 * The kernel hangs a return probe on a call by replacing its return address. So an entry program that will not record
 * the call says so where it can (sessions), and nothing is replaced.
 */
#include "bpf/call_frames.bpf.h"
#include "bpf/call_usdt.bpf.h"

extern bool bpf_session_is_return(void) __ksym __weak;

/* ---- entry and return ---- */

/* Whether the return of this call is to be seen. */
static __always_inline bool call_enter(__u64 cookie, __u64 sp, struct call_registers *registers)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call_frame *frame;
	struct function_traits *traits;
	struct task_state *state;
	struct call_stack *stack;
	bool pair, own;
	__u32 depth;

	if (!task_may_be_recorded(task))
		return false;
	state = task_state_recorded(task, LAYER_call);
	stack = state ? stack_of(task, state) : NULL;
	if (!stack)
		return false;
	own = stack_is_own(stack, task, sp);
	if (own)
		stack_trim(stack, sp);
	depth = stack->count;
	pair = !(cookie & CALL_ENTRY_ONLY) && depth < CALL_FRAMES && own;
	frame = pair ? &stack->frames[depth & (CALL_FRAMES - 1)] : &stack->alone;
	frame->sp = sp;
	frame->cookie = cookie;
	__builtin_memcpy(frame->args, registers->args, sizeof(frame->args));
	traits = traits_of(cookie);
	if (traits)
		call_tell_entry(traits, registers, &frame->facts);
	frame->ts = bpf_ktime_get_boot_ns();
	if (pair) {
		stack->count = depth + 1;
		return true;
	}
	if (!(cookie & CALL_ENTRY_ONLY))
		loss_count(LAYER_call, LOSS_DEPTH);
	if (cookie & CALL_PATHS && !call_aggregates && !call_min_dur)
		call_send_path(stack, frame, CALL_NO_LENGTH, 0, depth);
	else
		call_left(stack, frame, depth);
	return false;
}

static __always_inline void call_leave(__u64 cookie, __u64 sp, __s64 returned)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call_stack *stack;
	__u64 now, depth;

	if (!task_may_end(task))
		return;
	now = bpf_ktime_get_boot_ns();
	stack = bpf_task_storage_get(&call_stacks, task, NULL, 0);
	if (!stack)
		return;
	depth = (__u32)stack_find(stack, cookie, sp);
	if (depth >= CALL_FRAMES)
		return;
	call_ended(stack, &stack->frames[depth], now, returned, depth);
	stack->count = depth;
}

/* The kernel's functions nest and return in order, so that where the stack is does not matter. */
#define KERNEL_SP (1ull << 63)

/* The arguments of a function that a probe is in. */
#define CALL_REGISTERS(ctx, of_kernel)                                            \
	{                                                                         \
		.args = { ctx->di, ctx->si, ctx->dx, ctx->cx, ctx->r8, ctx->r9 }, \
		.kernel = of_kernel                                               \
	}

#define CALL_ENTER(ctx, stack_pointer, of_kernel)                                   \
	({                                                                          \
		struct call_registers registers_ = CALL_REGISTERS(ctx, of_kernel);  \
		call_enter(bpf_get_attach_cookie(ctx), stack_pointer, &registers_); \
	})
#define CALL_LEAVE(ctx, stack_pointer) \
	call_leave(bpf_get_attach_cookie(ctx), stack_pointer, ctx->ax)

/* A mark: its arguments are where its note says. */
static __always_inline void usdt_enter(struct pt_regs *ctx)
{
	struct call_registers registers = {};
	__u64 cookie = bpf_get_attach_cookie(ctx);

	usdt_arguments(ctx, cookie, &registers);
	call_enter(cookie, ctx->sp, &registers);
}

/* One program at both ends, since 6.13. */
SEC("?kprobe/session")
int call_session(struct pt_regs *ctx)
{
	if (!bpf_session_is_return())
		return !CALL_ENTER(ctx, ctx->sp, false);
	CALL_LEAVE(ctx, ctx->sp);
	return 0;
}

/* NAME_entry and NAME_return, a program at either end. */
#define CALL_PAIR(section, name, stack_pointer, of_kernel) \
	SEC(section)                                       \
	int name##_entry(struct pt_regs *ctx)              \
	{                                                  \
		CALL_ENTER(ctx, stack_pointer, of_kernel); \
		return 0;                                  \
	}                                                  \
	SEC(section)                                       \
	int name##_return(struct pt_regs *ctx)             \
	{                                                  \
		CALL_LEAVE(ctx, stack_pointer);            \
		return 0;                                  \
	}

/* Many probes by one link, since 6.6, or one link a probe; of the kernel, many where it is built with fprobes. */
CALL_PAIR("?kprobe/multi", call_multi, ctx->sp, false)
CALL_PAIR("?kprobe/single", call_single, ctx->sp, false)
CALL_PAIR("?kprobe/kernel", call_kernel_multi, KERNEL_SP, true)
CALL_PAIR("?kprobe/kernel", call_kernel, KERNEL_SP, true)

/* ---- USDT marks ---- */

SEC("?kprobe/multi")
int call_multi_usdt(struct pt_regs *ctx)
{
	usdt_enter(ctx);
	return 0;
}

SEC("?kprobe/single")
int call_single_usdt(struct pt_regs *ctx)
{
	usdt_enter(ctx);
	return 0;
}

/* An argument that the function does not have is 0. */
static __always_inline __s64 kernel_argument(__u64 *ctx, __u32 number)
{
	__u64 value = 0;

	bpf_get_func_arg(ctx, number, &value);
	return value;
}

SEC("?fentry/vfs_read")
int call_fentry(__u64 *ctx)
{
	struct call_registers registers = { .kernel = true };

	for (int i = 0; i < 6; i++)
		registers.args[i] = kernel_argument(ctx, i);
	call_enter(bpf_get_attach_cookie(ctx), KERNEL_SP, &registers);
	return 0;
}

SEC("?fexit/vfs_read")
int call_fexit(__u64 *ctx)
{
	__u64 returned = 0;

	bpf_get_func_ret(ctx, &returned);
	call_leave(bpf_get_attach_cookie(ctx), KERNEL_SP, returned);
	return 0;
}

/* ---- ends that are no returns ---- */

static __always_inline void call_forget(struct task_struct *task)
{
	struct call_stack *stack = bpf_task_storage_get(&call_stacks, task, NULL, 0);

	if (stack && shared.recording) {
		stack_clear(stack);
		stack->low = 0;
	}
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(call_exec, struct task_struct *task)
{
	call_forget(task);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(call_exit, struct task_struct *task)
{
	call_forget(task);
	return 0;
}

/* Calls in flight as the recording ends. */
SEC("iter/task")
int call_in_flight(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct call_stack *stack;

	if (!task)
		return 0;
	stack = bpf_task_storage_get(&call_stacks, task, NULL, 0);
	if (stack)
		stack_clear(stack);
	return 0;
}
