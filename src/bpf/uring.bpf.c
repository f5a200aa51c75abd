/* Operations through io_uring, as rows of io and fs: kept when the kernel takes a request from the ring, by
 * whichever thread does (the program's own, or the ring's polling thread), and written when its completion
 * is posted.
 */
#include "bpf/async.bpf.h"

#include "bpf/compat.bpf.h"
#include "bpf/vector.bpf.h"

#define PATHS_IN_FLIGHT 4096

enum {
	URING_READV = 1,
	URING_WRITEV = 2,
	URING_FSYNC = 3,
	URING_FALLOCATE = 17,
	URING_OPENAT = 18,
	URING_CLOSE = 19,
	URING_STATX = 21,
	URING_OPENAT2 = 28,
	URING_RENAMEAT = 35,
	URING_UNLINKAT = 36,
};

/* Set by strata before load. */
const volatile struct uring_operation uring_operations[URING_NUMBERS] = {};

static __always_inline const volatile struct uring_operation *operation_of(__u8 number)
{
	return &uring_operations[number & (URING_NUMBERS - 1)];
}

struct uring_path {
	char text[PATH_BYTES];
};

/* Path arguments of requests in flight, which the program may overwrite once they are submitted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PATHS_IN_FLIGHT);
	__type(key, __u64);
	__type(value, struct uring_path);
} uring_paths SEC(".maps");

struct uring_scratch {
	struct async_state state;
	struct fs_record record;
	struct uring_path path;	 /* behind the record */
	char beyond[PATH_BYTES]; /* room to compare it */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct uring_scratch);
} uring_scratches SEC(".maps");

static __always_inline struct uring_scratch *uring_scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&uring_scratches, &zero);
}

/* ---- submission ---- */

static __always_inline void uring_take_descriptor(struct task_struct *task,
						  struct async_state *state, struct io_kiocb *req,
						  __s64 pos)
{
	state->fd = DESCRIPTOR_NONE;
	state->pos = pos == -1 ? RECORD_NULL : pos;
	if (!request_has_fixed_file(req)) /* else known when it is done */
		async_take_file(task, state, BPF_CORE_READ(req, cqe.fd), pos);
}

static __always_inline void uring_take_transfer(struct task_struct *task, struct async_state *state,
						struct io_kiocb *req, __u8 operation)
{
	struct io_rw *rw = (void *)req;
	__u32 length = BPF_CORE_READ(rw, len);

	uring_take_descriptor(task, state, req, BPF_CORE_READ(rw, kiocb.ki_pos));
	state->requested = length;
	if (operation != URING_READV && operation != URING_WRITEV)
		return;
	state->requested = vector_sum(BPF_CORE_READ(rw, addr), length);
	if (state->requested < 0)
		state->flags |= RECORD_NO_REQUESTED;
}

/* Keeps the path argument of a request, and the directory that it starts from. */
static __always_inline void uring_take_path(struct task_struct *task, struct uring_scratch *scratch,
					    __u64 key, struct filename *filename, __s32 directory)
{
	const char *name = BPF_CORE_READ(filename, name);
	struct file *file;

	if (bpf_probe_read_kernel_str(scratch->path.text, PATH_BYTES, name) <= 0 ||
	    bpf_map_update_elem(&uring_paths, &key, &scratch->path, BPF_ANY)) {
		loss_count(LAYER_fs, LOSS_REQUEST);
		return;
	}
	if (scratch->path.text[0] == '/')
		return;
	if (directory == AT_FDCWD) {
		scratch->state.dir = path_of_cwd();
		return;
	}
	file = path_descriptor(task, directory);
	if (file)
		scratch->state.dir = path_of_file(file);
}

static __always_inline void uring_take_open(struct task_struct *task, struct uring_scratch *scratch,
					    struct io_kiocb *req)
{
	struct io_open *open = (void *)req;
	__u64 flags = BPF_CORE_READ(open, how.flags);

	if (BPF_CORE_READ(req, opcode) == URING_OPENAT)
		flags &= ~O_LARGEFILE; /* the kernel's own addition */
	scratch->state.syscall_flags = flags;
	if (flags & (O_CREAT | O_TMPFILE_BIT))
		scratch->state.mode = BPF_CORE_READ(open, how.mode);
	if (!BPF_CORE_READ(open, file_slot)) /* else it gets no descriptor */
		scratch->state.files = (__u64)task->files;
	uring_take_path(task, scratch, (__u64)req, BPF_CORE_READ(open, filename),
			BPF_CORE_READ(open, dfd));
}

