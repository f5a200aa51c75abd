/* Requests to block devices: the layer block.
 *
 * What is known of a request from its beginning is kept in a map by its address, from the moment it is
 * made (or first seen) to its end, when one record is written. A request that was merged into another
 * ends there without a record; one that is completed in parts, issued again or followed by a flush ends
 * once: this is how the kernel's own disk statistics count.
 *
 *     io_start (before 6.5: rq_insert) ─▶ rq_issue ─▶ rq_complete ...     rq_merge: gone
 *
 * Which file: the pages of cached I/O belong to an inode, whose name the calls that opened it told
 * (path.bpf.h), or the call in flight tells. The pages of direct I/O are the caller's memory: the file is
 * the one that the transfer itself or the call in flight names. Who: the current thread, but for the
 * kernel's own writeback the one that dirtied the file last.
 */
#include "bpf/block_file.bpf.h"

#include "bpf/compat.bpf.h"

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";

#define REQUESTS_IN_FLIGHT 16384

/* The kernel's operations; even ones read, odd ones write. */
enum { OP_READ = 0, OP_WRITE = 1, OP_FLUSH = 2, OP_DISCARD = 3, OP_APPEND = 7, OP_DRIVER = 34 };

/* Indices into block_op_names. */
enum { NAME_READ, NAME_WRITE, NAME_FLUSH, NAME_DISCARD };

/* Set by strata before load. */
const volatile bool block_starts = false; /* the kernel tells when a request is made */

struct request_state {
	__u64 queued;
	__u64 issued; /* 0: not yet */
	__u64 sector;
	__u64 done;  /* bytes completed */
	__u64 inode; /* address; 0: not cached I/O */
	__u32 flags; /* the kernel's cmd_flags */
	__u32 cpu;
	__u32 pid;
	__u32 tid;
	__u32 file;
	__s32 error;
	__u8 job;    /* caused by the job */
	__u8 unseen; /* its beginning was not seen */
	__u8 pad[6];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUESTS_IN_FLIGHT);
	__type(key, __u64);
	__type(value, struct request_state);
} requests SEC(".maps");

/* The page dirtied last on each CPU: most often the next one is of the same file and thread. */
struct dirtied {
	__u64 inode;
	__u64 inode_number;
	__u32 generation;
	__u32 tid;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dirtied);
} dirtied_last SEC(".maps");

static __always_inline __u8 request_op(__u32 flags)
{
	return flags & 0xff;
}

static __always_inline bool request_flag(__u32 flags, __u32 bit)
{
	return flags >> bit & 1;
}

