/* Calls on names, metadata and open files.
 *
 * What a call by path tells is put together in the scratch memory, piece by piece, each by a function that the verifier
 * looks at once by itself: together they would have more ways through than it goes in a moment.
 */
#ifndef STRATA_BPF_FS_BPF_H
#define STRATA_BPF_FS_BPF_H

#include "bpf/syscall.bpf.h"

static __always_inline void fs_enter(struct task_struct *task, struct task_state *state,
				     const volatile struct syscall_shape *shape)
{
	__u8 place = shape->fd != ARGUMENT_NONE ? shape->fd : shape->dir;

	if (place != ARGUMENT_NONE && (__s32)argument(state, place) != AT_FDCWD)
		state->file = path_of_descriptor(task, state, argument(state, place));
	if (shape->dir2 != ARGUMENT_NONE && (__s32)argument(state, shape->dir2) != AT_FDCWD)
		state->file2 = path_of_descriptor(task, state, argument(state, shape->dir2));
}

/* What the arguments and the result tell by themselves. */
__noinline int fs_fill(struct fs_record *record, struct task_state *state, __s64 returned,
		       __u64 end, __u8 flags)
{
	const volatile struct syscall_shape *shape;

	if (!record || !state)
		return 0;
	shape = shape_of(state->syscall);
	head_fill(&record->head, state, FILE_FS, end, flags);
	record->returned = returned;
	record->flags = argument_or_null(state, shape->flags);
	record->mode = argument_or_null(state, shape->mode);
	record->pos = argument_or_null(state, shape->pos);
	record->length = argument_or_null(state, shape->length);
	record->blocked = state->blocked;
	record->fd = RECORD_NULL;
	record->file = 0;
	record->dir = 0;
	record->dir2 = 0;
	record->path_size = 0;
	record->path2_size = 0;
	return 0;
}

/* ---- calls by path ---- */

/* Whether a path argument is longer than the kernel takes: what was read of it is not it. */
static __always_inline bool fs_path_goes_on(__u64 pointer)
{
	char last = 0;

	return !bpf_probe_read_user(&last, 1, (void *)(pointer + PATH_BYTES - 1)) && last;
}

/* Reads a path argument; returns its size with NUL, 0 when there is none or it cannot be read. */
static __always_inline __u32 fs_read_path(char *to, struct task_state *state, __u8 place,
					  __s64 returned, __u8 flags)
{
	__u32 size;

	if (place == ARGUMENT_NONE || flags & SYSCALL_ABSENT)
		return 0;
	if (!argument(state, place)) /* with AT_EMPTY_PATH */
		return 0;
	size = user_string_read(to, PATH_BYTES, argument(state, place));
	if (size == PATH_BYTES && fs_path_goes_on(argument(state, place))) {
		loss_count(LAYER_fs, LOSS_STRING);
		return 0;
	}
	if (!size && returned >= 0 && !(flags & RECORD_UNFINISHED)) /* the kernel could read it */
		loss_count(LAYER_fs, LOSS_UNREAD);
	return size;
}

/* Where the second path begins, behind the first with its NUL. */
static __always_inline char *fs_second_path(struct scratch *scratch, __u32 size)
{
	return &scratch->paths[size & (2 * PATH_BYTES - 1)];
}

/* Reads the paths into the scratch memory, one behind the other. */
__noinline int fs_read_paths(struct scratch *scratch, struct task_state *state, __s64 returned,
			     __u8 flags)
{
	const volatile struct syscall_shape *shape;
	__u32 size;

	if (!scratch || !state)
		return 0;
	shape = shape_of(state->syscall);
	size = fs_read_path(scratch->paths, state, shape->path, returned, flags);
	scratch->fs.path_size = size;
	scratch->fs.path2_size =
		fs_read_path(fs_second_path(scratch, size), state, shape->path2, returned, flags);
	return 0;
}

/* The directory that a path starts from: none for an absolute one. */
static __always_inline __u32 fs_directory(struct task_state *state, __u8 place, __u32 taken,
					  bool relative)
{
	if (!relative)
		return 0;
	if (place != ARGUMENT_NONE && (__s32)argument(state, place) != AT_FDCWD)
		return taken;
	return path_of_cwd();
}

/* Whether the path is empty and the flags say that the descriptor itself is meant. The same bit means something else to an
 * open. */
