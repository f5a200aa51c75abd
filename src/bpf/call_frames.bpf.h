/* The calls that a thread is in: what is known of one at its entry waits in a stack of the thread's own for its return, by the
 * stack pointer as it was:
 *
 *     main ──▶ f ──▶ g ──▶ h            frames:  f (sp 0x7f00)  g (sp 0x7ec0)  h (sp 0x7e80)
 *
 * A frame whose stack pointer lies below the current one was left without returning: by longjmp, or by an exception. Of
 * two with the same one the second was reached by a jump in place of a call, and both return.
 *
 * All that holds on one stack only. A call on another one than the thread's own, a coroutine's or a signal handler's, has no frame:
 * the kernel, which goes by the stack pointer likewise, would end the program.
 *
 * Functions that are not static are verified once, not once for each way to their call; so the loops do not make loading slow.
 */
#ifndef STRATA_BPF_CALL_FRAMES_BPF_H
#define STRATA_BPF_CALL_FRAMES_BPF_H

#include "bpf/call.h"

#include "bpf/call_traits.bpf.h"
#include "bpf/counter.bpf.h"
#include "bpf/task.bpf.h"

/* Set by strata before load. */
const volatile __u8 call_aggregates = 0;   /* all calls are counted, none recorded */
const volatile __u8 call_knows_stacks = 0; /* the kernel has bpf_find_vma */
const volatile __u64 call_min_dur = 0;	   /* shorter ones are counted only */

struct call_frame {
	__u64 ts;
	__u64 sp;
	__u64 cookie;
	__s64 args[4];
	struct call_facts facts; /* with CALL_TELLS */
};

struct call_stack {
	__u32 count;
	__u32 pid;
	__u32 tid;
	__u32 pad;
	__u64 low; /* the thread's own stack, as far as it is known; 0: not yet */
	__u64 high;
	struct call_frame frames[CALL_FRAMES];
	/* A call without a place among them; the stack of the programs is too small for it. */
	struct call_frame alone;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_stack);
} call_stacks SEC(".maps");

COUNTERS(call_counters);

/* ---- what a call comes to ---- */

__noinline int call_count(struct call_stack *stack, struct call_frame *frame, __u64 dur)
{
	__u64 bytes = 0;

	if (!stack || !frame)
		return 0;
	if (frame->cookie & CALL_TELLS && frame->facts.bytes != RECORD_NULL)
		bytes = frame->facts.bytes;
	if (frame->cookie & CALL_ENTRY_ONLY)
		dur = CALL_NO_LENGTH;
	counter_add(&call_counters, (struct call_counter_key){ frame->cookie, stack->tid },
		    stack->pid, dur, bytes, LAYER_call);
	return 0;
}

static __always_inline void call_fill(struct call_record *record, struct call_stack *stack,
				      struct call_frame *frame, __u64 dur, __s64 returned,
				      __u32 depth)
{
	record->head.pid = stack->pid;
	record->head.tid = stack->tid;
	record->head.ts = frame->ts;
	record->head.dur = dur;
	record->function = frame->cookie;
	record->depth = depth;
	record->returned = returned;
	__builtin_memcpy(record->args, frame->args, sizeof(record->args));
	record->bytes = frame->facts.bytes;
	record->count = frame->facts.count;
	record->rank = frame->facts.rank;
	record->op = frame->facts.op;
	record->file = frame->facts.file;
	record->path_size = 0;
	if (!(frame->cookie & CALL_TELLS)) {
		record->bytes = record->count = record->rank = record->op = RECORD_NULL;
		record->file = 0;
	}
}

/* The text that a call was given; only of the current thread, which alone is in its memory. */
static __always_inline __u32 call_read_path(struct call_path_record *record,
					    struct call_frame *frame)
{
	struct function_traits *traits = traits_of(frame->cookie);
	struct call_registers registers = {};
	__s64 pointer;

	if (!traits)
		return 0;
	__builtin_memcpy(registers.args, frame->args, sizeof(frame->args));
	pointer = source_value(&traits->path, &registers);
	return pointer == RECORD_NULL ? 0 : user_string_read(record->path, PATH_BYTES, pointer);
}

__noinline int call_send_path(struct call_stack *stack, struct call_frame *frame, __u64 dur,
			      __s64 returned, __u32 depth)
{
	struct call_path_record *record;

	if (!stack || !frame)
		return 0;
	record = ring_reserve(sizeof(*record), LAYER_call);
	if (!record)
		return 0;
	record_head(&record->call.head, PROBE_call, CALL_WITH_PATH, 0,
		    dur == CALL_NO_LENGTH ? RECORD_UNFINISHED : 0);
	call_fill(&record->call, stack, frame, dur, returned, depth);
	record->call.path_size = call_read_path(record, frame);
	ring_submit(record);
	return 0;
}

__noinline int call_send(struct call_stack *stack, struct call_frame *frame, __u64 dur,
			 __s64 returned, __u32 depth)
{
	struct call_record *record;

	if (!stack || !frame)
		return 0;
	record = ring_reserve(sizeof(*record), LAYER_call);
	if (!record)
		return 0;
	record_head(&record->head, PROBE_call, CALL_PLAIN, 0,
		    dur == CALL_NO_LENGTH ? RECORD_UNFINISHED : 0);
	call_fill(record, stack, frame, dur, returned, depth);
	ring_submit(record);
	return 0;
}

