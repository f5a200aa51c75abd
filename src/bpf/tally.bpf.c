/* System calls of the layers io, fs and mem, counted by thread instead of recorded one by one (--aggregate). Takes the place of
 * file.bpf.c: neither files nor arguments are looked at.
 */
#include "bpf/tally.h"

#include "bpf/counter.bpf.h"
#include "bpf/mark.bpf.h"
#include "bpf/task.bpf.h"

/* Set by strata before load. */
const volatile __u16 tally_by_number[TALLY_NUMBERS] = {};

COUNTERS(tally_counters);

struct tally_call {
	__u64 ts; /* 0: in none that is counted */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tally_call);
} tally_calls SEC(".maps");

static __always_inline __u16 tally_known(struct task_struct *task, __u64 number)
{
	if (number >= TALLY_NUMBERS || task->thread_info.status & TS_COMPAT)
		return 0;
	return tally_by_number[number];
}

SEC("tp_btf/sys_enter")
int BPF_PROG(tally_enter, struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct tally_call *call;

	if (!task_may_be_recorded(task) || !tally_known(task, number) ||
	    !task_state_recorded(task, LAYER_io))
		return 0;
	call = bpf_task_storage_get(&tally_calls, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (call)
		call->ts = bpf_ktime_get_boot_ns();
	else
		loss_count(LAYER_io, LOSS_STATE);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(tally_exit, struct pt_regs *regs, long returned)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call_counter_key key;
	struct task_state *state;
	struct tally_call *call;
	__u64 dur, bytes = 0;
	__u16 known;

	if ((__u32)regs->di == MARK_DESCRIPTOR &&
	    (regs->orig_ax == NR_FACCESSAT || regs->orig_ax == NR_FACCESSAT2) && shared.recording)
		mark_send(task, regs);
	if (!task_may_end(task))
		return 0;
	known = tally_known(task, regs->orig_ax);
	call = known ? bpf_task_storage_get(&tally_calls, task, NULL, 0) : NULL;
	state = call && call->ts ? task_state_recorded(task, LAYER_io) : NULL;
	if (!state)
		return 0;
	dur = bpf_ktime_get_boot_ns() - call->ts;
	call->ts = 0;
	key.function = known & TALLY_CALL;
	key.tid = state->tid;
	if (known & TALLY_BYTES && returned > 0)
		bytes = returned;
	counter_add(&tally_counters, key, state->pid, dur, bytes, LAYER_io);
	return 0;
}
