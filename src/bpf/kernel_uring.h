/* The kernel's types of asynchronous I/O: io_uring's requests, and what direct I/O hangs on a bio. See kernel.h. */
#ifndef STRATA_BPF_KERNEL_URING_H
#define STRATA_BPF_KERNEL_URING_H

#include "bpf/kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kiocb {
	struct file *ki_filp;
	long long ki_pos;
};

struct io_uring_task {
	struct task_struct *task;
};

struct io_cqe {
	int fd; /* until the request is done */
};

struct io_kiocb {
	struct file *file;
	__u8 opcode;
	__u64 flags;
	struct io_cqe cqe;
	struct io_uring_task *tctx;
};

/* Before 6.13 a request points to its thread itself, and flags are shorter. */
struct io_kiocb___6_12 {
	struct task_struct *task;
};

struct io_kiocb___6_8 {
	unsigned int flags;
};

struct io_uring_cqe {
	int res;
};

struct filename {
	const char *name;
};

struct open_how {
	__u64 flags;
	__u64 mode;
};

/* The beginnings of a request, by operation. */
struct io_rw {
	struct kiocb kiocb;
	__u64 addr;
	__u32 len;
};

struct io_sync {
	long long len;
	long long off;
	int flags;
	int mode;
};

struct io_open {
	int dfd;
	__u32 file_slot;
	struct filename *filename;
	struct open_how how;
};

struct io_close {
	int fd;
	__u32 file_slot;
};

struct io_statx {
	int dfd;
	unsigned int flags;
	struct filename *filename;
};

struct io_unlink {
	int dfd;
	int flags;
	struct filename *filename;
};

struct iomap_dio {
	struct kiocb *iocb;
};

#pragma clang attribute pop

#endif
