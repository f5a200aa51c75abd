/* What crosses from the kernel to strata: the records in the rings, the records that task iterators
 * write, and the configuration that the programs read. Fixed-width, shared by both sides; a record's
 * numbers live only as long as one recording, so they may change freely.
 *
 * A record is written once, at the end of what it describes. All begin with struct record.
 */
#ifndef STRATA_BPF_RECORDS_H
#define STRATA_BPF_RECORDS_H

#include <linux/types.h>

#include "schema/layers.h"

#define RECORD_NULL (-0x7fffffffffffffffll - 1) /* equals CELL_NULL */
#define PATH_BYTES  4096			/* longest path the kernel accepts */
#define ARGS_BYTES  8192			/* longest argument vector kept */
#define COMM_BYTES  16
#define SIGNALS	    64

/* A mark is a faccessat() with this descriptor, which nobody has; its path is the text of the mark. */
#define MARK_DESCRIPTOR 0x53545241
#define MARK_BYTES	256

enum record_type {
	RECORD_IO = 1,
	RECORD_COPY,
	RECORD_FS,
	RECORD_MEM,
	RECORD_FILE,
	RECORD_PROCESS,
	RECORD_CGROUP,
	RECORD_SCHED,
	RECORD_BLOCK,
	RECORD_MARK,
	RECORD_FAULT,
	RECORD_FAULTS,
};

enum record_flag {
	RECORD_UNFINISHED = 1,	 /* the call had not returned: dur and returned mean nothing */
	RECORD_INTERRUPTED = 2,	 /* a signal cut it short */
	RECORD_RESTARTED = 4,	 /* ... and the kernel began it anew */
	RECORD_DIRECT = 16,	 /* the file is open with O_DIRECT */
	RECORD_NO_REQUESTED = 8, /* the vector could not be read: requested means nothing */
};

struct record {
	__u8 type;
	__u8 op; /* enum syscall; enum event for processes */
	__u8 flags;
	__u8 pad;
	__u32 cpu;
	__u32 pid; /* in strata's PID namespace; 0: not visible there */
	__u32 tid;
	__u64 ts;
	__u64 dur;
};

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

struct copy_record {
	struct io_record in;
	__s64 out_pos;
	__s32 out_fd;
	__u32 out_file;
};

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

enum file_flag {
	FILE_PSEUDO = 1, /* on no mounted tree: a pipe, socket, memfd, anonymous inode */
	FILE_CUT = 2,	 /* the path was longer than can be sent */
};

/* One stay of a thread on a CPU. */
struct sched_record {
	struct record head;
	__s64 wait;  /* RECORD_NULL: not known */
	__u32 waker; /* tid, 0: none or an interrupt */
	__s32 prio;
	__s32 syscall; /* number, negative: none */
	__s8 state;    /* index into task_state_names, negative: none of them */
	__u8 idle;
	__u8 pad[2];
};

enum block_flag {
	BLOCK_SYNC = 1,
	BLOCK_META = 2,
	BLOCK_AHEAD = 4,
	BLOCK_ISSUED = 8, /* the driver got it; else cpu means nothing */
};

#define BLOCK_NOBODY (~0u)

/* One request to a block device, at its end. */
struct block_record {
	struct record
		head; /* call: index into block_op_names; cpu: of the issue; pid, tid 0: not known */
	__s64 queued; /* RECORD_NULL: not known */
	__u64 sector;
	__u64 bytes;
	__u32 file;	/* file id, 0: not known */
	__u32 done_pid; /* BLOCK_NOBODY: not visible in strata's PID namespace */
	__s32 error;	/* a negative error number, or the kernel's blk_status_t */
	__u32 flags;	/* enum block_flag */
	char disk[32];
};

enum fault_flag {
	FAULT_MAJOR = 1,
	FAULT_MINOR = 2, /* neither: the recording ended before it was known */
	FAULT_NO_ADDRESS = 4,
};

/* One fault on a mapping. */
struct fault_record {
	struct record head;
	__u64 addr;
	__s64 pos;    /* RECORD_NULL: not known */
	__s64 missed; /* RECORD_NULL: not known */
	__u32 file;   /* file id, 0: not known, or no file */
	__u32 flags;  /* enum fault_flag */
};

/* A minor fault of which only this is known, as of most: the page was in the cache, and the address is not looked
 * for. */
struct brief_fault {
	__u64 ts;
	__s64 pos;
	__u32 file;
	__u32 cpu;
};

#define BRIEF_FAULTS 8

/* Some of them, of one thread. */
struct faults_record {
	struct record head; /* cpu, ts and dur mean nothing */
	__u32 count;
	__u32 missed_known; /* then it is 0 */
	struct brief_fault faults[BRIEF_FAULTS];
};

/* A file seen for the first time under this name. Names come from the leaf up to the root, each ended
 * by a NUL. */
struct file_record {
	struct record head;
	__u64 inode;
	__u32 id;
	__u32 generation;
	__u32 dev; /* major << 20 | minor */
	__u32 magic;
	__u16 mode;
	__u16 flags;
	__u32 names_size;
	char fs[16];
}; /* followed by the names */

struct mark_record {
	struct record head;
	__u32 size; /* of the text, with its NUL */
	__u32 pad;
	char text[MARK_BYTES];
};

/* A cgroup seen for the first time. Names as in struct file_record. */
struct cgroup_record {
	struct record head;
	__u64 id;
	__u32 names_size;
	__u32 pad;
}; /* followed by the names */

struct process_record {
	struct record head; /* call: enum event */
	__u64 cgroup;
	__u32 ppid;
	__u32 uid;
	__u32 exe;     /* exec: file id */
	__u32 old_tid; /* exec: the caller's tid before it became the leader's */
	__s32 exit_code;
	__u32 args_size;
	char comm[COMM_BYTES];
}; /* followed, for an exec, by the arguments as in /proc/PID/cmdline */

