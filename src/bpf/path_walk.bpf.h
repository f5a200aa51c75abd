/* From a struct path to its id: the walk up to the root, and what is known of names. See path.bpf.h. */
#ifndef STRATA_BPF_PATH_WALK_BPF_H
#define STRATA_BPF_PATH_WALK_BPF_H

#include "bpf/path.bpf.h"
#include "bpf/typed.bpf.h"

#define ALIASES_KNOWN  16384
#define PATH_DEPTH     2100 /* components of the longest path, and mounts on the way */
#define PATH_DEPTH_OLD 64   /* where the kernel has no bpf_loop */
#define PATH_STARTS    2048 /* a path of 4096 bytes has no more names */

struct alias_key {
	__u64 dentry;
	__u64 mount;
};

struct alias_entry {
	__u64 inode_number;
	__u64 chain;
	__u32 generation;
	__u32 epoch;
	__u32 id;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ALIASES_KNOWN);
	__type(key, struct alias_key);
	__type(value, struct alias_entry);
} aliases __weak SEC(".maps");

struct path_walk {
	struct dentry *dentry;
	struct vfsmount *mount;
	struct dentry *root; /* of the mount */
	struct mount *above;
	__u64 chain;
	__u32 epoch; /* when it began */
	__u32 size;  /* of the names so far */
	__u16 flags; /* enum file_flag */
	__u8 copy;   /* gather names, not only the chain */
	__u8 done;
	struct inode_entry known; /* these three are here, as the stack is small */
	struct alias_entry alias;
	struct file_view view;
	__u32 depth; /* how many names; where each begins, and they in the order in which they are read */
	__u32 length;
	__u16 starts[PATH_STARTS];
	char path[2 * PATH_BYTES];
	struct file_record record;
	char names[PATH_BYTES + NAME_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct path_walk);
} path_walks __weak SEC(".maps");

static __always_inline void path_add_name(struct path_walk *walk, const unsigned char *name)
{
	long size;

	if (walk->size >= PATH_BYTES) {
		walk->flags |= FILE_CUT;
		walk->done = 1;
		return;
	}
	if (prefix_size)
		walk->starts[walk->depth++ & (PATH_STARTS - 1)] = walk->size;
	size = bpf_probe_read_kernel_str(&walk->names[walk->size & (PATH_BYTES - 1)], NAME_BYTES,
					 name);
	if (size > 0)
		walk->size += size;
}

static __always_inline void walk_enter_mount(struct path_walk *walk)
{
	memory_order();
	walk->root = typed_read(struct vfsmount, walk->mount, mnt_root);
}

/* From the root of a mount to where it is mounted; false: nowhere. */
static __always_inline bool walk_leave_mount(struct path_walk *walk)
{
	struct mount *mount = (void *)walk->mount - bpf_core_field_offset(struct mount, mnt);

	walk->above = typed_read(struct mount, mount, mnt_parent);
	walk->dentry = typed_read(struct mount, mount, mnt_mountpoint);
	memory_order();
	if (!walk->above || walk->above == mount)
		return false;
	walk->mount = (void *)walk->above + bpf_core_field_offset(struct mount, mnt);
	walk_enter_mount(walk);
	return true;
}

/* One step from a dentry towards the root of its mount namespace. */
static long path_step(__u32 index, void *context)
{
	struct path_walk *walk = *(struct path_walk **)context;
	struct dentry *dentry = walk->dentry;

	if (dentry == walk->root) {
		walk->done = !walk_leave_mount(walk);
		return walk->done ? 1 : 0;
	}
	walk->dentry = typed_read(struct dentry, dentry, d_parent);
	memory_order();
	walk->chain = (walk->chain ^ typed_read(struct dentry, dentry, d_name.hash_len) ^
		       (__u64)walk->dentry) *
		      0x9e3779b97f4a7c15ull;
	if (walk->copy)
		path_add_name(walk, typed_read(struct dentry, dentry, d_name.name));
	if (walk->dentry == dentry) {
		walk->flags |= FILE_PSEUDO;
		walk->done = 1;
	}
	return walk->done ? 1 : 0;
}

static __always_inline void path_walk_up(struct path_walk *walk, __u64 dentry, __u64 mount,
					 bool copy)
{
	walk->dentry = (void *)dentry;
	walk->mount = (void *)mount;
	walk_enter_mount(walk);
	walk->chain = 0;
	walk->size = 0;
	walk->depth = 0;
	walk->flags = 0;
	walk->copy = copy;
	walk->done = 0;
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop)) {
		bpf_loop(PATH_DEPTH, path_step, &walk, 0);
	} else {
		for (int i = 0; i < PATH_DEPTH_OLD; i++)
			if (path_step(i, &walk))
				break;
	}
	if (!walk->done)
		walk->flags |= FILE_CUT;
}

