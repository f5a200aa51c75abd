/* iolat and sclat: how long system calls take, by their numbers, and the busiest files. A call that is under way when the programs
 * are attached is not counted, nor one that does not return.
 */
#include "bpf/live.bpf.h"

/* Set by strata before load. */
const volatile __u16 live_calls[LIVE_CALL_NUMBERS] = {}; /* LIVE_CALL_* */
const volatile bool live_by_file = false;
const volatile bool live_moving_only = false; /* iolat without sclat */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct live_file_key);
	__type(value, struct live_file);
} live_files SEC(".maps");

static __always_inline bool is_wanted(__u64 number)
{
	return number < LIVE_CALL_NUMBERS && live_calls[number];
}

SEC("tp_btf/sys_enter")
int BPF_PROG(live_call_enter, struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct live_thread *thread;

	if (!is_wanted(number) || task->thread_info.status & TS_COMPAT || !live_watched(task))
		return 0;
	thread = live_thread(task->pid);
	if (!thread)
		return 0;
	if (thread->since && thread->tid != (__u32)task->pid)
		live_lose();
	thread->tid = task->pid;
	thread->subject = live_calls[number];
	thread->since = bpf_ktime_get_ns();
	return 0;
}

/* The inode behind a descriptor, if it is a regular file. */
static __always_inline struct dentry *regular_file(struct task_struct *task, __u32 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file *file = NULL;

	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFREG)
		return NULL;
	return BPF_CORE_READ(file, f_path.dentry);
}

static __always_inline void count_file(struct task_struct *task, __u32 fd, __u64 ns, long returned,
				       bool writes)
{
	struct dentry *dentry = regular_file(task, fd);
	struct live_file_key key = {};
	struct live_file *file;

	if (!dentry)
		return;
	key.inode = BPF_CORE_READ(dentry, d_inode, i_ino);
	key.dev = BPF_CORE_READ(dentry, d_inode, i_sb, s_dev);
	file = bpf_map_lookup_elem(&live_files, &key);
	if (!file) {
		struct live_file fresh = {};

		bpf_probe_read_kernel_str(fresh.name, sizeof(fresh.name),
					  BPF_CORE_READ(dentry, d_name.name));
		bpf_map_update_elem(&live_files, &key, &fresh, BPF_NOEXIST);
		file = bpf_map_lookup_elem(&live_files, &key);
		if (!file)
			return;
	}
	file->pid = task->tgid;
	__sync_fetch_and_add(writes ? &file->writes : &file->reads, 1);
	__sync_fetch_and_add(&file->ns, ns);
	if (returned > 0)
		__sync_fetch_and_add(writes ? &file->write_bytes : &file->read_bytes, returned);
}

/* Most calls are of no interest to iolat, and their numbers tell it at once. Calls that change theirs before they end, as
 * rt_sigreturn does, move no data.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(live_call_exit, struct pt_regs *regs, long returned)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct live_thread *thread;
	struct live_hist *hist;
	__u32 subject;
	__u64 ns;

	if (live_moving_only && !is_wanted(regs->orig_ax))
		return 0;
	thread = live_thread(task->pid);
	if (!thread || thread->tid != (__u32)task->pid || !thread->since)
		return 0;
	ns = bpf_ktime_get_ns() - thread->since;
	subject = thread->subject;
	thread->since = 0;
	hist = live_hist_here(subject & LIVE_CALL_SUBJECT);
	if (!hist)
		return 0;
	live_add(hist, ns);
	if (!(subject & LIVE_CALL_MOVES))
		return 0;
	if (returned > 0)
		hist->bytes += returned;
	if (live_by_file)
		count_file(task, regs->di, ns, returned, subject & LIVE_CALL_WRITES);
	return 0;
}
