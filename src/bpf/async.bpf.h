/* Operations that a program hands over in a queue (io_uring, libaio) and that end later, maybe elsewhere: kept
 * by their address from submission to completion, when their one record is written.
 */
#ifndef STRATA_BPF_ASYNC_BPF_H
#define STRATA_BPF_ASYNC_BPF_H

#include "bpf/file.h"
#include "bpf/path.bpf.h"
#include "schema/syscalls.h"

static __always_inline bool async_moves_data(struct async_state *state)
{
	return state->layer == LAYER_io;
}

static __always_inline void async_keep(struct async_key *key, struct async_state *state,
				       enum layer layer)
{
	if (!bpf_map_update_elem(&asyncs, key, state, BPF_ANY))
		return;
	loss_count(layer, LOSS_REQUEST);
	shared.async_refused = 1;
}

/* The file behind a descriptor of the submitting thread and, where it can seek, its position. */
static __always_inline void async_take_file(struct task_struct *task, struct async_state *state,
					    __s32 fd, __s64 pos)
{
	struct file *file = path_descriptor(task, fd);
	struct file_view view;

	state->fd = fd;
	state->pos = RECORD_NULL;
	if (!file)
		return;
	file_read(&view, file);
	state->file = path_lookup(&view);
	if (view.flags & O_DIRECT)
		state->flags |= RECORD_DIRECT;
	if (view.mode & FMODE_LSEEK && !(view.flags & O_APPEND))
		state->pos = pos == -1 ? view.pos : pos;
}

static __always_inline void async_fill_head(struct record *head, struct async_state *state,
					    __u8 kind, __u64 end, __u8 flags)
{
	record_head(head, PROBE_file, kind, state->syscall, state->flags | flags);
	head->pid = state->pid;
	head->tid = state->tid;
	head->ts = state->ts;
	head->dur = end - state->ts;
}

static __always_inline void async_send_io(struct async_state *state, __s64 returned, __u64 end,
					  __u8 flags)
{
	struct io_record *record;

	if (!prefix_has_file(state->file))
		return;
	record = ring_reserve(sizeof(*record), LAYER_io);
	if (!record)
		return;
	async_fill_head(&record->head, state, FILE_IO, end, flags);
	record->returned = returned;
	record->requested = state->requested;
	record->pos = state->pos;
	record->blocked = RECORD_NULL;
	record->missed = RECORD_NULL;
	record->fd = state->fd;
	record->file = state->file;
	ring_submit(record);
}

static __always_inline void async_fill_fs(struct fs_record *record, struct async_state *state,
					  __s64 returned, __u64 end, __u8 flags)
{
	async_fill_head(&record->head, state, FILE_FS, end, flags);
	record->returned = returned;
	record->flags = state->syscall_flags;
	record->mode = state->mode;
	record->pos = state->pos;
	record->length = state->requested;
	record->fd = state->fd == DESCRIPTOR_NONE ? RECORD_NULL : state->fd;
	record->blocked = RECORD_NULL;
	record->file = state->file;
	record->dir = state->dir;
	record->dir2 = 0;
	record->path_size = 0;
	record->path2_size = 0;
}

static __always_inline void async_send_fs(struct async_state *state, __s64 returned, __u64 end,
					  __u8 flags)
{
	struct fs_record *record;

	if (!prefix_has_file(state->file))
		return;
	record = ring_reserve(sizeof(*record), LAYER_fs);
	if (!record)
		return;
	async_fill_fs(record, state, returned, end, flags);
	ring_submit(record);
}

#endif
