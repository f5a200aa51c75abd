/* What the layers io, fs and mem share: the shapes of calls, their saved arguments, scratch memory and
 * the head of a record.
 */
#ifndef STRATA_BPF_SYSCALL_BPF_H
#define STRATA_BPF_SYSCALL_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/path_walk.bpf.h"
#include "bpf/vector.bpf.h"
#include "schema/syscalls.h"

/* A flag for the functions that end a call, beside those of records.h: the thread is not the current
 * one, so its memory and descriptors are not to be looked at. */
#define SYSCALL_ABSENT 0x80

/* Set by strata before load. */
const volatile __u8 syscalls_by_number[SYSCALL_NUMBERS] = {};
const volatile __u8 layers_by_number32[SYSCALL_NUMBERS] = {}; /* enum layer + 1; 0: none */
const volatile struct syscall_shape syscall_shapes[SYSCALL_SHAPES] = {};

/* Memory for records too large for the stack. */
struct scratch {
	struct fs_record fs;
	char paths[3 * PATH_BYTES]; /* two, and room to compare beyond them */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline struct scratch *scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/* As file_read_fields(), but by plain loads where that can be. */
static __always_inline void file_read(struct file_view *view, struct file *file)
{
	struct inode *inode;

	if (!typed_reads) {
		file_read_fields(view, file);
		return;
	}
	view->pointer = (__u64)file;
	file = typed(struct file, file);
	inode = file->f_inode;
	view->dentry = (__u64)file->f_path.dentry;
	view->mount = (__u64)file->f_path.mnt;
	view->inode = (__u64)inode;
	view->inode_number = inode->i_ino;
	view->generation = inode->i_generation;
	view->mode = file->f_mode;
	view->flags = file->f_flags;
	view->pos = file->f_pos;
}

/* The struct file behind a descriptor of a task, or NULL; as path_descriptor(), but by a plain load. */
static __always_inline struct file *file_of_task(struct task_struct *task, __u32 fd)
{
	struct hlist_head *cell; /* a pointer in memory: any type that begins with one would do */
	struct files_struct *open_files;
	struct fdtable *table;

	if (!typed_reads)
		return path_descriptor(task, fd);
	task = typed(struct task_struct, task);
	open_files = task->files;
	if (!open_files)
		return NULL;
	table = open_files->fdt;
	if (fd >= table->max_fds)
		return NULL;
	cell = typed(struct hlist_head, table->fd + fd);
	return (struct file *)cell->first;
}

static __always_inline __u32 path_of_descriptor(struct task_struct *task, struct task_state *state,
						__u32 fd)
{
	struct file *file = file_of_task(task, fd);
	struct file_view view;

	if (!file)
		return 0;
	file_read(&view, file);
	return path_of_view(state, &view);
}

static __always_inline const volatile struct syscall_shape *shape_of(__u8 syscall)
{
	return &syscall_shapes[syscall & (SYSCALL_SHAPES - 1)];
}

/* The saved argument at a place that a shape names; only for places other than ARGUMENT_NONE. */
static __always_inline __u64 argument(struct task_state *state, __u8 place)
{
	return state->args[place & 7];
}

static __always_inline __s64 argument_or_null(struct task_state *state, __u8 place)
{
	return place == ARGUMENT_NONE ? RECORD_NULL : (__s64)argument(state, place);
}

static __always_inline void head_fill(struct record *head, struct task_state *state, __u8 type,
				      __u64 end, __u8 flags)
{
	head->type = type;
	head->op = state->syscall;
	head->flags = flags & ~SYSCALL_ABSENT;
	head->pad = 0;
	head->cpu = bpf_get_smp_processor_id();
	head->pid = state->pid;
	head->tid = state->tid;
	head->ts = state->ts;
	head->dur = end - state->ts;
}

#endif