/* Puts the next name behind those that are above it. */
static long path_join_step(__u32 index, void *context)
{
	struct path_walk *walk = *(struct path_walk **)context;
	__u32 length = walk->length;
	long size;

	if (!walk->depth || length >= PATH_BYTES - NAME_BYTES - 1)
		return 1;
	walk->depth--;
	walk->path[length & (PATH_BYTES - 1)] = '/';
	size = bpf_probe_read_kernel_str(
		&walk->path[(length & (PATH_BYTES - 1)) + 1], NAME_BYTES,
		&walk->names[walk->starts[walk->depth & (PATH_STARTS - 1)] & (PATH_BYTES - 1)]);
	if (size > 0)
		walk->length = length + size;
	return 0;
}

/* Decides of a new file id whether --path asks for it. Files on no mounted tree have no path. */
static __always_inline void path_match(struct path_walk *walk, __u32 id)
{
	if (!prefix_size || walk->flags & FILE_PSEUDO)
		return;
	walk->length = 0;
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop)) {
		bpf_loop(PATH_STARTS, path_join_step, &walk, 0);
	} else {
		for (int i = 0; i < PATH_DEPTH_OLD; i++)
			if (path_join_step(i, &walk))
				break;
	}
	prefix_note(id, walk->path, &walk->length);
}

/* Sends the names that the walk gathered. 0, or an error that is counted. */
static __always_inline long path_send(struct path_walk *walk, struct inode *inode, __u32 id)
{
	struct file_record *record = &walk->record;
	struct super_block *sb = typed_read(struct inode, inode, i_sb);
	struct file_system_type *type = typed_read(struct super_block, sb, s_type);
	__u32 size = walk->size;

	record->head.type = RECORD_FILE;
	record->id = id;
	record->dev = typed_read(struct super_block, sb, s_dev);
	record->magic = typed_read(struct super_block, sb, s_magic);
	record->mode = typed_read(struct inode, inode, i_mode);
	record->flags = walk->flags;
	if (size > PATH_BYTES + NAME_BYTES - 1)
		size = PATH_BYTES + NAME_BYTES - 1;
	record->names_size = size;
	bpf_probe_read_kernel_str(record->fs, sizeof(record->fs),
				  typed_read(struct file_system_type, type, name));
	if (walk->flags & FILE_CUT)
		loss_count(LAYER_fs, LOSS_STRING);
	return ring_output(record, sizeof(*record) + size, LAYER_fs, 0);
}

/* Whether a path is what it was, by its chain. */
static __always_inline bool path_is_same(struct path_walk *walk, __u64 dentry, __u64 mount,
					 __u64 chain)
{
	path_walk_up(walk, dentry, mount, false);
	return walk->chain == chain;
}

/* The id that a file has by a name other than the one it was met by last; 0: none. */
static __always_inline __u32 alias_find(struct path_walk *walk, struct alias_key *key, __u64 number,
					__u32 generation)
{
	struct alias_entry *entry = bpf_map_lookup_elem(&aliases, key);

	if (!entry || entry->inode_number != number || entry->generation != generation)
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
	entry->chain = walk->chain;
	entry->epoch = walk->epoch;
	entry->file = id;
	inode_unlock(entry);
}

/* Global, as are other functions without BTF pointers: the verifier looks at them once, not at every call. */
__noinline __u32 path_enter(__u64 dentry, __u64 mount, __u64 inode, __u64 number, __u32 generation)
{
	struct alias_key name = { dentry, mount };
	__u32 zero = 0, id = 0;
	struct inode_entry *known;
	struct path_walk *walk;

	walk = bpf_map_lookup_elem(&path_walks, &zero);
	if (!walk)
		return 0;
	walk->epoch = path_epoch;
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
		path_walk_up(walk, dentry, mount, true);
		id = __sync_fetch_and_add(&last_file, 1) + 1;
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
	__u32 file = entry ? inode_file(entry, view->dentry, view->mount, path_epoch) : 0;

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
	struct path_walk *walk;
	struct file_view *view;
	struct dentry *dentry;
	struct inode *inode;
	__u32 zero = 0;

	walk = bpf_map_lookup_elem(&path_walks, &zero);
	if (!walk)
		return 0;
	view = &walk->view;
	view->mount = (__u64)task->fs->pwd.mnt;
	dentry = task->fs->pwd.dentry;
	inode = dentry->d_inode;
	view->dentry = (__u64)dentry;
	view->inode = (__u64)inode;
	view->inode_number = inode->i_ino;
	view->generation = inode->i_generation;
	memory_order();
	return path_find(view); /* in place: the stack of all calls together is small */
}

#endif
