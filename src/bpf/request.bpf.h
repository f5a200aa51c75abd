/* What is known of a request to a block device while it is in flight, who caused it and which file it is
 * of, and the record at its end. A device that makes no requests of its bios (dm, md, zram) has its bios
 * instead: both are kept in one map, by their addresses.
 *
 * Which file: the pages of cached I/O belong to an inode, whose name the calls that opened it told
 * (path.bpf.h), or the call in flight tells. The pages of direct I/O are the caller's memory: the file is
 * the one that the transfer itself or the call in flight names. Who: the current thread, but for the
 * kernel's own writeback the one that dirtied the file last.
 */
#ifndef STRATA_BPF_BLOCK_STATE_BPF_H
#define STRATA_BPF_BLOCK_STATE_BPF_H

#include "bpf/block.h"
#include "bpf/block_file.bpf.h"

#include "bpf/compat.bpf.h"

#define REQUESTS_IN_FLIGHT 16384

/* The kernel's operations; even ones read, odd ones write. */
enum { OP_READ = 0, OP_WRITE = 1, OP_FLUSH = 2, OP_DISCARD = 3, OP_APPEND = 7, OP_DRIVER = 34 };

/* Indices into block_op_names. */
enum { NAME_READ, NAME_WRITE, NAME_FLUSH, NAME_DISCARD };

struct request_state {
	__u64 disk; /* address of the struct gendisk */
	__u64 queued;
	__u64 issued; /* 0: not yet */
	__u64 sector;
	__u64 bytes; /* completed; of a bio, as submitted */
	__u64 size;  /* as asked for */
	__u64 inode; /* address; 0: not cached I/O */
	__u32 flags; /* the kernel's cmd_flags */
	__u32 cpu;
	__u32 pid;
	__u32 tid;
	__u32 file;
	__s32 error;
	__u8 job;	/* caused by the job */
	__u8 unqueued;	/* nothing is known of a time in a queue */
	__u8 handed_on; /* a bio that a request of another disk was made of */
	__u8 pad[5];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUESTS_IN_FLIGHT);
	__type(key, __u64);
	__type(value, struct request_state);
} requests SEC(".maps");

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

/* Finds the file of a request that moves data, and, for what the kernel itself writes, who dirtied it. */
static __always_inline void request_find_file(struct request_state *state, struct bio *bio,
					      struct task_struct *task, struct task_state *recorded)
{
	struct inode *inode = bio_inode(bio);
	struct inode_entry known;
	bool found;

	state->inode = (__u64)inode;
	if (REQUEST_FLAG(state->flags, META) || request_swaps(state->flags))
		return;
	state->file = file_of_recorded(recorded, inode);
	if (state->file)
		return;
	if (inode_is_memory(inode)) {
		if (config.own_only && !job_bit(task))
			return;
		state->file = file_of_direct(task, bio);
		return;
	}
	found = inode_read(&known, (__u64)inode, BPF_CORE_READ(inode, i_ino),
			   BPF_CORE_READ(inode, i_generation));
	if (found && task->flags & PF_KTHREAD && request_op(state->flags) & 1) {
		state->pid = dirtied_pid(known.dirtied);
		state->tid = dirtied_tid(known.dirtied);
		state->job = dirtied_job(known.dirtied);
	}
	state->file = file_of_cached(task, inode, found ? &known : NULL);
}

/* Finds the file, and the thread that caused the request, while that is the current one. */
static __always_inline void request_find_cause(struct request_state *state, struct bio *bio,
					       __u32 bytes)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *recorded = task_find(task);
	__u8 op = request_op(state->flags);

	/* Names of files that others use must not even be looked up. What the kernel's threads write is known by who
	 * dirtied it, which is only noted of the job. */
	if (config.own_only && !job_bit(task) && !(task->flags & PF_KTHREAD))
		return;
	if (bio && bytes && (op == OP_READ || op == OP_WRITE || op == OP_APPEND))
		request_find_file(state, bio, task, recorded);
	if (state->tid || task->flags & PF_WQ_WORKER) /* a worker acts for others */
		return;
	state->pid = task_process(task);
	state->tid = task_number(task);
	state->job = job_bit(task);
}

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

/* end: 0 when it was not seen. */
static __always_inline void request_send(struct request_state *state, __u64 end)
{
	__u64 begun = state->issued ? state->issued : state->queued;
	struct gendisk *disk = (void *)state->disk;
	struct block_record *record;

	if (!prefix_has_file(state->file))
		return;
	record = ring_reserve(sizeof(*record), LAYER_block);
	if (!record)
		return;
	record_head(&record->head, PROBE_block, 0, request_name(state->flags),
		    end ? 0 : RECORD_UNFINISHED);
	record->head.cpu = state->cpu;
	record->head.pid = state->pid;
	record->head.tid = state->tid;
	record->head.ts = state->queued;
	record->head.dur = end ? end - begun : 0;
	record->queued = state->unqueued ? RECORD_NULL : (__s64)(begun - state->queued);
	record->sector = state->sector;
	record->bytes = end ? state->bytes : state->size;
	record->file = state->file;
	record->done_pid = task_process(bpf_get_current_task_btf());
	record->error = state->error;
	record->flags = request_flags(state);
	if (!disk || bpf_probe_read_kernel(record->disk, sizeof(record->disk), disk->disk_name))
		record->disk[0] = 0;
	ring_submit(record);
}

/* Keeps what is known of a request. Another one at its address is over, and its end was not seen: some
 * kernels let no program run in an interrupt of a thread that they hide. */
static __always_inline void request_keep(__u64 key, struct request_state *state)
{
	struct request_state *before;

	if (!prefix_has_file(state->file) ||
	    !bpf_map_update_elem(&requests, &key, state, BPF_NOEXIST))
		return;
	before = bpf_map_lookup_elem(&requests, &key);
	if (before)
		request_send(before, 0);
	if (bpf_map_update_elem(&requests, &key, state, BPF_ANY))
		loss_count(LAYER_block, LOSS_REQUEST);
}

/* ---- bios ---- */

/* How many bios in flight a request of another disk was made of: while there are none, nobody looks for them. */
__u32 bios_handed_on = 0;

/* Ends a bio, given its address, if it is a row. */
__noinline int bio_end(__u64 *bio, int error)
{
	struct request_state *state;
	__u64 key = bio ? *bio : 0; /* kernels before 6.3 look up no key that is elsewhere */

	state = bpf_map_lookup_elem(&requests, &key);
	if (!state)
		return 0;
	state->error = error;
	request_send(state, bpf_ktime_get_boot_ns());
	if (state->handed_on)
		__sync_fetch_and_sub(&bios_handed_on, 1);
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

#endif
