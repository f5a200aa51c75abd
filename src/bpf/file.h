/* What bpf/file.bpf.c, bpf/uring.bpf.c and probes/file.c share: records of calls on files and mappings, operations in
 * queues, and where calls have their arguments.
 */
#ifndef STRATA_BPF_FILE_H
#define STRATA_BPF_FILE_H

#include "bpf/records.h"

/* A mark is a faccessat() with this descriptor, which nobody has; its path is the text of the mark. */
#define MARK_DESCRIPTOR 0x53545241
#define MARK_BYTES	256

enum file_record_kind { FILE_IO, FILE_COPY, FILE_FS, FILE_MEM, FILE_MARK };

struct io_record {
	struct record head;
	__s64 returned;
	__u64 requested;
	__s64 pos;     /* RECORD_NULL: cannot seek, or not known */
	__s64 blocked; /* RECORD_NULL: not known */
	__s64 missed;  /* RECORD_NULL: not known */
	__s32 fd;      /* DESCRIPTOR_NONE: none */
	__u32 file;    /* file id, 0: none */
};

_Static_assert(sizeof(struct io_record) == 80, "struct io_record");

struct copy_record {
	struct io_record in;
	__s64 out_pos;
	__s32 out_fd;
	__u32 out_file;
};

_Static_assert(sizeof(struct copy_record) == 96, "struct copy_record");

struct fs_record {
	struct record head;
	__s64 returned;
	__s64 flags; /* these five are RECORD_NULL where the call has no such argument */
	__s64 mode;
	__s64 pos;
	__s64 length;
	__s64 fd;
	__s64 blocked; /* RECORD_NULL: not known */
	__u32 file;
	__u32 dir;
	__u32 dir2;
	__u16 path_size; /* with its NUL; 0: none, or not readable */
	__u16 path2_size;
}; /* followed by the paths */

_Static_assert(sizeof(struct fs_record) == 104, "struct fs_record");

struct mem_record {
	struct record head;
	__s64 returned;
	__u64 addr;
	__u64 length;
	__s64 old_length;
	__s64 prot;
	__s64 flags;
	__s64 pos;
	__s64 fd;
	__u32 file;
	__u32 pad;
};

_Static_assert(sizeof(struct mem_record) == 104, "struct mem_record");

struct mark_record {
	struct record head;
	__u32 size; /* of the text, with its NUL */
	__u32 pad;
	char text[MARK_BYTES];
};

_Static_assert(sizeof(struct mark_record) == 296, "struct mark_record");

#define DESCRIPTOR_NONE (-0x7fffffff - 1)

/* An operation in flight, in a queue. */
struct async_key {
	__u64 id;    /* the kernel's address of it, or with an owner the program's */
	__u64 owner; /* process; 0: io_uring */
};

_Static_assert(sizeof(struct async_key) == 16, "struct async_key");

struct async_state {
	__u64 ts;
	__s64 pos;	 /* these four are RECORD_NULL where the operation has no such argument */
	__s64 requested; /* bytes; of calls on metadata the length */
	__s64 syscall_flags;
	__s64 mode;
	__u64 files; /* address of the descriptor table that a file is opened into */
	__u32 pid;   /* of the thread that submitted it */
	__u32 tid;
	__s32 fd;   /* DESCRIPTOR_NONE: none */
	__u32 file; /* file id */
	__u32 dir;
	__u8 syscall;
	__u8 flags; /* enum record_flag */
	__u8 layer; /* enum layer */
	__u8 pad;
};

_Static_assert(sizeof(struct async_state) == 72, "struct async_state");

/* How a data call passes its arguments. */
enum io_shape {
	IO_NONE,
	IO_BUFFER,    /* fd, buffer, size */
	IO_BUFFER_AT, /* fd, buffer, size, pos */
	IO_VECTOR,    /* fd, vector, count */
	IO_VECTOR_AT, /* fd, vector, count, pos; pos -1 is the file's own, in the calls that allow it */
	IO_MESSAGE, /* fd, message header */
	IO_MESSAGES, /* fd, message headers with the length of each, count: returned is made of those lengths */
	IO_REMOTE,   /* process, vector, count: no descriptor */
	IO_TEE,	     /* in fd, out fd, size */
	IO_SENDFILE, /* out fd, in fd, &pos or NULL, size */
	IO_COPY,     /* in fd, &pos or NULL, out fd, &pos or NULL, size */
	IO_SUBMIT,   /* context, count, operations: no row, but one for each of them */
	IO_COLLECT,  /* context, least, most, completions: likewise */
};

/* Where a call's arguments are; ARGUMENT_NONE where there is none. */
#define ARGUMENT_NONE 7

struct syscall_shape {
	__u8 layer; /* enum layer */
	__u8 io;    /* enum io_shape */
	__u8 fd, dir, path, dir2, path2, flags, mode, pos, length;
	__u8 family; /* enum syscall_family */
	__u8 trait;  /* enum syscall_trait */
	__u8 pad[3];
};

_Static_assert(sizeof(struct syscall_shape) == 16, "struct syscall_shape");

#define SYSCALL_NUMBERS 512 /* system call numbers looked at, 64-bit and 32-bit */
#define SYSCALL_SHAPES	256

/* syscalls_by_number holds an enum syscall, 0 for calls that are no row, and of what is watched whoever calls it a
 * bit: what may change the paths of files already known, and what may be a mark. */
#define SYSCALL_MOVES_PATHS 0x100
#define SYSCALL_MAY_MARK    0x200
#define SYSCALL_MAY_REMOVE  0x400 /* a directory, if its third argument says so */
#define SYSCALL_WATCHED	    0x700
#define SYSCALL_MASK	    0xff

/* An operation of io_uring, by its number there. */
struct uring_operation {
	__u8 syscall; /* enum syscall; 0: not recorded */
	__u8 layer;   /* enum layer */
	__u8 pad[2];
};

enum queue { QUEUE_URING, QUEUE_AIO };

#define URING_NUMBERS 64
#define AIO_NUMBERS   16

#endif
