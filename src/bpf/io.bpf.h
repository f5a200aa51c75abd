/* Calls that move data: what is taken when they begin, and their records when they end. */
#ifndef STRATA_BPF_IO_BPF_H
#define STRATA_BPF_IO_BPF_H

#include "bpf/syscall.bpf.h"

/* Whether the call says where in the file it works. */
static __always_inline bool io_positioned(struct task_state *state, __u8 shape)
{
	return shape == IO_BUFFER_AT || (shape == IO_VECTOR_AT && (__s64)state->args[3] != -1);
}

/* Whether somebody else may move the position of an open file: another thread, or a process with the same description. */
static __always_inline bool io_position_shared(struct task_struct *task, struct file *file)
{
	struct files_struct *open_files = pointer_in(task_struct, task, files);

	return (open_files && open_files->count.counter > 1) || file_has_others(file);
}

/* Takes the file behind fd and, where it can seek, its position. */
static __always_inline void io_take_file(struct task_struct *task, struct task_state *state,
					 __u32 fd, bool positioned)
{
	struct file *file = path_descriptor(task, fd);
	struct file_view view;

	if (!file)
		return;
	file_read(&view, file);
	state->file = path_of_view(state, &view);
	state->file_pointer = (__u64)file;
	state->file_flags = view.flags;
	if (!(view.mode & FMODE_LSEEK))
		return;
	state->pos = view.pos;
	if (!positioned)
		state->position_shared = io_position_shared(task, file);
	if (shape_of(state->syscall)->trait == TRAIT_APPENDS)
		state->size = typed_read(inode, view.inode, i_size);
}

/* Which argument of a copy is the descriptor that it writes to. */
static __always_inline __u8 io_output_place(__u8 shape)
{
	return shape == IO_SENDFILE ? 0 : shape == IO_TEE ? 1 : 2;
}

static __always_inline void io_take_output(struct task_struct *task, struct task_state *state,
					   __u32 fd)
{
	struct file *file = path_descriptor(task, fd);
	struct file_view view;

	state->out_pos = RECORD_NULL;
	if (!file)
		return;
	file_read(&view, file);
	state->file2 = path_lookup(&view);
	if (!(view.mode & FMODE_LSEEK))
		return;
	state->out_pos = view.pos;
	state->position_shared |= io_position_shared(task, file);
}

static __always_inline void io_enter(struct task_struct *task, struct task_state *state, __u8 shape)
{
	state->out_pos = RECORD_NULL;
	if (shape == IO_REMOTE)
		return;
	io_take_file(task, state, state->args[shape == IO_SENDFILE ? 1 : 0],
		     io_positioned(state, shape));
	if (shape >= IO_TEE)
		io_take_output(task, state, state->args[io_output_place(shape)]);
	else if (state->pos != RECORD_NULL && io_positioned(state, shape))
		state->pos = state->args[3];
}

static __always_inline bool io_in_memory(__u8 shape)
{
	return shape == IO_VECTOR || shape == IO_VECTOR_AT || shape == IO_MESSAGE ||
	       shape == IO_MESSAGES || shape == IO_REMOTE;
}

/* Of several messages: of all that the program gave. */
static __always_inline __s64 io_messages_requested(struct task_state *state)
{
	struct messages *messages;
	__u32 zero = 0;

	messages_sum(state->args[1], state->args[2]);
	messages = bpf_map_lookup_elem(&messages_scratch, &zero);
	return messages ? messages->requested : -1;
}

/* What a call has moved, given what it returned: of several messages that is their number. */
static __always_inline __s64 io_returned(struct task_state *state, __u8 shape, __s64 returned,
					 __u8 flags)
{
	struct messages *messages;
	__u32 zero = 0;

	if (shape != IO_MESSAGES || returned <= 0 || flags & SYSCALL_ABSENT)
		return returned;
	messages_sum(state->args[1], returned);
	messages = bpf_map_lookup_elem(&messages_scratch, &zero);
	return messages ? messages->moved : 0;
}

/* Of one message of the current thread's. */
__noinline __s64 io_message_requested(__u64 pointer)
{
	struct user_msghdr message = {};

	if (bpf_probe_read_user(&message, sizeof(message), (void *)pointer))
		return -1;
	return vector_sum(message.vector, message.vector_length);
}

static __always_inline __s64 io_requested(struct task_state *state, __u8 shape, __u8 flags)
{
	if (!io_in_memory(shape))
		return state->args[shape == IO_SENDFILE ? 3 : shape == IO_COPY ? 4 : 2];
	if (flags & SYSCALL_ABSENT)
		return -1;
	if (shape == IO_MESSAGES)
		return io_messages_requested(state);
	return shape == IO_MESSAGE ? io_message_requested(state->args[1])
				   : vector_sum(state->args[1], state->args[2]);
}

/* Whether a write goes to the end of the file whatever its position says. */
static __always_inline bool io_appends(struct task_state *state, struct file *file)
{
	__u64 flags = state->syscall == SYSCALL_pwritev2 ? state->args[5] : 0;

	if (flags & RWF_APPEND)
		return true;
	return BPF_CORE_READ(file, f_flags) & O_APPEND && !(flags & RWF_NOAPPEND);
}

/* A position that was taken before the call had the file's lock, given where the file's position is after it: what the call
 * itself did must explain the difference, or somebody else has moved it. */
static __always_inline __s64 io_proven(__s64 before, __s64 after, __s64 returned)
{
	return after - (returned > 0 ? returned : 0) == before ? before : RECORD_NULL;
}

/* Where in the file a call worked that began with `state->pos`, now that it has ended; RECORD_NULL: that cannot be told.
 *
 * An append goes where the file ends by then. Its own description knows: its position is behind the bytes, until somebody
 * else uses it. A position that the call named is the file's, whatever descriptions do. */
