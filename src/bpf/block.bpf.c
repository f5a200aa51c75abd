/* Requests to block devices: the layer block.
 *
 * What is known of a request from its beginning is kept in a map by its address, from the moment it is
 * made (or first seen) to its end, when one record is written. A request that was merged into another
 * ends there without a record; one that is completed in parts, issued again or followed by a flush ends
 * once: this is how the kernel's own disk statistics count.
 *
 *     io_start (before 6.5: rq_insert) ─▶ rq_issue ─▶ rq_complete ...     rq_merge: gone
 */
#include "bpf/bio.bpf.h"

/* Set by strata before load. */
const volatile bool block_starts = false; /* the kernel tells when a request is made */

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

/* ---- the beginning ---- */

/* When a request that is seen for the first time was made; `otherwise` when the kernel did not note it. */
static __always_inline __u64 request_made(struct request *rq, __u64 now, __u64 otherwise)
{
	__u64 made = rq->start_time_ns; /* CLOCK_MONOTONIC */

	if (!made)
		return otherwise;
	made = now - (bpf_ktime_get_ns() - made);
	return made < shared.start_ts ? shared.start_ts : made > now ? now : made;
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
	state.disk = (__u64)pointer_in(request, rq, q)->disk;
	state.queued = queued;
	state.sector = rq->__sector;
	state.size = rq->__data_len;
	state.unqueued = unseen;
	if (by_current)
		request_find_cause(&state, pointer_in(request, rq, bio), rq->__data_len);
	if (!config.process_all && !state.job)
		return;
	request_keep(key, &state);
}

SEC("?tp_btf/block_io_start")
int BPF_PROG(block_start, struct request *rq)
{
	if (rows_are_taken())
		request_begin(rq, bpf_ktime_get_boot_ns(), true, false);
	return 0;
}

/* Where requests are not told of when they are made. */
SEC("?tp_btf/block_rq_insert")
int BPF_PROG(block_insert, struct request *rq)
{
	__u64 key = (__u64)rq, now;

	if (!rows_are_taken() || bpf_map_lookup_elem(&requests, &key)) /* inserted again */
		return 0;
	now = bpf_ktime_get_boot_ns();
	request_begin(rq, request_made(rq, now, now), true, false);
	return 0;
}

SEC("tp_btf/block_rq_merge")
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
	struct bio *first = pointer_in(request, rq, bio);
	struct bio *last = pointer_in(request, rq, biotail);

	if (first && last && first != last && state->inode && bio_inode(first) != bio_inode(last))
		state->file = 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_issue, struct request *rq)
{
	struct request_state *state;
	__u64 key = (__u64)rq, now;

	if (!shared.recording)
		return 0;
	state = bpf_map_lookup_elem(&requests, &key);
	now = bpf_ktime_get_boot_ns();
	if (!state) {
		/* Without a start: a flush, made by the kernel for whoever waits for one. */
		if (!rows_are_taken())
			return 0;
		if (!block_starts && request_op(rq->cmd_flags) != OP_FLUSH)
			request_begin(rq, request_made(rq, now, now), true, false);
		else if (config.process_all)
			request_begin(rq, request_made(rq, now, now), false, false);
		state = bpf_map_lookup_elem(&requests, &key);
	}
	if (!state || state->bytes) /* the rest of one that is done in part */
		return 0;
	state->issued = now;
	state->cpu = bpf_get_smp_processor_id();
	state->sector = rq->__sector; /* as merges have left it */
	state->size = rq->__data_len;
	state->flags = rq->cmd_flags;
	request_check_file(state, rq);
	return 0;
}

/* ---- the end ---- */

#define REQUEST_BIOS 256 /* the most that drivers let a request be merged of */

/* Ends the bios that another disk handed on and that a completion is of: the kernel tells of the end of
 * requests, not of the bios that they were made of. One that is done in part is still to end. */
static __always_inline void request_end_bios(struct request *rq, int error, __u32 bytes)
{
	struct bio *bio = pointer_in(request, rq, bio);

	for (int i = 0; i < REQUEST_BIOS && bio; i++) {
		__u32 size = bio->bi_iter.bi_size;
		__u64 key = (__u64)bio;

		if (size > bytes)
			break;
		bio_end(&key, error);
		bytes -= size;
		if (!bytes)
			break;
		bio = bio->bi_next;
	}
}

/* Up to 5.17 `error` is an error number, later a blk_status_t. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_complete, struct request *rq, int error, unsigned int bytes)
{
	struct request_state *state;
	__u64 key = (__u64)rq, now;
	bool last;

	if (!shared.recording)
		return 0;
	if (bios_handed_on && !request_in_flush(rq))
		request_end_bios(rq, error, bytes);
	last = bytes >= rq->__data_len &&
	       (!request_in_flush(rq) || request_op(rq->cmd_flags) == OP_FLUSH);
	state = bpf_map_lookup_elem(&requests, &key);
	now = bpf_ktime_get_boot_ns();
	if (!state && config.process_all) { /* in flight when the recording began */
		request_begin(rq, request_made(rq, now, shared.start_ts), false, true);
		state = bpf_map_lookup_elem(&requests, &key);
	}
	if (!state)
		return 0;
	state->bytes += bytes;
	if (error && !state->error)
		state->error = error;
	if (!last)
		return 0;
	request_send(state, now);
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

/* At the end of a recording: those whose end was not seen. */
SEC("iter/bpf_map_elem")
int block_in_flight(struct bpf_iter__bpf_map_elem *context)
{
	struct request_state state, *found = context->value;

	if (!context->key || !found)
		return 0;
	state = *found;
	request_send(&state, 0);
	return 0;
}

/* ---- who dirties files ---- */

/* Notes who dirtied an inode, and under which name. */
static __always_inline void dirtied_note(struct task_struct *task, struct dirtied *now)
{
	struct inode_entry *entry = inode_lock(now->inode, now->inode_number, now->generation);
	bool named;

	if (!entry)
		return;
	entry->dirtied = task->flags & PF_KTHREAD
				 ? 0
				 : dirtied_by(task_process(task), task_number(task), job_bit(task));
	named = entry->file;
	inode_unlock(entry);
	if (!named)
		file_of_call(task, (void *)now->inode);
}

static __always_inline int page_dirtied(struct address_space *mapping)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct inode *inode = mapping ? pointer_in(address_space, mapping, host) : NULL;
	struct dirtied *last;
	__u32 zero = 0;

	last = bpf_map_lookup_elem(&dirtied_last, &zero);
	if (!inode || !last || !shared.recording || (config.own_only && !job_bit(task)))
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
	memory_order(); /* the address, read back, is a number to the verifier */
	dirtied_note(task, last);
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
