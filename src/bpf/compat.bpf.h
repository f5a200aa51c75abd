/* Every difference between kernels, each behind one accessor. */
#ifndef STRATA_BPF_COMPAT_BPF_H
#define STRATA_BPF_COMPAT_BPF_H

#include "bpf/typed.bpf.h"

#define CGROUP_DEPTH 32

/* The size of a folio. Its order moved into the second word of flags in 6.6. */
static __always_inline __u64 folio_bytes(struct folio *folio)
{
	struct folio___6_1 *older = (void *)folio;
	unsigned long flags = 0;
	__u8 order = 0;

	bpf_probe_read_kernel(&flags, sizeof(flags), folio); /* always the first word */
	if (!(flags & 1ul << bpf_core_enum_value(enum pageflags, PG_head)))
		return 4096;
	if (bpf_core_field_exists(older->_folio_order))
		order = BPF_CORE_READ(older, _folio_order);
	else
		order = BPF_CORE_READ(folio, _flags_1) & 0xff;
	return 4096ull << (order & 31);
}

/* Whether a thread that leaves its CPU does so to wait for storage, as /proc/stat counts it. */
static __always_inline bool task_waits_for_io(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, in_iowait);
}

/* Since 6.12 a thread that sleeps may stay on the run queue until its turn comes. */
static __always_inline bool task_delayed(struct task_struct *task)
{
	return bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;
}

/* Bytes that a thread has read and written are counted where the kernel is built with
 * CONFIG_TASK_IO_ACCOUNTING (storage) and CONFIG_TASK_XACCT (calls). */
#define TASK_IO(field)                                                                 \
	static __always_inline __u64 task_##field(struct task_struct *task)            \
	{                                                                              \
		return bpf_core_field_exists(task->ioac.field) ? task->ioac.field : 0; \
	}
TASK_IO(read_bytes)
TASK_IO(write_bytes)
TASK_IO(rchar)
TASK_IO(wchar)

/* The bits of enum job_counter for what this kernel does not count. */
static __always_inline __u32 task_missing_counters(void)
{
	struct task_struct *task = NULL;
	__u32 missing = 0;

	if (!bpf_core_field_exists(task->ioac.read_bytes))
		missing |= 1u << JOB_READ_BYTES | 1u << JOB_WRITE_BYTES;
	if (!bpf_core_field_exists(task->ioac.rchar))
		missing |= 1u << JOB_RCHAR | 1u << JOB_WCHAR;
	return missing;
}

/* Whether the kernel lets the owner of a process look into it. The flags became an array in 6.18. */
static __always_inline bool mm_dumpable(struct mm_struct *mm)
{
	struct mm_struct___6_18 *newer = (void *)mm;
	unsigned long flags = 0;

	if (bpf_core_field_exists(newer->flags.__mm_flags))
		bpf_core_read(&flags, sizeof(flags), &newer->flags);
	else
		flags = BPF_CORE_READ(mm, flags);
	return (flags & 3) == 1;
}

/* kernfs_node.parent became __parent, under RCU, in 6.15. */
static __always_inline struct kernfs_node *kernfs_parent(struct kernfs_node *node)
{
	struct kernfs_node___6_15 *newer = (void *)node;

	if (bpf_core_field_exists(newer->__parent))
		return BPF_CORE_READ(newer, __parent);
	return BPF_CORE_READ(node, parent);
}

/* A request that waits for the device's cache to be flushed, before or after its data: it completes once for
 * the data and once more, without this mark, at its end. The bits were no enum before 6.11. */
static __always_inline bool request_in_flush(struct request *rq)
{
	__u32 bit = 4;

	if (bpf_core_enum_value_exists(enum rqf_flags, __RQF_FLUSH_SEQ))
		bit = bpf_core_enum_value(enum rqf_flags, __RQF_FLUSH_SEQ);
	return rq->rq_flags >> bit & 1;
}

/* Swapping, which direct I/O may lead to; not told apart before 5.19. */
static __always_inline bool request_swaps(__u32 flags)
{
	return bpf_core_enum_value_exists(enum req_flag_bits, __REQ_SWAP) &&
	       flags >> bpf_core_enum_value(enum req_flag_bits, __REQ_SWAP) & 1;
}

/* The address space that a page belongs to, 0 for an anonymous page: kept in the head of a compound page,
 * which was no folio before 5.16. */
static __always_inline struct address_space *page_mapping(struct page *page)
{
	__u64 head = BPF_CORE_READ(page, compound_head),
	      mapping; /* a plain load would be a pointer */

	if (head & 1)
		page = (void *)(head - 1);
	if (bpf_core_field_exists(((struct folio *)0)->mapping))
		mapping = (__u64)BPF_CORE_READ((struct folio *)page, mapping);
	else
		mapping = (__u64)BPF_CORE_READ(page, mapping);
	return mapping & 1 ? NULL : (void *)(mapping & ~3ull);
}

/* Whether a request of io_uring names its file by its place in a table of the ring, not by a descriptor. The
 * flags grew in 6.9. */
static __always_inline bool request_has_fixed_file(struct io_kiocb *req)
{
	struct io_kiocb___6_8 *older = (void *)req;

	if (bpf_core_field_size(req->flags) == sizeof(__u64))
		return BPF_CORE_READ(req, flags) & 1;
	return BPF_CORE_READ(older, flags) & 1;
}

/* The thread that a request of io_uring is of; by way of its io_uring context since 6.13. */
static __always_inline struct task_struct *request_submitter(struct io_kiocb *req)
{
	struct io_kiocb___6_12 *older = (void *)req;

	if (bpf_core_field_exists(older->task))
		return BPF_CORE_READ(older, task);
	return BPF_CORE_READ(req, tctx, task);
}

/* Whether an open file has more than one reference: other descriptors, other processes, a call under way. */
static __always_inline bool file_has_others(struct file *file)
{
	struct file___6_12 *older = (void *)file;

	if (bpf_core_field_exists(older->f_count))
		return typed_read_as(struct file___6_12, file, file, f_count.counter) > 1;
	return typed_read(file, file, f_ref.refcnt.counter) > 0;
}

/* Reads a string of the current thread's. Returns its size with NUL, 0 when it cannot be read. Before 6.14
 * the helper says 0 of an empty string too. */
static __always_inline __u32 user_string_read(char *to, __u32 most, __u64 pointer)
{
	long size = bpf_probe_read_user_str(to, most, (void *)pointer);

	if (size == 0 && !bpf_probe_read_user(to, 1, (void *)pointer) && !*to)
		return 1;
	return size > 0 ? size : 0;
}

#endif
