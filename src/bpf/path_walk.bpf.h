/* The walk from a dentry up to the root of its mount namespace: its names, and a hash over them. See path.bpf.h. */
#ifndef STRATA_BPF_PATH_WALK_BPF_H
#define STRATA_BPF_PATH_WALK_BPF_H

#include "bpf/inode.bpf.h"
#include "bpf/names.h"
#include "bpf/prefix.bpf.h"
#include "bpf/typed.bpf.h"

#define NAME_BYTES     256  /* of the longest name, with its NUL */
#define PATH_DEPTH     2100 /* components of the longest path, and mounts on the way */
#define PATH_DEPTH_OLD 64   /* where the kernel has no bpf_loop */
#define PATH_STARTS    2048 /* a path of 4096 bytes has no more names */

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
	__u32 name; /* see path_name() */
};

struct path_walk {
	struct dentry *dentry;
	struct vfsmount *mount;
	struct dentry *root; /* of the mount */
	struct mount *above;
	__u64 chain;
	__u32 name;
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
} path_walks SEC(".maps");

#define PATH_MIX 0x9e3779b97f4a7c15ull

/* What tells a name from others: the kernel's hash of it, which most file systems let begin with the directory's address,
 * and its length. */
static __always_inline __u32 path_name(__u64 hash_len)
{
	return (hash_len * PATH_MIX) >> 32;
}

static __always_inline void path_add_name(struct path_walk *walk, const unsigned char *name)
{
	long size;

	if (walk->size >= PATH_BYTES) {
		walk->flags |= FILE_CUT;
		walk->done = 1;
		return;
	}
	if (config.prefix_size)
		walk->starts[walk->depth++ & (PATH_STARTS - 1)] = walk->size;
	size = bpf_probe_read_kernel_str(&walk->names[walk->size & (PATH_BYTES - 1)], NAME_BYTES,
					 name);
	if (size > 0)
		walk->size += size;
}

static __always_inline void walk_enter_mount(struct path_walk *walk)
{
	memory_order();
	walk->root = typed_read(vfsmount, walk->mount, mnt_root);
}

/* From the root of a mount to where it is mounted; false: nowhere. */
static __always_inline bool walk_leave_mount(struct path_walk *walk)
{
	struct mount *mount = (void *)walk->mount - bpf_core_field_offset(struct mount, mnt);

	walk->above = typed_read(mount, mount, mnt_parent);
	walk->dentry = typed_read(mount, mount, mnt_mountpoint);
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
	walk->dentry = typed_read(dentry, dentry, d_parent);
	memory_order();
	walk->chain =
		(walk->chain ^ typed_read(dentry, dentry, d_name.hash_len) ^ (__u64)walk->dentry) *
		PATH_MIX;
	if (walk->copy)
		path_add_name(walk, typed_read(dentry, dentry, d_name.name));
	if (walk->dentry == dentry) {
		walk->flags |= FILE_PSEUDO;
		walk->done = 1;
	}
	return walk->done ? 1 : 0;
}

__noinline int path_walk_up(struct path_walk *walk, __u64 dentry, __u64 mount, bool copy)
{
	if (!walk)
		return 0;
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
	return 0;
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
	if (!config.prefix_size || walk->flags & FILE_PSEUDO)
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
	struct super_block *sb = typed_read(inode, inode, i_sb);
	struct file_system_type *type = typed_read(super_block, sb, s_type);
	__u32 size = walk->size;

	record_head(&record->head, PROBE_names, NAMES_FILE, 0, 0);
	record->id = id;
	record->dev = typed_read(super_block, sb, s_dev);
	record->magic = typed_read(super_block, sb, s_magic);
	record->mode = typed_read(inode, inode, i_mode);
	record->flags = walk->flags;
	if (size > PATH_BYTES + NAME_BYTES - 1)
		size = PATH_BYTES + NAME_BYTES - 1;
	record->names_size = size;
	bpf_probe_read_kernel_str(record->fs, sizeof(record->fs),
				  typed_read(file_system_type, type, name));
	if (walk->flags & FILE_CUT)
		loss_count(LAYER_fs, LOSS_STRING);
	return ring_output(record, sizeof(*record) + size, LAYER_fs, 0);
}

#define MOST_ERRNO 4095

/* Whether a mount is of another mount namespace than strata's, and of one at all: pipes and their kin are in none. */
static __always_inline bool mount_is_foreign(__u64 address)
{
	struct mount *mount = (void *)address - bpf_core_field_offset(struct mount, mnt);
	__u64 namespace = (__u64)BPF_CORE_READ(mount, mnt_ns);

	return namespace && namespace < (__u64)-MOST_ERRNO && namespace != shared.mount_namespace;
}

/* One step towards the root of the file system. */
static long place_step(__u32 index, void *context)
{
	struct path_walk *walk = *(struct path_walk **)context;
	struct dentry *dentry = walk->dentry;

	walk->dentry = typed_read(dentry, dentry, d_parent);
	memory_order();
	walk->done |= walk->dentry == dentry;
	if (!walk->done)
		path_add_name(walk, typed_read(dentry, dentry, d_name.name));
	return walk->done ? 1 : 0;
}

/* Sends where in its file system a file lies that another mount namespace shows: by that the same file is found in
 * strata's. Before 5.17, where a loop costs each program that has it, this is left out. */
static __always_inline void path_send_place(struct path_walk *walk, __u64 dentry, __u64 mount,
					    __u32 id)
{
	struct file_record *record = &walk->record;
	__u32 size;

	if (!mount_is_foreign(mount) ||
	    !bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		return;
	walk->dentry = (void *)dentry;
	walk->size = 0;
	walk->depth = 0;
	walk->flags = 0;
	walk->done = 0;
	bpf_loop(PATH_DEPTH, place_step, &walk, 0);
	if (!walk->done || walk->flags & FILE_CUT)
		return;
	size = walk->size;
	if (size > PATH_BYTES + NAME_BYTES - 1)
		size = PATH_BYTES + NAME_BYTES - 1;
	record_head(&record->head, PROBE_names, NAMES_PLACE, 0, 0);
	record->id = id;
	record->names_size = size;
	ring_output(record, sizeof(*record) + size, LAYER_fs, 0);
}

static __always_inline __u32 walk_chain(struct path_walk *walk)
{
	return walk->chain >> 32;
}

/* Whether a path is what it was, by its chain. */
static __always_inline bool path_is_same(struct path_walk *walk, __u64 dentry, __u64 mount,
					 __u32 chain)
{
	path_walk_up(walk, dentry, mount, false);
	return walk_chain(walk) == chain;
}

#endif
