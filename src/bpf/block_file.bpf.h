/* Which file a block request moves bytes of: through the pages of cached I/O, through the transfer or the
 * call in flight for direct I/O. 0 where none of them tells.
 */
#ifndef STRATA_BPF_BLOCK_FILE_BPF_H
#define STRATA_BPF_BLOCK_FILE_BPF_H

#include "bpf/path.bpf.h"

#include "bpf/compat.bpf.h"
#include "schema/syscalls.h"

/* The inode whose page cache a bio moves, 0 for direct I/O to memory of no file. */
static __always_inline struct inode *bio_inode(struct bio *bio)
{
	struct bio_vec *vector = pointer_in(bio, bio, bi_io_vec);
	struct page *page = vector ? vector->bv_page : NULL;
	struct address_space *mapping = page ? page_mapping(page) : NULL;

	return mapping ? BPF_CORE_READ(mapping, host) : NULL;
}

/* Whether pages of an inode that a request moves are the memory that direct I/O goes to: those of shared
 * memory, on no disk, can be nothing else. */
static __always_inline bool inode_is_memory(struct inode *inode)
{
	return !inode || ((BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFREG &&
			  !(BPF_CORE_READ(inode, i_sb, s_type, fs_flags) & FS_NEEDS_DISK));
}

/* The id of the file behind an inode that a path led to before. */
static __always_inline __u32 file_of_entry(struct inode_entry *entry, struct inode *inode)
{
	struct vfsmount *mount = (void *)entry->mount;
	struct dentry *dentry = (void *)entry->dentry;

	if (!entry->file || (shared.moves_watched && entry->epoch == shared.path_epoch))
		return entry->file;
	/* The path may have changed. Where it leads here no more, the last name stays. */
	if (BPF_CORE_READ(dentry, d_inode) != inode ||
	    BPF_CORE_READ(mount, mnt_sb) != BPF_CORE_READ(inode, i_sb))
		return entry->file;
	return path_enter(entry->dentry, entry->mount, (__u64)inode, entry->number,
			  entry->generation);
}

/* The id of the file behind a descriptor of the current thread, if that is the inode; 0: it is not. */
static __always_inline __u32 file_of_descriptor(struct task_struct *task, __u32 fd,
						struct inode *inode)
{
	struct file *file = path_descriptor(task, fd);
	struct file_view view;

	if (!file)
		return 0;
	file_read(&view, file);
	return view.inode == (__u64)inode ? path_lookup(&view) : 0;
}

/* Whether the current thread's registers hold the arguments of a call. */
static __always_inline bool task_has_arguments(struct task_struct *task)
{
	return !(task->flags & PF_KTHREAD) && !(task->thread_info.status & TS_COMPAT);
}

/* The id of a file that the call in flight has a descriptor of, whichever call it is: its first argument,
 * or its second, as of sendfile. */
static __always_inline __u32 file_of_call(struct task_struct *task, struct inode *inode)
{
	struct pt_regs *regs;
	__u32 id;

	if (!task_has_arguments(task))
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	id = file_of_descriptor(task, regs->di, inode);
	return id ? id : file_of_descriptor(task, regs->si, inode);
}

static __always_inline __u32 file_of_cached(struct task_struct *task, struct inode *inode,
					    struct inode_entry *entry)
{
	__u32 id = entry ? file_of_entry(entry, inode) : 0;

	return id ? id : file_of_call(task, inode);
}

/* The file of direct I/O as the transfer itself knows it, whoever submits it: most file systems let one
 * piece of the kernel do it, which hangs its own state on the bio. Other owners of a bio hang other things
 * there, so the answer counts only if it is a file open for direct I/O on the very device. */
static __always_inline struct file *file_of_transfer(struct bio *bio)
{
	struct iomap_dio *transfer = BPF_CORE_READ(bio, bi_private);
	struct file *file = NULL;
	struct block_device *device;

	if (!bpf_core_type_exists(struct iomap_dio) || !transfer)
		return NULL;
	file = BPF_CORE_READ(transfer, iocb, ki_filp);
	device = BPF_CORE_READ(file, f_inode, i_sb, s_bdev);
	if (!device || device != BPF_CORE_READ(bio, bi_bdev))
		return NULL;
	return BPF_CORE_READ(file, f_flags) & O_DIRECT ? file : NULL;
}

static __always_inline __u32 file_of_direct(struct task_struct *task, struct bio *bio)
{
	struct file *file = file_of_transfer(bio);
	struct pt_regs *regs;
	struct file_view view;

	if (!file) {
		if (!task_has_arguments(task))
			return 0;
		regs = (struct pt_regs *)bpf_task_pt_regs(task);
		file = path_descriptor(task, regs->di);
		if (!file || !(BPF_CORE_READ(file, f_flags) & O_DIRECT))
			return 0;
	}
	file_read(&view, file);
	return path_lookup(&view);
}

/* The file of the data call that a recorded thread is in, which costs least to ask: the call holds it open. */
static __always_inline __u32 file_of_recorded(struct task_state *task, struct inode *inode)
{
	struct file *file;

	if (!task || !task->syscall || !task->file_pointer)
		return 0;
	if (inode && (__u64)inode == task->last_inode && task->last_file == task->file)
		return task->file;
	if (!inode_is_memory(inode))
		return 0;
	file = (void *)task->file_pointer;
	return BPF_CORE_READ(file, f_flags) & O_DIRECT ? task->file : 0;
}

#endif