#define REQUEST_FLAG(flags, name) \
	request_flag(flags, bpf_core_enum_value(enum req_flag_bits, __REQ_##name))

/* ---- the beginning ---- */

/* Finds the file of a request that moves data, and, for what the kernel itself writes, who dirtied it. */
static __always_inline void request_find_file(struct request_state *state, struct bio *bio,
					      struct task_struct *task, struct task_state *recorded)
{
	struct inode *inode = bio_inode(bio);
	struct inode_entry *entry;

	state->inode = (__u64)inode;
	if (REQUEST_FLAG(state->flags, META) || request_swaps(state->flags))
		return;
	state->file = file_of_recorded(recorded, inode);
	if (state->file)
		return;
	if (inode_is_memory(inode)) {
		state->file = file_of_direct(task, bio);
		return;
	}
	entry = inode_find((__u64)inode, BPF_CORE_READ(inode, i_ino),
			   BPF_CORE_READ(inode, i_generation));
	if (entry && task->flags & PF_KTHREAD && request_op(state->flags) & 1) {
		state->pid = entry->pid;
		state->tid = entry->tid;
		state->job = entry->job;
	}
	state->file = file_of_cached(task, inode, entry);
}

/* Finds the file, and the thread that caused the request, while that is the current one. */
static __always_inline void request_find_cause(struct request_state *state, struct request *rq)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *recorded = task_find(task);
	__u8 op = request_op(state->flags);
	struct bio *bio = rq->bio;

	if (bio && rq->__data_len && (op == OP_READ || op == OP_WRITE || op == OP_APPEND))
		request_find_file(state, bio, task, recorded);
	if (state->tid || task->flags & PF_WQ_WORKER) /* a worker acts for others */
		return;
	state->pid = task_number(task->group_leader);
	state->tid = task_number(task);
	state->job = job_bit(task);
}

/* When a request that is seen for the first time was made; `otherwise` when the kernel did not note it. */
static __always_inline __u64 request_made(struct request *rq, __u64 now, __u64 otherwise)
{
	__u64 made = rq->start_time_ns; /* CLOCK_MONOTONIC */

	if (!made)
		return otherwise;
	made = now - (bpf_ktime_get_ns() - made);
	return made < start_ts ? start_ts : made > now ? now : made;
}

/* Begins to keep a request's state, if it is recorded. */
static __always_inline void request_begin(struct request *rq, __u64 queued, bool by_current,
					  bool unseen)
{
	struct request_state state = {};
	__u64 key = (__u64)rq;

	state.flags = rq->cmd_flags;
	if (request_op(state.flags) >=
	    OP_DRIVER) /* a driver's own commands are no I/O of anybody */
		return;
	state.queued = queued;
	state.sector = rq->__sector;
	state.unseen = unseen;
	if (by_current)
		request_find_cause(&state, rq);
	if (!process_all && !state.job)
		return;
	if (bpf_map_update_elem(&requests, &key, &state, BPF_ANY))
		loss_count(LAYER_block, LOSS_REQUEST);
}

SEC("?tp_btf/block_io_start")
int BPF_PROG(block_start, struct request *rq)
{
	if (recording)
		request_begin(rq, bpf_ktime_get_boot_ns(), true, false);
	return 0;
}

/* Where requests are not told of when they are made. */
SEC("?tp_btf/block_rq_insert")
int BPF_PROG(block_insert, struct request *rq)
{
	__u64 key = (__u64)rq, now;

	if (!recording || bpf_map_lookup_elem(&requests, &key)) /* inserted again */
		return 0;
	now = bpf_ktime_get_boot_ns();
	request_begin(rq, request_made(rq, now, now), true, false);
	return 0;
}

SEC("?tp_btf/block_rq_merge")
int BPF_PROG(block_merge, struct request *rq)
{
	__u64 key = (__u64)rq;

	bpf_map_delete_elem(&requests, &key);
	return 0;
}

/* ---- the middle ---- */

/* A request that merges made of two files' pages is of neither. */
static __always_inline void request_check_file(struct request_state *state, struct request *rq)
{
	struct bio *first = rq->bio, *last = rq->biotail;

	if (first && last && first != last && state->inode && bio_inode(first) != bio_inode(last))
		state->file = 0;
}

SEC("?tp_btf/block_rq_issue")
int BPF_PROG(block_issue, struct request *rq)
{
	struct request_state *state;
	__u64 key = (__u64)rq, now;

	if (!recording)
		return 0;
	state = bpf_map_lookup_elem(&requests, &key);
	now = bpf_ktime_get_boot_ns();
	if (!state) {
		/* Without a start: a flush, made by the kernel for whoever waits for one. */
		if (!block_starts && request_op(rq->cmd_flags) != OP_FLUSH)
			request_begin(rq, request_made(rq, now, now), true, false);
		else if (process_all)
			request_begin(rq, request_made(rq, now, now), false, false);
		state = bpf_map_lookup_elem(&requests, &key);
	}
	if (!state || state->done) /* the rest of one that is done in part */
		return 0;
	state->issued = now;
	state->cpu = bpf_get_smp_processor_id();
	state->sector = rq->__sector; /* as merges have left it */
	state->flags = rq->cmd_flags;
	request_check_file(state, rq);
	return 0;
}

/* ---- the end ---- */

/* As /proc/diskstats does: what erases or zeroes is a write, unless it is a discard. */
static __always_inline __u8 request_name(__u32 flags)
{
	__u8 op = request_op(flags);

	if (op == OP_FLUSH)
		return NAME_FLUSH;
	if (op == OP_DISCARD)
		return NAME_DISCARD;
	return op & 1 ? NAME_WRITE : NAME_READ;
}

static __always_inline __u32 request_flags(struct request_state *state)
{
	__u32 flags = state->flags;
	bool ahead = REQUEST_FLAG(flags, RAHEAD);
	bool sync = (request_op(flags) == OP_READ && !ahead) || REQUEST_FLAG(flags, SYNC) ||
		    REQUEST_FLAG(flags, FUA) || REQUEST_FLAG(flags, PREFLUSH);

	return (sync ? BLOCK_SYNC : 0) | (REQUEST_FLAG(flags, META) ? BLOCK_META : 0) |
	       (ahead ? BLOCK_AHEAD : 0) | (state->issued ? BLOCK_ISSUED : 0);
}

static __always_inline __u32 request_done_by(struct task_struct *task)
{
	__u32 pid = task_number(task->group_leader);

	return pid || !task->pid ? pid : BLOCK_NOBODY; /* 0 is the idle thread */
}

static __always_inline void request_send(struct request *rq, struct request_state *state, __u64 now)
{
	struct block_record *record;
	__u64 begun = state->issued ? state->issued : state->queued;
	struct gendisk *disk = rq->q->disk;

	if (!prefix_has_file(state->file))
		return;
	record = ring_reserve(sizeof(*record), LAYER_block);
	if (!record)
		return;
	record->head.type = RECORD_BLOCK;
	record->head.call = request_name(state->flags);
	record->head.flags = 0;
	record->head.pad = 0;
	record->head.cpu = state->cpu;
	record->head.pid = state->pid;
	record->head.tid = state->tid;
	record->head.ts = state->queued;
	record->head.dur = now - begun;
	record->queued = state->unseen ? RECORD_NULL : (__s64)(begun - state->queued);
	record->sector = state->sector;
	record->bytes = state->done;
	record->file = state->file;
	record->done_pid = request_done_by(bpf_get_current_task_btf());
	record->error = state->error;
	record->flags = request_flags(state);
	if (!disk || bpf_probe_read_kernel(record->disk, sizeof(record->disk), disk->disk_name))
		record->disk[0] = 0;
	ring_submit(record);
}

/* Up to 5.17 `error` is an error number, later a blk_status_t. */
SEC("?tp_btf/block_rq_complete")
int BPF_PROG(block_complete, struct request *rq, int error, unsigned int bytes)
{
	struct request_state *state;
	__u64 key = (__u64)rq, now;
	bool last;

	if (!recording)
		return 0;
	last = bytes >= rq->__data_len &&
	       (!request_in_flush(rq) || request_op(rq->cmd_flags) == OP_FLUSH);
	state = bpf_map_lookup_elem(&requests, &key);
	now = bpf_ktime_get_boot_ns();
	if (!state && process_all) { /* in flight when the recording began */
		request_begin(rq, request_made(rq, now, start_ts), false, true);
		state = bpf_map_lookup_elem(&requests, &key);
	}
	if (!state)
		return 0;
	state->done += bytes;
	if (error && !state->error)
		state->error = error;
	if (!last)
		return 0;
	request_send(rq, state, now);
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

/* ---- who dirties files ---- */

/* Notes who dirtied an inode, and under which name. */
static __always_inline void dirtied_note(struct task_struct *task, struct inode *inode,
					 __u64 number, __u32 generation)
{
	struct inode_entry fresh = {}, *entry;
	bool known = !(task->flags & PF_KTHREAD);
	__u64 key = (__u64)inode;

	entry = inode_find(key, number, generation);
	if (!entry) {
		fresh.inode_number = number;
		fresh.generation = generation;
		bpf_map_update_elem(&inodes, &key, &fresh, BPF_ANY);
		entry = bpf_map_lookup_elem(&inodes, &key);
		if (!entry)
			return;
	}
	entry->pid = known ? task_number(task->group_leader) : 0;
	entry->tid = known ? task_number(task) : 0;
	entry->job = known && job_bit(task);
	if (!entry->file)
		file_of_call(task, inode);
}

static __always_inline int page_dirtied(struct address_space *mapping)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct inode *inode = mapping ? mapping->host : NULL;
	struct dirtied *last;
	__u32 zero = 0;

	last = bpf_map_lookup_elem(&dirtied_last, &zero);
	if (!inode || !last || !recording)
		return 0;
	if (last->inode == (__u64)inode && last->tid == (__u32)task->pid &&
	    last->inode_number == inode->i_ino && last->generation == inode->i_generation)
		return 0;
	if ((inode->i_mode & S_IFMT) != S_IFREG) /* a device's pages are everybody's */
		return 0;
	last->inode = (__u64)inode;
	last->tid = task->pid;
	last->inode_number = inode->i_ino;
	last->generation = inode->i_generation;
	dirtied_note(task, inode, last->inode_number, last->generation);
	return 0;
}

SEC("?tp_btf/writeback_dirty_folio")
int BPF_PROG(block_dirty_folio, struct folio *folio, struct address_space *mapping)
{
	return page_dirtied(mapping);
}

/* As it was called before 5.16. */
SEC("?tp_btf/writeback_dirty_page")
int BPF_PROG(block_dirty_page, struct page *page, struct address_space *mapping)
{
	return page_dirtied(mapping);
}
