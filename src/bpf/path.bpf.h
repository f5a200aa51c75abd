/* Which file: from a struct path to a small number, with the names sent once.
 *
 *     inode ──inode.bpf.h──▶ { id, dentry, mount, name, generation, epoch, chain }   as it was met last
 *     (dentry, mount) ──aliases map──▶ { id, inode, name, generation, epoch, chain }  its other names, if any
 *
 * The kernel uses the memory of a dentry again for another name, soon after the first is removed, and maybe for the same
 * inode: a file is a known one only if its dentry and mount are the same, its name and directory are (name, a hash of
 * both) and its epoch is current. The epoch moves when any process renames, mounts or removes a directory: then the
 * chain, a hash over the names and parents from the file up to the root, tells whether this path changed. A changed
 * path, or a new name, gets a new id and a record with the names. What is known may be forgotten for something new; a
 * file met again after that gets a second id, which readers recognise by (device, inode, generation, path).
 */
#ifndef STRATA_BPF_PATH_BPF_H
#define STRATA_BPF_PATH_BPF_H

#include "bpf/descriptor.bpf.h"
#include "bpf/path_walk.bpf.h"
#include "bpf/task.bpf.h"

/* The id that a file has by a name other than the one it was met by last; 0: none. */
static __always_inline __u32 alias_find(struct path_walk *walk, struct alias_key *key, __u64 number,
					__u32 generation)
{
	struct alias_entry *entry = bpf_map_lookup_elem(&aliases, key);

	if (!entry || entry->inode_number != number || entry->generation != generation ||
	    entry->name != walk->name)
		return 0;
	if (entry->epoch != walk->epoch) {
		if (!path_is_same(walk, key->dentry, key->mount, entry->chain))
			return 0;
		entry->epoch = walk->epoch;
	}
	return entry->id;
}

/* Keeps the name that a file was met by last, as it is met by a new one. */
static __always_inline void alias_keep(struct path_walk *walk, struct inode_entry *entry)
{
	struct alias_key key = { entry->dentry, entry->mount };
	struct alias_entry *alias = &walk->alias;

	alias->inode_number = entry->number;
	alias->name = entry->name;
	alias->chain = entry->chain;
	alias->generation = entry->generation;
	alias->epoch = entry->epoch;
	alias->id = entry->file;
	alias->pad = 0;
	bpf_map_update_elem(&aliases, &key, alias, BPF_ANY);
}

/* Keeps that an inode was met as a file by the name that was just walked. */
static __always_inline void path_keep(struct path_walk *walk, struct alias_key *name, __u64 inode,
				      __u32 id)
{
	struct inode_entry *entry = inode_lock(inode, walk->record.inode, walk->record.generation);

	if (!entry)
		return;
	entry->dentry = name->dentry;
	entry->mount = name->mount;
	entry->name = walk->name;
	entry->chain = walk_chain(walk);
	entry->epoch = walk->epoch;
	entry->file = id;
	inode_unlock(entry);
}

__noinline __u32 path_enter(__u64 dentry, __u64 mount, __u64 inode, __u64 number, __u32 generation)
{
	struct alias_key name = { dentry, mount };
	__u32 zero = 0, id = 0;
	struct inode_entry *known;
	struct path_walk *walk;

	walk = bpf_map_lookup_elem(&path_walks, &zero);
	if (!walk)
		return 0;
	walk->epoch = shared.path_epoch;
	walk->name = path_name(typed_read(dentry, dentry, d_name.hash_len));
	walk->record.inode = number;
	walk->record.generation = generation;
	known = &walk->known;
	if (inode_read(known, inode, number, generation) && known->file) {
		if (known->dentry == dentry && known->mount == mount) {
			if (path_is_same(walk, dentry, mount, known->chain))
				id = known->file;
		} else {
			id = alias_find(walk, &name, number, generation);
			if (id)
				return id;
			alias_keep(walk, known);
		}
	}
	if (!id) {
		id = __sync_fetch_and_add(&shared.last_file, 1) + 1;
		path_send_place(walk, dentry, mount, id);
		path_walk_up(walk, dentry, mount, true);
		if (path_send(walk, (void *)inode, id))
			return 0;
		path_match(walk, id);
	}
	path_keep(walk, &name, inode, id);
	return id;
}

static __always_inline __u32 path_find(struct file_view *view)
{
	struct inode_entry *entry = inode_find(view->inode, view->inode_number, view->generation);
	__u32 file =
		entry ? inode_file(entry, view->dentry, view->mount, view->name, shared.path_epoch)
		      : 0;

	return file ? file
		    : path_enter(view->dentry, view->mount, view->inode, view->inode_number,
				 view->generation);
}

__noinline __u32 path_lookup(struct file_view *view)
{
	return view ? path_find(view) : 0;
}

__noinline __u32 path_of_cwd(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fs_struct *directory;
	struct path_walk *walk;
	struct file_view *view;
	struct dentry *dentry;
	struct inode *inode;
	__u32 zero = 0;

	walk = bpf_map_lookup_elem(&path_walks, &zero);
	if (!walk)
		return 0;
	view = &walk->view;
	directory = pointer_in(task_struct, task, fs);
	view->mount = (__u64)directory->pwd.mnt;
	dentry = directory->pwd.dentry;
	inode = dentry->d_inode;
	view->dentry = (__u64)dentry;
	view->inode = (__u64)inode;
	view->inode_number = inode->i_ino;
	view->generation = inode->i_generation;
	view->name = path_name(typed_read(dentry, dentry, d_name.hash_len));
	memory_order();
	return path_find(view); /* in place: the stack of all calls together is small */
}

static __always_inline void file_read_typed(struct file_view *view, struct file *file)
{
	struct dentry *dentry;
	struct inode *inode;

	file = typed(file, file);
	inode = file->f_inode;
	dentry = file->f_path.dentry;
	view->name = path_name(dentry->d_name.hash_len);
	view->dentry = (__u64)dentry;
	view->mount = (__u64)file->f_path.mnt;
	view->inode = (__u64)inode;
	view->inode_number = inode->i_ino;
	view->generation = inode->i_generation;
	view->mode = file->f_mode;
	view->flags = file->f_flags;
	view->pos = file->f_pos;
}

static __always_inline void file_read(struct file_view *view, struct file *file)
{
	struct dentry *dentry;
	struct inode *inode;

	view->pointer = (__u64)file;
	if (config.typed_reads) {
		file_read_typed(view, file);
		return;
	}
	inode = BPF_CORE_READ(file, f_inode);
	dentry = BPF_CORE_READ(file, f_path.dentry);
	view->name = path_name(BPF_CORE_READ(dentry, d_name.hash_len));
	view->dentry = (__u64)dentry;
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
	    state->last_generation == view->generation && state->last_name == view->name &&
	    state->last_epoch == shared.path_epoch)
		return state->last_file;
	id = path_lookup(view);
	if (!id)
		return 0;
	state->last_dentry = view->dentry;
	state->last_mount = view->mount;
	state->last_inode = view->inode;
	state->last_inode_number = view->inode_number;
	state->last_generation = view->generation;
	state->last_name = view->name;
	state->last_epoch = shared.path_epoch;
	state->last_file = id;
	return id;
}

static __always_inline __u32 path_of_file(struct file *file)
{
	struct file_view view;

	file_read(&view, file);
	return path_lookup(&view);
}

static __always_inline __u32 path_of_descriptor(struct task_struct *task, struct task_state *state,
						__u32 fd)
{
	struct file *file = path_descriptor(task, fd);
	struct file_view view;

	if (!file)
		return 0;
	file_read(&view, file);
	return path_of_view(state, &view);
}

#endif
