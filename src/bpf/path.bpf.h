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

#define ALIASES_KNOWN  16384
#define PATH_DEPTH     2100 /* components of the longest path, and mounts on the way */
#define PATH_DEPTH_OLD 64   /* where the kernel has no bpf_loop */
#define PATH_STARTS    2048 /* a path of 4096 bytes has no more names */
#define NAME_BYTES     256

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

struct path_walk {
	struct dentry *dentry;
	struct vfsmount *mount;
	struct dentry *root; /* of the mount */
	__u64 chain;
	__u32 epoch; /* when it began */
	__u32 size;  /* of the names so far */
	__u16 flags; /* enum file_flag */
	__u8 copy;   /* gather names, not only the chain */
	__u8 done;
	struct inode_entry known; /* these four are here, as the stack is small */
	struct alias_entry alias;
	struct file_view view;
	struct path cwd;
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

/* Whether the epoch moves: the calls that may change a path are watched by those who record calls on files. */
static __always_inline bool path_moves_are_seen(void)
{
	return layer_on[LAYER_io] || layer_on[LAYER_fs] || layer_on[LAYER_mem];
}

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

/* A dentry's parent and its name, which lie side by side. */
struct dentry_link {
	struct dentry *parent;
	struct qstr name;
};

static __always_inline void dentry_read(struct dentry_link *link, struct dentry *dentry)
{
	__u32 parent = bpf_core_field_offset(struct dentry, d_parent);

	if (bpf_core_field_offset(struct dentry, d_name) == parent + sizeof(link->parent)) {
		bpf_probe_read_kernel(link, sizeof(*link), (void *)dentry + parent);
		return;
	}
	link->parent = BPF_CORE_READ(dentry, d_parent);
	BPF_CORE_READ_INTO(&link->name, dentry, d_name);
}

static __always_inline void walk_enter_mount(struct path_walk *walk, struct vfsmount *mount)
{
	walk->mount = mount;
	walk->root = BPF_CORE_READ(mount, mnt_root);
}

/* One step from a dentry towards the root of its mount namespace. */
static long path_step(__u32 index, void *context)
{
	struct path_walk *walk = *(struct path_walk **)context;
	struct dentry *dentry = walk->dentry;
	struct vfsmount *vfsmount = walk->mount;
	struct dentry_link link;

	if (dentry == walk->root) {
		struct mount *mount = (void *)vfsmount - bpf_core_field_offset(struct mount, mnt);
		struct mount *above = BPF_CORE_READ(mount, mnt_parent);

		if (!above || above == mount) {
			walk->done = 1;
			return 1;
		}
		walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		walk_enter_mount(walk, (void *)above + bpf_core_field_offset(struct mount, mnt));
		return 0;
	}
	dentry_read(&link, dentry);
	walk->chain =
		(walk->chain ^ link.name.hash_len ^ (__u64)link.parent) * 0x9e3779b97f4a7c15ull;
	if (walk->copy)
		path_add_name(walk, link.name.name);
	if (link.parent == dentry) {
		walk->flags |= FILE_PSEUDO;
		walk->done = 1;
	}
	walk->dentry = link.parent;
	return walk->done ? 1 : 0;
}

static __always_inline void path_walk_up(struct path_walk *walk, __u64 dentry, __u64 mount,
					 bool copy)
{
	walk->dentry = (void *)dentry;
	walk_enter_mount(walk, (void *)mount);
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
	struct super_block *sb = BPF_CORE_READ(inode, i_sb);
	const char *type = BPF_CORE_READ(sb, s_type, name);
	__u32 size = walk->size;

	record->head.type = RECORD_FILE;
	record->id = id;
	record->dev = BPF_CORE_READ(sb, s_dev);
	record->magic = BPF_CORE_READ(sb, s_magic);
	record->mode = BPF_CORE_READ(inode, i_mode);
	record->flags = walk->flags;
	if (size > PATH_BYTES + NAME_BYTES - 1)
		size = PATH_BYTES + NAME_BYTES - 1;
	record->names_size = size;
	bpf_probe_read_kernel_str(record->fs, sizeof(record->fs), type);
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

/* Gives a path that is new, or that changed, an id, and tells strata. 0 when that fails. Global, as are
 * other functions without BTF pointers: the verifier looks at them once, not at every call. */
__weak __noinline __u32 path_enter(__u64 dentry, __u64 mount, __u64 inode, __u64 number,
				   __u32 generation)
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

static __always_inline __u32 path_find(struct file_view *view)
{
	struct inode_entry *entry = inode_find(view->inode, view->inode_number, view->generation);
	__u32 file = entry ? inode_file(entry, view->dentry, view->mount, path_epoch) : 0;

	return file ? file
		    : path_enter(view->dentry, view->mount, view->inode, view->inode_number,
				 view->generation);
}

/* The id of a file that is not the one met last; 0 when it could not be told to strata. */
__weak __noinline __u32 path_lookup(struct file_view *view)
{
	return view ? path_find(view) : 0;
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

/* The id of the directory that a relative path of the current thread starts from. */
__weak __noinline __u32 path_of_cwd(void)
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
	BPF_CORE_READ_INTO(&walk->cwd, task, fs, pwd);
	dentry = walk->cwd.dentry;
	inode = BPF_CORE_READ(dentry, d_inode);
	view->dentry = (__u64)dentry;
	view->mount = (__u64)walk->cwd.mnt;
	view->inode = (__u64)inode;
	view->inode_number = BPF_CORE_READ(inode, i_ino);
	view->generation = BPF_CORE_READ(inode, i_generation);
	return path_find(view); /* in place: the stack of all calls together is small */
}

#endif
