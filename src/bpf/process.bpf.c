/* Processes and threads: the layer process, who belongs to the job, and when it has ended.
 *
 * A child inherits its parent's mode at task_newtask, before it can run, so no call of a forked
 * worker is missed. `live` counts the threads of the job; when the last one exits strata is woken.
 */
#include "bpf/path.bpf.h"

#include "bpf/cgroup.bpf.h"
#include "bpf/compat.bpf.h"
#include "bpf/own.bpf.h"
#include "bpf/process.h"
#include "bpf/selection.bpf.h"
#include "schema/syscalls.h"

#define NR_EXECVE   59
#define NR_EXECVEAT 322
#define ANCESTORS   64 /* of a process that are looked at */

/* Processes to attach to: pid in strata's /proc. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps");

struct process_scratch {
	struct process_record process;
	char args[ARGS_BYTES];
	struct cgroup_scratch cgroup;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct process_scratch);
} process_scratches SEC(".maps");

/* The iterator may be preempted by the hooks, so it has memory of its own. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct process_scratch);
} iterator_scratch SEC(".maps");

static __always_inline struct process_scratch *process_scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&process_scratches, &zero);
}

/* Where a process is: its cgroups, and its id in a PID namespace of its own. */
static __always_inline void process_place(struct process_scratch *scratch, struct task_struct *task)
{
	struct process_record *record = &scratch->process;
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	__u32 level = BPF_CORE_READ(leader, thread_pid, level);
	struct upid number;

	record->cgroup = cgroup_of(&scratch->cgroup, task, -1);
	record->cgroup_v1 = 0;
	if (config.container_subsystem >= 0)
		record->cgroup_v1 = cgroup_of(&scratch->cgroup, task, config.container_subsystem);
	record->ns_pid = 0;
	if (task_upid(leader, level, &number) ||
	    BPF_CORE_READ(number.ns, ns.inum) == shared.pid_namespace)
		return;
	record->ns_pid = number.nr;
	if (level <= shared.pid_level)
		return;
	if (record->cgroup != shared.own_cgroup)
		record->head.flags |= PROCESS_MOVED;
	if (record->cgroup_v1 != shared.own_cgroup_v1)
		record->head.flags |= PROCESS_MOVED_V1;
}

static __always_inline void process_fill(struct process_scratch *scratch, struct task_struct *task,
					 struct task_state *state, __u8 event)
{
	struct process_record *record = &scratch->process;

	record_head(&record->head, PROBE_process, 0, event, 0);
	record->head.tid = state ? state->tid : task_number(task);
	record->head.pid = state ? state->pid : task_process(task);
	record->head.ts = bpf_ktime_get_boot_ns();
	if (state && state->mode == TASK_JOB)
		record->head.flags |= PROCESS_OF_JOB;
	process_place(scratch, task);
	record->ppid = task_process_far(BPF_CORE_READ(task, real_parent));
	record->uid = BPF_CORE_READ(task, cred, euid.val);
	record->exe = 0;
	record->old_tid = record->head.tid;
	record->exit_code = 0;
	record->args_size = 0;
	record->creator = 0;
	BPF_CORE_READ_STR_INTO(&record->comm, task, comm);
}

/* Whether events of this task are recorded: those of the job, and of all others unless strata's own or
 * out of scope. */