static __always_inline bool fs_names_descriptor(struct fs_record *record, struct task_state *state,
						const volatile struct syscall_shape *shape)
{
	if (shape->family == FAMILY_open || shape->dir == ARGUMENT_NONE ||
	    record->flags == RECORD_NULL || !(record->flags & AT_EMPTY_PATH))
		return false;
	return record->path_size == 1 || !argument(state, shape->path);
}

/* The directories that paths start from. */
__noinline int fs_take_directories(struct scratch *scratch, struct task_state *state)
{
	const volatile struct syscall_shape *shape;
	struct fs_record *record;
	__u32 size;

	if (!scratch || !state)
		return 0;
	shape = shape_of(state->syscall);
	record = &scratch->fs;
	size = record->path_size;
	if (fs_names_descriptor(record, state, shape)) {
		record->file = state->file;
		if ((__s32)argument(state, shape->dir) == AT_FDCWD)
			record->file = path_of_cwd();
		else
			record->fd = (__s32)argument(state, shape->dir);
	} else {
		record->dir = fs_directory(state, shape->dir, state->file,
					   size && scratch->paths[0] != '/');
	}
	if (shape->path2 != ARGUMENT_NONE)
		record->dir2 =
			fs_directory(state, shape->dir2, state->file2,
				     record->path2_size && *fs_second_path(scratch, size) != '/');
	return 0;
}

/* What an open that has ended opened, and the arguments that openat2 has in memory. */
__noinline int fs_take_opened(struct scratch *scratch, struct task_state *state, __s64 returned)
{
	struct user_open_how how = {};
	struct fs_record *record;

	if (!scratch || !state)
		return 0;
	record = &scratch->fs;
	if (state->syscall == SYSCALL_openat2 &&
	    !bpf_probe_read_user(&how, sizeof(how), (void *)state->args[2])) {
		record->flags = how.flags;
		record->mode = how.mode;
	}
	if (state->syscall != SYSCALL_creat && record->flags != RECORD_NULL &&
	    !(record->flags & (O_CREAT | O_TMPFILE_BIT)))
		record->mode = RECORD_NULL;
	if (returned >= 0) {
		record->fd = returned;
		record->file = path_of_descriptor(bpf_get_current_task_btf(), state, returned);
	}
	return 0;
}

/* Whether --path asks for the call: by the file it opened or was given, else by the text of a path. */
static __always_inline bool fs_wanted(struct fs_record *record, struct scratch *scratch)
{
	__u32 size = record->path_size;

	if (!config.prefix_size)
		return true;
	if (record->file)
		return prefix_has_file(record->file);
	if (size && prefix_has_text(scratch->paths, record->dir))
		return true;
	return record->path2_size && prefix_has_text(fs_second_path(scratch, size), record->dir2);
}

static __always_inline int fs_exit_path(struct task_state *state, __s64 returned, __u64 end,
					__u8 flags)
{
	struct scratch *scratch = scratch_get();
	struct fs_record *record;
	__u32 size;

	if (!scratch)
		return 0;
	record = &scratch->fs;
	fs_fill(record, state, returned, end, flags);
	fs_read_paths(scratch, state, returned, flags);
	fs_take_directories(scratch, state);
	if (shape_of(state->syscall)->family == FAMILY_open &&
	    !(flags & (SYSCALL_ABSENT | RECORD_UNFINISHED)))
		fs_take_opened(scratch, state, returned);
	if (!fs_wanted(record, scratch))
		return 0;
	size = record->path_size + record->path2_size;
	if (size > 2 * PATH_BYTES)
		size = 2 * PATH_BYTES;
	ring_output(record, sizeof(*record) + size, LAYER_fs, 0);
	return 0;
}

/* ---- the end of a call ---- */

/* A call on a descriptor, which has no path: its record is made in the ring. */
static __always_inline int fs_exit_descriptor(struct task_state *state, __s64 returned, __u64 end,
					      __u8 flags)
{
	struct fs_record *record;

	if (!prefix_has_file(state->file))
		return 0;
	record = ring_reserve(sizeof(*record), LAYER_fs);
	if (!record)
		return 0;
	fs_fill(record, state, returned, end, flags);
	record->fd = (__s32)argument(state, shape_of(state->syscall)->fd);
	record->file = state->file;
	ring_submit(record);
	return 0;
}

static __always_inline int fs_exit(struct task_state *state, __s64 returned, __u64 end, __u8 flags)
{
	if (shape_of(state->syscall)->fd != ARGUMENT_NONE)
		return fs_exit_descriptor(state, returned, end, flags);
	return fs_exit_path(state, returned, end, flags);
}

#endif
