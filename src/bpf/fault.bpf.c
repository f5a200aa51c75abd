/* Page faults: the layer fault.
 *
 * Most faults are on anonymous memory, and none of them should pay for those that are on files. That a fault is
 * on a file is told by the page cache, when it is asked for the page: the row begins there. A major fault ends
 * at the kernel's own count of it, a software perf event, which also gives its address. Nothing tells the end
 * of a minor one without costing every anonymous fault: one that was not counted as major by the time of the
 * thread's next fault on a file was minor. Minor ones are sent by eight, and when the thread or the recording ends. One that
 * slept, for a page that another was reading, is seen to do so by the scheduler (sched.bpf.c), as long as the kernel has not
 * counted it: it is known until when it lasted at least.
 *
 *     [page_fault_user] ─▶ filemap_map_pages ─▶ filemap_fault ─▶ major-faults
 *     (address)            (pages around it      (not among       (it waited
 *                           were in the cache)    those)           for storage)
 *
 * Only when the layer was asked for by name, the tracepoints where all faults begin are used too: they alone
 * know the address of a minor fault, and cost each anonymous one a tenth of a microsecond. There the
 * address is kept, for its CPU, and no clock is read. Without them, and when a call reaches into a mapping by
 * itself, a minor fault has no address, and its file is the one that the inode was met as last.
 *
 * Shared memory is a file to the page cache; those faults are left out, as those on anonymous memory are.
 */
#include "bpf/fault_area.bpf.h"

#define TMPFS_MAGIC 0x01021994

/* Set by strata before load. */
const volatile bool fault_addresses = false; /* the tracepoints where faults begin are used */
const volatile bool fault_times =
	false; /* its page cache tells of no fault: the time is taken where all begin */

/* The fault that began last on each CPU. */
struct fault_begun {
	__u64 task;
	__u64 address;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct fault_begun);
} faults_begun SEC(".maps");

static __always_inline void fault_send(struct task_state *state, __u64 dur, __u8 flags, __u32 kind)
{
	struct fault_record *record;

	if (!prefix_has_file(state->fault_file))
		return;
	record = ring_reserve(sizeof(*record), LAYER_fault);
	if (!record)
		return;
	record_head(&record->head, PROBE_fault, FAULT_ONE, 0, flags);
	record->head.cpu = state->fault_cpu;
	record->head.pid = state->pid;
	record->head.tid = state->tid;
	record->head.ts = state->fault_ts;
	record->head.dur = dur;
	record->addr = state->fault_addr;
	record->pos = state->fault_pos;
	record->missed = state->fault_missed;
	if (!shared.count_missed)
		record->missed = RECORD_NULL;
	record->file = state->fault_file;
	record->flags = kind | (state->fault == TASK_FAULT_UNPLACED ? FAULT_NO_ADDRESS : 0);
	ring_submit(record);
}

/* Sends the faults that a thread has gathered. */
static __noinline int faults_send(struct task_state *state)
{
	struct faults_record *record;

	if (!state->brief_count)
		return 0;
	record = ring_reserve_rows(sizeof(*record), LAYER_fault, state->brief_count);
	if (record) {
		record_head(&record->head, PROBE_fault, FAULT_SEVERAL, 0, 0);
		record->head.pid = state->brief_pid;
		record->head.tid = state->brief_tid;
		record->count = state->brief_count;
		record->missed_known = shared.count_missed;
		__builtin_memcpy(record->faults, state->brief, sizeof(record->faults));
		ring_submit(record);
	}
	state->brief_count = 0;
	return 0;
}

static __always_inline void fault_keep(struct task_state *state)
{
	struct brief_fault *brief;

	if (!prefix_has_file(state->fault_file))
		return;
	if (state->brief_count && state->brief_tid != state->tid)
		faults_send(state);
	state->brief_pid = state->pid;
	state->brief_tid = state->tid;
	brief = &state->brief[state->brief_count & (BRIEF_FAULTS - 1)];
	brief->ts = state->fault_ts;
	brief->pos = state->fault_pos;
	brief->file = state->fault_file;
	brief->cpu = state->fault_cpu;
	if (++state->brief_count >= BRIEF_FAULTS)
		faults_send(state);
}

/* A fault turned out to be minor. Most such are alike, and come in crowds: a record for several is a fraction
 * of the cost. */
static __always_inline void fault_end_minor(struct task_state *state)
{
	if (state->fault && state->fault_back > state->fault_ts)
		fault_send(state, state->fault_back - state->fault_ts, 0, FAULT_MINOR);
	else if (state->fault == TASK_FAULT_UNPLACED && !state->fault_missed)
		fault_keep(state);
	else if (state->fault)
		fault_send(state, 0, RECORD_UNFINISHED, FAULT_MINOR);
	state->fault = TASK_NO_FAULT;
}