/* ---- state that both sides know ---- */

/* What is kept about each thread, in task storage. */
enum task_mode {
	TASK_UNKNOWN, /* met in a whole-machine recording */
	TASK_PENDING, /* strata's child before its execve */
	TASK_JOB,     /* recorded */
	TASK_IGNORED, /* strata itself */
	TASK_GONE,    /* of the job, on its way out: it may still run, and counts no more */
};

enum task_fault {
	TASK_NO_FAULT,
	TASK_FAULT_ON_FILE,
	TASK_FAULT_UNPLACED, /* likewise, but the address is not known */
};

/* What the kernel counts for each thread; see job.bpf.c. */
enum job_counter {
	JOB_RUNTIME, /* exact; utime and stime are samples taken at ticks */
	JOB_UTIME,
	JOB_STIME,
	JOB_MINOR_FAULTS,
	JOB_MAJOR_FAULTS,
	JOB_VOLUNTARY,
	JOB_INVOLUNTARY,
	JOB_READ_BYTES,
	JOB_WRITE_BYTES,
	JOB_RCHAR,
	JOB_WCHAR,
	JOB_COUNTERS
};

struct job_thread {
	__u64 counted[JOB_COUNTERS]; /* in the job's totals already, or not belonging there */
	__u8 pending;		     /* strata's child before its execve */
	__u8 leaving;
	__u8 pad[6];
};

/* In order of use: in a real program each call finds the cache cold, and pays for the lines it touches. */
struct task_state {
	__u32 pid;
	__u32 tid;
	__u8 mode;
	__u8 syscall;	   /* enum syscall the thread is in; 0: none */
	__u8 left_out;	   /* of the job, but a filter does not match it */
	__u8 fault;	   /* enum task_fault */
	__s32 interrupted; /* -512..-516: the call ended so, and whether it restarts is not known yet */
	__u64 ts;
	__s64 blocked;	 /* time off the CPU inside the call; RECORD_NULL: not known */
	__u64 off_since; /* off the CPU inside the call since then; 0: on it */
	__s64 pos;
	__u32 file;
	__u32 file2;	  /* of a copy the output; of a call by two paths the second directory */
	__u32 file_flags; /* of the open file behind fd */
	__u32 pad;

	__u64 args[8];

	/* The file met last: most calls use it again, and this is cheaper than the map. */
	__u64 last_dentry;
	__u64 last_mount;
	__u64 last_inode;
	__u64 last_inode_number;
	__u32 last_generation;
	__u32 last_epoch;
	__u32 last_file;
	__u32 fault_cpu;
	__u64 file_pointer; /* struct file behind fd, to recognise it at the end */
	__u64 missed;	    /* bytes filled into the page cache inside the call */

	/* The fault on a file that the thread is in, or was in last. */
	__u64 fault_ts;
	__u64 fault_addr;
	__u64 fault_missed;
	__s64 fault_pos;
	__u64 fault_inode; /* address */
	__u64 fault_inode_number;
	__u64 fault_first; /* pages of it that were looked for */
	__u64 fault_last;
	__u32 fault_generation;
	__u32 fault_epoch;
	__u32 fault_file;

	/* Faults before it that were not sent yet. */
	__u32 brief_count;
	__u32 brief_pid; /* whose they are: an exec may change the thread's ids */
	__u32 brief_tid;
	struct brief_fault brief[BRIEF_FAULTS];

	__u64 run_delay; /* run-queue time when it last left a CPU; 0: not known */
	__u64 end;	 /* of an interrupted call */
	__s64 out_pos;

	struct job_thread used;
};

#define DESCRIPTOR_NONE (-0x7fffffff - 1)

/* An operation in flight, in a queue. */
struct async_key {
	__u64 id;    /* the kernel's address of it, or with an owner the program's */
	__u64 owner; /* process; 0: io_uring */
};

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
	__u8 pad[2];
};

/* The stay that a CPU is in. */
struct stay {
	__u64 task;	 /* address of the thread's task_struct */
	__u64 run_sum;	 /* what it had run before */
	__u64 ts;	 /* 0: none seen yet */
	__u64 run_delay; /* of the thread, before it got the CPU */
	__u32 waker;
	__u32 tid;
	__u32 pid;
	__s32 prio;
	__u8 idle;
	__u8 unknown; /* run_delay is not known */
	__u8 pad[6];
	__u64 context; /* see by_current() */
};

/* What is kept for each CPU. The powers of two let the kernel see that an index is in bounds. */
#define LOSS_LAYERS  16
#define LOSS_REASONS 8

struct cpu_state {
	__u64 unannounced; /* bytes since the doorbell was last rung */
	__u64 loss[LOSS_LAYERS][LOSS_REASONS];
};

/* How a data call passes its arguments. */
enum io_shape {
	IO_NONE,
	IO_BUFFER,    /* fd, buffer, size */
	IO_BUFFER_AT, /* fd, buffer, size, pos */
	IO_VECTOR,    /* fd, vector, count */
	IO_VECTOR_AT, /* fd, vector, count, pos; pos -1 is the file's own, in the calls that allow it */
	IO_MESSAGE,  /* fd, message header */
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
	__u8 opens; /* returns a new descriptor */
	__u8 pad[4];
};

#define SYSCALL_NUMBERS 512 /* system call numbers looked at, 64-bit and 32-bit */
#define SYSCALL_SHAPES	128

/* syscalls_by_number holds an enum syscall, 0 for calls that are no row, and this bit for calls that may change
 * the paths of files already known. */
#define SYSCALL_MOVES_PATHS 0x80
#define SYSCALL_MASK	    0x7f

#endif
