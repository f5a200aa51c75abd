/* Which file: from a struct path to a small number, with the names sent once.
 *
 *     inode ──inode.bpf.h──▶ { id, dentry, mount, generation, epoch, chain }    the name it was met by last
 *     (dentry, mount) ──aliases map──▶ { id, inode, generation, epoch, chain }  its other names, if it has any
 *
 * A known file whose dentry and mount are the same and whose epoch is current has the same path as before.
 * The epoch moves when any process renames or mounts: then the chain, a hash over the names and parents
 * from the file up to the root, tells whether this path changed. A changed path, or a new name, gets
 * a new id and a record with the names. What is known may be forgotten for something new; a file met again
 * after that gets a second id, which readers recognise by (device, inode, generation, path).
 */
#ifndef STRATA_BPF_PATH_BPF_H
#define STRATA_BPF_PATH_BPF_H

#include "bpf/inode.bpf.h"
#include "bpf/prefix.bpf.h"
#include "bpf/task.bpf.h"

#define NAME_BYTES 256 /* of the longest name, with its NUL */

/* What is read of an open file. */
struct file_view {
	__u64 pointer;
	__u64 dentry;
	__u64 mount;
	__u64 inode;
	__u64 inode_number;
	__s64 pos;
	__u32 generation;
	__u32 mode;
	__u32 flags;
	__u32 pad;
};

/* These are path_walk.bpf.h's, in one of the objects. */

/* Gives a path that is new, or that changed, an id, and tells strata. 0 when that fails. */
__u32 path_enter(__u64 dentry, __u64 mount, __u64 inode, __u64 number, __u32 generation);

/* The id of a file that is not the one met last; 0 when it could not be told to strata. */
__u32 path_lookup(struct file_view *view);

/* The id of the directory that a relative path of the current thread starts from. */
__u32 path_of_cwd(void);

/* Whether the epoch moves: the calls that may change a path are watched by those who record calls on files. */
static __always_inline bool path_moves_are_seen(void)
{
	return layer_on[LAYER_io] || layer_on[LAYER_fs] || layer_on[LAYER_mem];
}

/* Reads it field by field, which works on every kernel. */
static __always_inline void file_read_fields(struct file_view *view, struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	view->pointer = (__u64)file;
	view->dentry = (__u64)BPF_CORE_READ(file, f_path.dentry);
	view->mount = (__u64)BPF_CORE_READ(file, f_path.mnt);
	view->inode = (__u64)inode;
	view->inode_number = BPF_CORE_READ(inode, i_ino);
	view->generation = BPF_CORE_READ(inode, i_generation);
	view->mode = BPF_CORE_READ(file, f_mode);
	view->flags = BPF_CORE_READ(file, f_flags);
	view->pos = BPF_CORE_READ(file, f_pos);
}

/* The id of a file, which a thread often asks for again. */
static __always_inline __u32 path_of_view(struct task_state *state, struct file_view *view)
{
	__u32 id;

	if (state->last_dentry == view->dentry && state->last_mount == view->mount &&
	    state->last_inode == view->inode && state->last_inode_number == view->inode_number &&
	    state->last_generation == view->generation && state->last_epoch == path_epoch)
		return state->last_file;
	id = path_lookup(view);
	if (!id)
		return 0;
	state->last_dentry = view->dentry;
	state->last_mount = view->mount;
	state->last_inode = view->inode;
	state->last_inode_number = view->inode_number;
	state->last_generation = view->generation;
	state->last_epoch = path_epoch;
	state->last_file = id;
	return id;
}

/* The struct file behind a descriptor of a task, or NULL. */
static __always_inline struct file *path_descriptor(struct task_struct *task, __u32 fd)
{
	struct files_struct *open_files = task->files;
	struct file *file = NULL;
	struct fdtable *table;

	if (!open_files)
		return NULL;
	table = open_files->fdt;
	if (fd >= table->max_fds)
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
	return file;
}

static __always_inline __u32 path_of_file(struct file *file)
{
	struct file_view view;

	file_read_fields(&view, file);
	return path_lookup(&view);
}

#endif