static __always_inline void fault_begin(struct task_struct *task, struct task_state *state)
{
	state->fault = TASK_FAULT_ON_FILE;
	state->fault_ts = bpf_ktime_get_boot_ns();
	state->fault_cpu = bpf_get_smp_processor_id();
	state->fault_pos = RECORD_NULL;
	state->fault_missed = 0;
	state->fault_ended = task_faults(task);
	state->fault_back = 0;
	state->fault_asleep = 0;
}

static __noinline int fault_note_time(struct task_struct *task, __u64 address)
{
	struct task_state *state = task_state_recorded(task, LAYER_fault);

	if (state) {
		state->fault_ts = bpf_ktime_get_boot_ns();
		state->fault_addr = address;
		state->fault_cpu = bpf_get_smp_processor_id();
	}
	return 0;
}

static __always_inline int fault_note(__u64 address)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fault_begun *begun;
	__u32 zero = 0;

	if (!task_may_be_recorded(task))
		return 0;
	if (fault_times)
		return fault_note_time(task, address);
	begun = bpf_map_lookup_elem(&faults_begun, &zero);
	if (!begun)
		return 0;
	begun->task = (__u64)task;
	begun->address = address;
	return 0;
}

SEC("?tp_btf/page_fault_user")
int BPF_PROG(fault_user, unsigned long address)
{
	return fault_note(address);
}

/* By the kernel, on behalf of a call that copies from or to the thread's memory. */
SEC("?tp_btf/page_fault_kernel")
int BPF_PROG(fault_kernel, unsigned long address)
{
	return fault_note(address);
}

/* ---- the page cache tells that it is a file's ---- */

/* Takes the address of the thread's fault, once; 0: it has none, or the thread has moved between CPUs. */
static __always_inline __u64 fault_take_address(struct task_struct *task)
{
	struct fault_begun *begun;
	__u32 zero = 0;

	begun = bpf_map_lookup_elem(&faults_begun, &zero);
	if (!begun || begun->task != (__u64)task)
		return 0;
	begun->task = 0;
	return begun->address;
}

/* A path to an inode that was met by none, as of a program's interpreter: the name it is cached under, seen
 * through the mount of the program itself if they are on one file system. */
static __noinline __u32 file_of_alias(struct task_struct *task, struct inode *inode)
{
	struct vfsmount *mount = BPF_CORE_READ(task, mm, exe_file, f_path.mnt);
	struct hlist_node *alias = BPF_CORE_READ(inode, i_dentry.first);
	struct dentry *dentry;

	if (!alias || !mount || BPF_CORE_READ(mount, mnt_sb) != BPF_CORE_READ(inode, i_sb))
		return 0;
	dentry = (void *)alias - bpf_core_field_offset(struct dentry, d_u.d_alias);
	if (BPF_CORE_READ(dentry, d_inode) != inode)
		return 0;
	return path_enter((__u64)dentry, (__u64)mount, (__u64)inode, BPF_CORE_READ(inode, i_ino),
			  BPF_CORE_READ(inode, i_generation));
}

/* The file as the inode alone tells it: mostly the one of the fault before. */
static __always_inline void fault_take_inode(struct task_struct *task, struct task_state *state,
					     struct inode *inode)
{
	__u64 number = inode->i_ino, address = 0;
	__u32 generation = inode->i_generation, epoch = shared.path_epoch;
	struct inode_entry known;

	if (state->fault_inode == (__u64)inode && state->fault_inode_number == number &&
	    state->fault_generation == generation && state->fault_epoch == epoch &&
	    state->fault_file && shared.moves_watched)
		return;
	bpf_probe_read_kernel(&address, sizeof(address), &inode); /* to the verifier a number */
	state->fault_file = inode_read(&known, address, number, generation)
				    ? file_of_entry(&known, (void *)address)
				    : 0;
	if (!state->fault_file)
		state->fault_file = file_of_alias(task, (void *)address);
	state->fault_inode = address;
	state->fault_inode_number = number;
	state->fault_generation = generation;
	state->fault_epoch = epoch;
}

/* Whether a look for pages is part of the fault that the thread is in. One that looked for a single page looks
 * for those around it again when it is tried once more; one that looked for those around it and did not
 * find its own looks for that alone. A second look for pages around is another fault. */
static __always_inline bool fault_goes_on(struct task_state *state, __u64 inode, __u64 first,
					  __u64 last)
{
	bool single = state->fault_first == state->fault_last;

	if (!state->fault || state->fault_inode != inode || (!single && first != last))
		return false;
	return first <= state->fault_last && last >= state->fault_first;
}

static __always_inline bool fault_within(struct task_state *state, __u64 first, __u64 last)
{
	__u64 page = (__u64)state->fault_pos >> 12;

	return state->fault_pos != RECORD_NULL && page >= first && page <= last;
}

/* Memory that processes share is a file to the kernel, of a file system in memory and without a name: made so by mmap
 * and memfd_create, or unlinked once all have opened it. */
static __always_inline bool fault_on_memory(struct inode *inode)
{
	return !inode->i_nlink && inode->i_sb->s_magic == TMPFS_MAGIC;
}