static __always_inline bool process_recorded(struct task_state *state)
{
	if (!shared.recording)
		return false;
	if (state && state->mode != TASK_UNKNOWN)
		return state->mode == TASK_JOB;
	return config.process_all;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(process_newtask, struct task_struct *task, unsigned long clone_flags)
{
	struct task_state *parent = task_find(bpf_get_current_task_btf()), *state = NULL;
	struct process_scratch *scratch;

	if (parent && (parent->mode == TASK_JOB || parent->mode == TASK_IGNORED)) {
		state = task_make(task, LAYER_process);
		if (!state)
			return 0;
		if (parent->mode == TASK_JOB)
			task_join(task, state);
		else
			state->mode = parent->mode;
	}
	state = selection_apply(task, state, task->comm);
	scratch = process_scratch_get();
	if (!scratch || !process_recorded(state))
		return 0;
	process_fill(scratch, task, state, EVENT_FORK);
	scratch->process.creator = task_number(bpf_get_current_task_btf());
	ring_output(&scratch->process, sizeof(scratch->process), LAYER_process, 0);
	return 0;
}

/* The argument vector, straight from the new program's stack. */
static __always_inline __u32 process_read_args(struct process_scratch *scratch,
					       struct task_struct *task)
{
	__u64 start = BPF_CORE_READ(task, mm, arg_start);
	__u64 size = BPF_CORE_READ(task, mm, arg_end) - start;

	if (size > ARGS_BYTES) {
		loss_count(LAYER_process, LOSS_STRING);
		size = ARGS_BYTES;
	}
	if (bpf_probe_read_user(scratch->args, size, (void *)start)) {
		loss_count(LAYER_process, LOSS_UNREAD);
		return 0;
	}
	return size;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task, int old_pid, struct linux_binprm *binprm)
{
	struct task_state *state = task_find(task);
	struct process_scratch *scratch;
	__u32 old_tid = state ? state->tid : shared.pid_level ? 0 : old_pid;
	struct file *exe;

	if (state) {
		/* A thread that was not the leader has taken the leader's id. */
		task_read_ids(state, task);
		if ((state->mode == TASK_PENDING || state->mode == TASK_JOB) &&
		    !task_may_be_seen(task)) {
			if (task->pid != old_pid)
				job_bit_clear(old_pid);
			task_hide(task, state);
		} else if (state->mode == TASK_PENDING) {
			task_join(task, state);
			old_tid = state->tid;
		} else if (state->mode == TASK_JOB && task->pid != old_pid) {
			job_bit_clear(old_pid);
			job_bit_set(task->pid);
		}
	}
	state = selection_apply(task, state, task->comm);
	scratch = process_scratch_get();
	if (!scratch || !process_recorded(state))
		return 0;
	process_fill(scratch, task, state, EVENT_EXEC);
	scratch->process.old_tid = old_tid;
	exe = BPF_CORE_READ(task, mm, exe_file);
	if (exe)
		scratch->process.exe = path_of_file(exe);
	if (config.redact_args) {
		ring_output(&scratch->process, sizeof(scratch->process), LAYER_process, 0);
		return 0;
	}
	scratch->process.args_size = process_read_args(scratch, task);
	ring_output(&scratch->process,
		    sizeof(scratch->process) + (scratch->process.args_size & (2 * ARGS_BYTES - 1)),
		    LAYER_process, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	struct task_state *state = task_find(task);
	struct process_scratch *scratch;
	__u64 wake = 0;

	if (state && state->mode == TASK_JOB) {
		job_bit_clear(task->pid);
		if (task_uncount(state))
			wake = BPF_RB_FORCE_WAKEUP;
	}
	scratch = process_scratch_get();
	if (scratch && process_recorded(state)) {
		int code = task->exit_code;

		process_fill(scratch, task, state, EVENT_EXIT);
		scratch->process.exit_code = code & 0x7f ? -(code & 0x7f) : code >> 8 & 0xff;
		ring_output(&scratch->process, sizeof(scratch->process), LAYER_process, wake);
	}
	if (state && state->mode == TASK_JOB)
		state->mode = TASK_GONE;
	return 0;
}

/* An exec renames too, and says so itself. */
static __always_inline bool in_execve(struct task_struct *task)
{
	struct pt_regs *regs;
	__u64 number;

	if (task != bpf_get_current_task_btf())
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	number = BPF_CORE_READ(regs, orig_ax);
	return number == NR_EXECVE || number == NR_EXECVEAT;
}

SEC("tp_btf/task_rename")
int BPF_PROG(process_rename, struct task_struct *task, const char *comm)
{
	struct task_state *state = task_find(task);
	struct process_scratch *scratch = process_scratch_get();

	if (in_execve(task))
		return 0;
	state = selection_apply(task, state, comm);
	if (!scratch || !process_recorded(state))
		return 0;
	process_fill(scratch, task, state, EVENT_RENAME);
	bpf_probe_read_kernel_str(scratch->process.comm, sizeof(scratch->process.comm), comm);
	ring_output(&scratch->process, sizeof(scratch->process), LAYER_process, 0);
	return 0;
}

/* Of a process that is moved only the leader is told here. */
SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(process_moved, struct cgroup *to, const char *path, struct task_struct *task,
	     bool threadgroup)
{
	if (!shared.recording)
		return 0;
	selection_apply(task, task_find(task), task->comm);
	if (threadgroup)
		shared.selection_stale = 1;
	return 0;
}

/* Asks of every thread again. */
SEC("?iter/task")
int process_select(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (task)
		selection_apply(task, task_find(task), task->comm);
	return 0;
}

/* Signals to the launched command, with their senders: one sent to the whole process group reaches both
 * the command and strata, one sent to strata alone is for strata to pass on. */
SEC("?tp_btf/signal_generate")
int BPF_PROG(process_signal, int signal, struct kernel_siginfo *info, struct task_struct *task,
	     int group, int result)
{
	struct task_state *state = task_find(task);

	if (!state || state->mode != TASK_JOB || state->pid != shared.command_pid)
		return 0;
	shared.signal_senders[signal & (SIGNALS - 1)] = task_process(bpf_get_current_task_btf());
	shared.signal_times[signal & (SIGNALS - 1)] = bpf_ktime_get_boot_ns();
	return 0;
}

/* Finds strata itself, so that it leaves itself out and knows which PID namespace /proc shows. */
SEC("iter/task")
int process_find_self(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;
	struct upid number;
	__u32 level;

	if (!task)
		return 0;
	level = BPF_CORE_READ(task, thread_pid, level);
	if (task_upid(task, level, &number) || number.nr != (int)config.self_pid ||
	    BPF_CORE_READ(number.ns, ns.inum) != config.self_namespace || level < config.proc_above)
		return 0;
	level -= config.proc_above;
	if (task_upid(task, level, &number))
		return 0;
	shared.pid_namespace = BPF_CORE_READ(number.ns, ns.inum);
	shared.pid_level = level;
	shared.self_user_namespace = (__u64)BPF_CORE_READ(task, cred, user_ns);
	shared.mount_namespace = (__u64)BPF_CORE_READ(task, nsproxy, mnt_ns);
	shared.own_cgroup = cgroup_id(task, -1);
	if (config.container_subsystem >= 0)
		shared.own_cgroup_v1 = cgroup_id(task, config.container_subsystem);
	state = task_make(task, LAYER_process);
	if (state)
		state->mode = TASK_IGNORED;
	return 0;
}

/* The id of the process that a task, given by its address, is of. */
__noinline __u32 process_of(__u64 address)
{
	return task_process_far((void *)address);
}

/* Whether a process, given by a task's address, is a target or descends from one: a data loader's workers are there as long
 * as an epoch takes. */
__noinline int process_is_target(__u64 address)
{
	for (int i = 0; i < ANCESTORS && address; i++) {
		struct task_struct *one = (void *)address;
		__u64 parent = (__u64)BPF_CORE_READ(one, real_parent);
		__u32 pid = process_of(address);

		if (bpf_map_lookup_elem(&targets, &pid))
			return 1;
		address = parent != address ? parent : 0;
	}
	return 0;
}

/* The address of a task, as a number. */
static __always_inline __u64 task_address(struct task_struct *task)
{
	__u64 address = 0;

	bpf_probe_read_kernel(&address, sizeof(address), &task);
	return address;
}

/* Notes which call a thread sleeps in as the recording begins: of that one only the end will be seen. */
static __always_inline void process_note_call(struct task_struct *task, struct task_state *state)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (!task->__state || task->flags & PF_KTHREAD || (__s64)regs->orig_ax < 0)
		return;
	if (!state && config.record_all)
		state = task_make(task, LAYER_process);
	if (state && !state->syscall)
		state->in_flight = regs->orig_ax + 1;
}

/* Takes the threads that are there when the recording begins: those of the targets join the job, and
 * all in scope are told to strata. */
SEC("iter/task")
int process_existing(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct process_scratch *scratch;
	struct task_state *state;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&iterator_scratch, &zero);
	if (!task || !scratch)
		return 0;
	state = task_find(task);
	if ((!state || state->mode == TASK_UNKNOWN) && process_is_target(task_address(task)) &&
	    task_may_be_seen(task)) {
		state = task_make(task, LAYER_process);
		if (!state)
			return 0;
		task_join(task, state);
	}
	state = selection_apply(task, state, task->comm);
	process_note_call(task, state);
	if (!process_recorded(state))
		return 0;
	if (config.process_all &&
	    task->start_boottime > shared.start_ts) /* its fork was recorded */
		return 0;
	process_fill(scratch, task, state, EVENT_EXISTS);
	scratch->process.head.ts = shared.start_ts;
	ring_output(&scratch->process, sizeof(scratch->process), LAYER_process, 0);
	return 0;
}