/* A call that returned. */
static __always_inline void call_ended(struct call_stack *stack, struct call_frame *frame,
				       __u64 now, __s64 returned, __u32 depth)
{
	struct function_traits *traits = traits_of(frame->cookie);
	__u64 dur = now - frame->ts;

	if (traits) {
		struct call_registers registers = { .returned = returned };

		call_tell_return(traits, &registers, &frame->facts);
	}
	if (call_aggregates || dur < call_min_dur)
		call_count(stack, frame, dur);
	else if (frame->cookie & CALL_PATHS)
		call_send_path(stack, frame, dur, returned, depth);
	else
		call_send(stack, frame, dur, returned, depth);
}

/* A call whose return will not be seen. */
static __always_inline void call_left(struct call_stack *stack, struct call_frame *frame,
				      __u32 depth)
{
	struct function_traits *traits = traits_of(frame->cookie);

	if (traits)
		call_tell_nothing(traits, &frame->facts);
	if (call_aggregates || (call_min_dur && frame->cookie & CALL_ENTRY_ONLY)) {
		/* It has no length: counted as those of functions without a return probe are. */
		frame->cookie |= CALL_ENTRY_ONLY;
		call_count(stack, frame, 0);
	} else {
		call_send(stack, frame, CALL_NO_LENGTH, 0, depth);
	}
}

/* ---- the stack ---- */

static __always_inline bool is_kernel(__u64 sp)
{
	return sp >> 63;
}

/* Whether the return address at the stack pointer is the kernel's own: the call around this one jumped here. */
static __always_inline bool call_is_chained(__u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 address = 0, trampoline;

	trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
	bpf_probe_read_user(&address, sizeof(address), (void *)sp);
	return trampoline && address == trampoline;
}

/* Whether a frame was left, as a call with this stack pointer begins. */
static __always_inline bool frame_is_left(const struct call_frame *frame, __u64 sp)
{
	if (is_kernel(frame->sp) != is_kernel(sp))
		return is_kernel(frame->sp);
	if (frame->sp != sp)
		return frame->sp < sp;
	return !is_kernel(sp) && !call_is_chained(sp);
}

/* ---- stacks ---- */

#define EBUSY	    16
#define STACK_LEAST (16 << 10) /* no thread has less */

static long stack_area(struct task_struct *task, struct vm_area_struct *area, __u64 *low)
{
	*low = area->vm_start;
	return 0;
}

/* Where the thread's own stack begins, to grow down: the C library puts what is private to a thread above the stack that it makes for
 * it, and has a guard below. */
static __always_inline __u64 stack_top(struct task_struct *task)
{
	return task->pid == task->tgid ? BPF_CORE_READ(task, mm, start_stack) : task->thread.fsbase;
}

static __always_inline bool is_signal_stack(struct task_struct *task, __u64 sp)
{
	return sp > task->sas_ss_sp && sp - task->sas_ss_sp <= task->sas_ss_size;
}

/* Whether a call of the current thread's is on its own stack. */
static __always_inline bool stack_is_own(struct call_stack *stack, struct task_struct *task,
					 __u64 sp)
{
	__u64 low = 0;
	long err;

	if (is_kernel(sp) || !call_knows_stacks)
		return true;
	if (is_signal_stack(task, sp))
		return false;
	if (stack->low && sp >= stack->low && sp <= stack->high)
		return true;
	/* The first time, or it has grown, or another stack. */
	stack->high = stack_top(task);
	err = bpf_find_vma(task, stack->high, stack_area, &low, 0);
	stack->low = low;
	if (err ==
	    -EBUSY) /* others change the mappings just now: what is near is sure without them */
		low = stack->high - STACK_LEAST;
	return low && sp >= low && sp <= stack->high;
}

/* Takes frames that were left off the stack. */
__noinline int stack_trim(struct call_stack *stack, __u64 sp)
{
	if (!stack)
		return 0;
	for (int i = 0; i < CALL_FRAMES; i++) {
		__u64 last = (__u32)(stack->count - 1);

		if (last >= CALL_FRAMES || !frame_is_left(&stack->frames[last], sp))
			break;
		call_left(stack, &stack->frames[last], last);
		stack->count = last;
	}
	return 0;
}

/* Takes all frames off, those of a thread that is gone or begins another program. */
__noinline int stack_clear(struct call_stack *stack)
{
	if (!stack)
		return 0;
	for (int i = 0; i < CALL_FRAMES; i++) {
		__u64 last = (__u32)(stack->count - 1);

		if (last >= CALL_FRAMES)
			break;
		call_left(stack, &stack->frames[last], last);
		stack->count = last;
	}
	return 0;
}

/* Finds the frame of a call that returns, and takes off those above it. The stack pointer of a user's call has moved over the
 * return address; the kernel's calls return in order. */
__noinline int stack_find(struct call_stack *stack, __u64 cookie, __u64 sp)
{
	if (!stack)
		return -1;
	for (int i = 0; i < CALL_FRAMES; i++) {
		__u64 last = (__u32)(stack->count - 1);
		struct call_frame *frame;

		if (last >= CALL_FRAMES)
			break;
		frame = &stack->frames[last];
		if (frame->cookie == cookie && (is_kernel(frame->sp) || frame->sp + 8 == sp))
			return last;
		/* What lies above the call that returns is no frame of what it was called by. */
		if (!is_kernel(frame->sp) && (is_kernel(sp) || frame->sp + 8 > sp))
			break;
		call_left(stack, frame, last);
		stack->count = last;
	}
	return -1;
}

static __always_inline struct call_stack *stack_of(struct task_struct *task,
						   const struct task_state *state)
{
	struct call_stack *stack;

	stack = bpf_task_storage_get(&call_stacks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!stack) {
		loss_count(LAYER_call, LOSS_STATE);
		return NULL;
	}
	stack->pid = state->pid;
	stack->tid = state->tid;
	return stack;
}

#endif