/* Pages first to last of a file are asked for, on behalf of the fault that the thread is in. */
static __noinline int fault_on_file(struct task_struct *task, struct address_space *mapping,
				    __u64 first, __u64 last)
{
	struct inode *inode = pointer_in(address_space, mapping, host);
	struct task_state *state;
	__u64 address;

	if (!inode || fault_on_memory(inode))
		return 0;
	state = task_state_recorded(task, LAYER_fault);
	if (!state)
		return 0;
	address = fault_addresses ? fault_take_address(task) : 0;
	if (!address && fault_goes_on(state, (__u64)inode, first, last)) {
		if (first == last) {
			state->fault_first = first;
			state->fault_last = last;
			if (state->fault == TASK_FAULT_UNPLACED)
				state->fault_pos = first << 12;
		}
		return 0;
	}
	fault_end_minor(state);
	fault_begin(task, state);
	state->fault_first = first;
	state->fault_last = last;
	state->fault_addr = address;
	if (address) {
		state->fault_inode = (__u64)inode;
		state->fault_inode_number = 0; /* its file is the mapping's, not the inode's */
		state->fault_file = 0;
		if (fault_locate(task, state) == (__u64)inode && fault_within(state, first, last))
			return 0;
	}
	state->fault = TASK_FAULT_UNPLACED;
	state->fault_pos = first << 12;
	fault_take_inode(task, state, inode);
	return 0;
}

SEC("?tp_btf/mm_filemap_map_pages")
int BPF_PROG(fault_map_pages, struct address_space *mapping, unsigned long first,
	     unsigned long last)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task_may_be_recorded(task) ? fault_on_file(task, mapping, first, last) : 0;
}

SEC("?tp_btf/mm_filemap_fault")
int BPF_PROG(fault_filemap, struct address_space *mapping, unsigned long page)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task_may_be_recorded(task) ? fault_on_file(task, mapping, page, page) : 0;
}

/* ---- the end ---- */

/* One that the page cache did not tell of, as of swapped memory: its beginning is known where the time is
 * taken of all. */
static __always_inline void fault_end_unseen(struct task_struct *task, struct task_state *state,
					     __u64 address)
{
	bool timed = fault_times && state->fault_addr >> 12 == address >> 12;
	__u64 begun = state->fault_ts, end;

	fault_begin(task, state);
	end = state->fault_ts;
	state->fault_ts = timed ? begun : end;
	state->fault_addr = address;
	state->fault_missed = RECORD_NULL;
	state->fault_inode = 0;
	state->fault_file = 0;
	fault_locate(task, state);
	fault_send(state, end - begun, timed ? 0 : RECORD_UNFINISHED, FAULT_MAJOR);
}

/* Whether the fault that ends at an address is the one that the page cache told of. If so, its place is known
 * now. */
static __always_inline bool fault_is(struct task_struct *task, struct task_state *state,
				     __u64 address)
{
	__s64 pos = state->fault_pos;
	__u32 file = state->fault_file;

	if (state->fault == TASK_FAULT_ON_FILE)
		return state->fault_addr >> 12 == address >> 12;
	if (state->fault != TASK_FAULT_UNPLACED)
		return false;
	state->fault_addr = address;
	if (fault_locate(task, state) != state->fault_inode ||
	    !fault_within(state, state->fault_first, state->fault_last)) {
		state->fault_pos = pos;
		state->fault_file = file;
		return false;
	}
	state->fault = TASK_FAULT_ON_FILE;
	return true;
}

SEC("perf_event")
int fault_major(struct perf_event_context *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 address = context->addr;
	struct task_state *state;

	if (!task_may_be_recorded(task))
		return 0;
	state = task_state_recorded(task, LAYER_fault);
	if (!state)
		return 0;
	if (fault_is(task, state, address)) {
		fault_send(state, bpf_ktime_get_boot_ns() - state->fault_ts, 0, FAULT_MAJOR);
	} else {
		fault_end_minor(state);
		fault_end_unseen(task, state, address);
	}
	state->fault = TASK_NO_FAULT;
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(fault_process_exit, struct task_struct *task)
{
	struct task_state *state = task_find(task);

	if (state && shared.recording) {
		fault_end_minor(state);
		faults_send(state);
	}
	return 0;
}

/* Before a recording: the files that a target has mapped are met by the names under which it did. */
SEC("?iter/task_vma")
int fault_mapped(struct bpf_iter__task_vma *context)
{
	struct vm_area_struct *area = context->vma;
	struct file *file = area ? pointer_in(vm_area_struct, area, vm_file) : NULL;

	if (file)
		path_of_file(file);
	return 0;
}

/* At the end of a recording: faults that were not sent, and those of which it is not known whether they are over. */
SEC("iter/task")
int fault_unsent(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;

	if (!task)
		return 0;
	state = task_find(task);
	if (!state)
		return 0;
	faults_send(state);
	if (state->fault)
		fault_send(state, 0, RECORD_UNFINISHED, 0);
	return 0;
}