static __always_inline void uring_take_metadata(struct task_struct *task,
						struct uring_scratch *scratch, struct io_kiocb *req,
						__u8 operation)
{
	struct async_state *state = &scratch->state;
	struct io_unlink *unlink = (void *)req;
	struct io_statx *statx = (void *)req;
	struct io_close *close = (void *)req;
	struct io_sync *sync = (void *)req;

	switch (operation) {
	case URING_OPENAT:
	case URING_OPENAT2: uring_take_open(task, scratch, req); break;
	case URING_STATX:
		state->syscall_flags = BPF_CORE_READ(statx, flags);
		uring_take_path(task, scratch, (__u64)req, BPF_CORE_READ(statx, filename),
				BPF_CORE_READ(statx, dfd));
		break;
	case URING_UNLINKAT:
		state->syscall_flags = BPF_CORE_READ(unlink, flags);
		uring_take_path(task, scratch, (__u64)req, BPF_CORE_READ(unlink, filename),
				BPF_CORE_READ(unlink, dfd));
		break;
	case URING_CLOSE:
		if (!BPF_CORE_READ(close, file_slot))
			async_take_file(task, state, BPF_CORE_READ(close, fd), 0);
		state->pos = RECORD_NULL;
		break;
	default:
		uring_take_descriptor(task, state, req, -1);
		state->pos = RECORD_NULL;
		if (operation == URING_FSYNC) {
			state->syscall_flags = BPF_CORE_READ(sync, flags);
			break;
		}
		state->mode = BPF_CORE_READ(sync, mode);
		state->pos = BPF_CORE_READ(sync, off);
		state->requested = BPF_CORE_READ(sync, len);
	}
}

/* Writes the record of a request on metadata, with its path if it has one. */
static __always_inline void uring_send_fs(struct async_state *state, __u64 key, __s64 returned,
					  __u64 end, __u8 flags)
{
	struct uring_scratch *scratch = uring_scratch_get();
	struct uring_path *path;
	long size = 0;

	if (!scratch)
		return;
	async_fill_fs(&scratch->record, state, returned, end, flags);
	path = bpf_map_lookup_elem(&uring_paths, &key);
	if (path) {
		size = bpf_probe_read_kernel_str(scratch->path.text, PATH_BYTES, path->text);
		bpf_map_delete_elem(&uring_paths, &key);
	}
	if (size < 0 || size > PATH_BYTES)
		size = 0;
	if (state->file || !size ? !prefix_has_file(state->file)
				 : !prefix_has_text(scratch->path.text, state->dir))
		return;
	scratch->record.path_size = size;
	ring_output(&scratch->record, sizeof(scratch->record) + size, LAYER_fs, 0);
}

/* A request at the address of one whose end was not seen: it had asked for no completion (IOSQE_CQE_SKIP_SUCCESS), and got
 * none as it did not fail. */
static __noinline int uring_end_unseen(struct async_key *key)
{
	struct async_state *old = bpf_map_lookup_elem(&asyncs, key);

	if (!old)
		return 0;
	if (async_moves_data(old))
		async_send_io(old, 0, old->ts, RECORD_UNFINISHED);
	else
		uring_send_fs(old, key->id, 0, old->ts, RECORD_UNFINISHED);
	return 0;
}

static __noinline int uring_begin(struct task_struct *task, struct io_kiocb *req, __u8 operation)
{
	struct uring_scratch *scratch = uring_scratch_get();
	__u8 layer = operation_of(operation)->layer;
	struct task_state *submitter = task_state_recorded(task, layer);
	struct async_key key = { .id = (__u64)req };
	struct async_state *state;

	if (!scratch || !submitter)
		return 0;
	uring_end_unseen(&key);
	state = &scratch->state;
	__builtin_memset(state, 0, sizeof(*state));
	state->syscall = operation_of(operation)->syscall;
	state->layer = layer;
	state->ts = bpf_ktime_get_boot_ns();
	state->pid = submitter->pid;
	state->tid = submitter->tid;
	state->fd = DESCRIPTOR_NONE;
	state->pos = RECORD_NULL;
	state->requested = RECORD_NULL;
	state->syscall_flags = RECORD_NULL;
	state->mode = RECORD_NULL;
	if (layer == LAYER_io)
		uring_take_transfer(task, state, req, operation);
	else
		uring_take_metadata(task, scratch, req, operation);
	async_keep(&key, state, layer);
	return 0;
}

static __always_inline int uring_submitted(struct io_kiocb *req)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u8 operation = BPF_CORE_READ(req, opcode);

	if (!task_may_be_recorded(task) || operation >= URING_NUMBERS ||
	    !operation_of(operation)->syscall)
		return 0;
	return uring_begin(task, (void *)req, operation);
}

SEC("?tp_btf/io_uring_submit_req")
int BPF_PROG(uring_submit, struct io_kiocb *req)
{
	return uring_submitted(req);
}

/* As it was called before 6.4. */
SEC("?tp_btf/io_uring_submit_sqe")
int BPF_PROG(uring_submit_sqe, struct io_kiocb *req)
{
	return uring_submitted(req);
}

/* ---- completion ---- */