__noinline __s64 io_position_after(struct task_state *state, __s64 returned)
{
	bool positioned, appends;
	struct file *file;
	__s64 after;

	if (!state)
		return RECORD_NULL;
	positioned = io_positioned(state, shape_of(state->syscall)->io);
	file = path_descriptor(bpf_get_current_task_btf(), state->args[0]);
	if (!file || (__u64)file != state->file_pointer)
		return positioned || !state->position_shared ? state->pos : RECORD_NULL;
	appends = returned > 0 && shape_of(state->syscall)->trait == TRAIT_APPENDS &&
		  io_appends(state, file);
	if (!appends && (positioned || !state->position_shared))
		return state->pos;
	if (positioned)
		return io_proven(state->size, BPF_CORE_READ(file, f_inode, i_size), returned);
	after = BPF_CORE_READ(file, f_pos);
	if (appends && !state->position_shared)
		return after - returned;
	return io_proven(appends ? state->size : state->pos, after, returned);
}

/* The same, where most calls need no look. */
static __always_inline __s64 io_position(struct task_state *state, __u8 shape, __s64 returned)
{
	if (shape_of(state->syscall)->trait != TRAIT_APPENDS &&
	    (!state->position_shared || io_positioned(state, shape)))
		return state->pos;
	return io_position_after(state, returned);
}

/* Of calls that read: a write fills pages that it need not read. */
static __always_inline __s64 io_missed(struct task_state *state)
{
	if (!shared.count_missed || shape_of(state->syscall)->trait != TRAIT_FILLS)
		return RECORD_NULL;
	return state->missed;
}

static __always_inline void io_fill(struct io_record *record, struct task_state *state, __u8 shape,
				    __s64 returned, __u64 end, __u8 flags)
{
	__s64 requested = io_requested(state, shape, flags);

	if (requested == -1 && io_in_memory(shape)) {
		flags |= RECORD_NO_REQUESTED;
		if (returned >= 0 && !(flags & (SYSCALL_ABSENT | RECORD_UNFINISHED)))
			loss_count(LAYER_io, LOSS_UNREAD);
	}
	if (state->file_flags & O_DIRECT)
		flags |= RECORD_DIRECT;
	if (!(state->file_flags & O_ACCMODE))
		flags |= RECORD_READS;
	head_fill(&record->head, state, FILE_IO, end, flags);
	record->returned = io_returned(state, shape, returned, flags);
	record->requested = requested;
	record->pos = state->pos;
	record->blocked = state->blocked;
	record->missed = io_missed(state);
	record->fd =
		shape == IO_REMOTE ? DESCRIPTOR_NONE : state->args[shape == IO_SENDFILE ? 1 : 0];
	record->file = state->file;
}

__noinline int io_exit(struct task_state *state, __s64 returned, __u64 end, __u8 flags)
{
	struct io_record *record;
	__u8 shape;

	if (!state)
		return 0;
	if (!prefix_has_file(state->file))
		return 0;
	shape = shape_of(state->syscall)->io;
	if (state->pos != RECORD_NULL && !(flags & (SYSCALL_ABSENT | RECORD_UNFINISHED)))
		state->pos = io_position(state, shape, returned);
	record = ring_reserve(sizeof(*record), LAYER_io);
	if (!record)
		return 0;
	io_fill(record, state, shape, returned, end, flags);
	ring_submit(record);
	return 0;
}

/* Where a copy of the current thread's began, given the position of its file before: that, or what a pointer to an offset
 * says, to which the kernel has added what it moved. */
__noinline __s64 io_copy_proven(__u32 fd, __s64 pos, __u64 pointer, __s64 returned)
{
	struct file *file;
	__s64 offset;

	if (!pointer) {
		file = path_descriptor(bpf_get_current_task_btf(), fd);
		return file ? io_proven(pos, BPF_CORE_READ(file, f_pos), returned) : RECORD_NULL;
	}
	if (bpf_probe_read_user(&offset, sizeof(offset), (void *)pointer))
		return RECORD_NULL;
	return returned > 0 ? offset - returned : offset;
}

static __always_inline __s64 io_copy_position(struct task_state *state, __u32 fd, __s64 pos,
					      __u64 pointer, __s64 returned, __u8 flags)
{
	if (pos == RECORD_NULL || (!pointer && !state->position_shared))
		return pos;
	return flags & SYSCALL_ABSENT ? RECORD_NULL : io_copy_proven(fd, pos, pointer, returned);
}

__noinline int io_copy_exit(struct task_state *state, __s64 returned, __u64 end, __u8 flags)
{
	struct copy_record *record;
	__u8 shape, out;
	bool sendfile;

	if (!state)
		return 0;
	if (!prefix_has_file(state->file) && !prefix_has_file(state->file2))
		return 0;
	shape = shape_of(state->syscall)->io;
	sendfile = shape == IO_SENDFILE;
	out = io_output_place(shape);
	record = ring_reserve(sizeof(*record), LAYER_io);
	if (!record)
		return 0;
	if (shape != IO_TEE) { /* between pipes there are no positions */
		state->pos = io_copy_position(state, state->args[sendfile ? 1 : 0], state->pos,
					      state->args[sendfile ? 2 : 1], returned, flags);
		state->out_pos = io_copy_position(state, state->args[out], state->out_pos,
						  sendfile ? 0 : state->args[3], returned, flags);
	}
	io_fill(&record->in, state, shape, returned, end, flags);
	record->in.head.kind = FILE_COPY;
	record->out_pos = state->out_pos;
	record->out_fd = state->args[out];
	record->out_file = state->file2;
	ring_submit(record);
	return 0;
}

#endif