/* The file that an open gave a descriptor to, if the current thread shares the descriptors. */
static __always_inline void uring_take_opened(struct async_state *state, __s64 returned)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file *file;

	if (returned < 0 || !state->files)
		return;
	state->fd = returned;
	if (state->files != (__u64)task->files)
		return;
	file = path_descriptor(task, returned);
	if (file)
		state->file = path_of_file(file);
}

/* The file of a request as it is known when it is done: it may have been named by its place among those
 * registered with the ring. */
static __always_inline void uring_take_fixed(struct async_state *state, struct io_kiocb *req)
{
	struct file *file = BPF_CORE_READ(req, file);
	struct file_view view;

	if (!file)
		return;
	file_read(&view, file);
	state->file = path_lookup(&view);
	if (view.flags & O_DIRECT)
		state->flags |= RECORD_DIRECT;
	if (!(view.mode & FMODE_LSEEK))
		state->pos = RECORD_NULL;
}

/* Where in the file a transfer worked: the kernel keeps the position with the request, and has moved it by what was
 * transferred. */
static __always_inline void uring_take_position(struct async_state *state, struct io_kiocb *req,
						__s64 returned)
{
	struct io_rw *rw = (void *)req;

	if (BPF_CORE_READ(req, file, f_mode) & FMODE_LSEEK)
		state->pos = BPF_CORE_READ(rw, kiocb.ki_pos) - (returned > 0 ? returned : 0);
}

/* A transfer that was in flight when the recording began. */
static __always_inline int uring_end_early(struct io_kiocb *req, __s64 returned, __u64 end,
					   __u8 syscall)
{
	struct task_struct *task = request_submitter(req);
	struct uring_scratch *scratch = uring_scratch_get();
	struct io_rw *rw = (void *)req;
	struct async_state *state;

	if (!scratch || !task || !(config.record_all || job_bit_of(BPF_CORE_READ(task, pid))))
		return 0;
	state = &scratch->state;
	__builtin_memset(state, 0, sizeof(*state));
	state->syscall = syscall;
	state->ts = shared.start_ts;
	state->pid = task_process_far(task);
	state->tid = task_number_far(task);
	state->fd = DESCRIPTOR_NONE;
	state->pos = BPF_CORE_READ(rw, kiocb.ki_pos) - returned;
	state->flags = RECORD_NO_REQUESTED;
	uring_take_fixed(state, req);
	async_send_io(state, returned, end, 0);
	return 0;
}

static __noinline int uring_end(struct io_kiocb *req, __s64 returned)
{
	struct async_key key = { .id = (__u64)req };
	struct async_state *state = bpf_map_lookup_elem(&asyncs, &key);
	__u64 end = bpf_ktime_get_boot_ns();
	__u8 operation = BPF_CORE_READ(req, opcode) & (URING_NUMBERS - 1);

	if (!state && !shared.async_refused && returned >= 0 &&
	    operation_of(operation)->layer == LAYER_io)
		return uring_end_early(req, returned, end, operation_of(operation)->syscall);
	if (!state)
		return 0;
	if (operation == URING_OPENAT || operation == URING_OPENAT2)
		uring_take_opened(state, returned);
	else if (state->fd == DESCRIPTOR_NONE && request_has_fixed_file(req))
		uring_take_fixed(state, req);
	if (operation_of(operation)->layer == LAYER_io) {
		uring_take_position(state, req, returned);
		async_send_io(state, returned, end, 0);
	} else {
		uring_send_fs(state, key.id, returned, end, 0);
	}
	bpf_map_delete_elem(&asyncs, &key);
	return 0;
}

static __always_inline bool uring_moves_paths(struct io_kiocb *req, __u8 operation)
{
	struct io_unlink *unlink = (void *)req;

	return operation == URING_RENAMEAT ||
	       (operation == URING_UNLINKAT && BPF_CORE_READ(unlink, flags) & AT_REMOVEDIR);
}

static __always_inline int uring_completed(struct io_kiocb *req, __s64 returned)
{
	__u8 operation = req ? BPF_CORE_READ(req, opcode) : 0;

	if (!shared.recording || !req || operation >= URING_NUMBERS)
		return 0;
	if (!returned && uring_moves_paths(req, operation)) /* by whomever */
		__sync_fetch_and_add(&shared.path_epoch, 1);
	if (!operation_of(operation)->syscall)
		return 0;
	return uring_end(req, returned);
}

SEC("?tp_btf/io_uring_complete")
int BPF_PROG(uring_complete, void *ring, void *req, struct io_uring_cqe *cqe)
{
	return uring_completed(req, cqe->res);
}

/* Before 6.16 the result is an argument of its own. */
SEC("?tp_btf/io_uring_complete")
int BPF_PROG(uring_complete_result, void *ring, void *req, __u64 user_data, int result)
{
	return uring_completed(req, result);
}
