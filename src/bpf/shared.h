/* What all programs and strata share: settings made before the programs are loaded, and memory that both sides look
 * at while recording. Each BPF object declares them (maps.bpf.h); all of them get the ones of shared.bpf.c.
 */
#ifndef STRATA_BPF_SHARED_H
#define STRATA_BPF_SHARED_H

#include "bpf/fault.h"
#include "bpf/job.h"
#include "bpf/records.h"
#include "bpf/stall.h"

#define SIGNALS	     64
#define JOB_WORDS    ((1 << 22) / 64) /* a bit for each thread id: the kernel has no greater one */
#define PREFIX_BYTES (2 * PATH_BYTES + 8)

/* The kernel's structures that programs read by plain loads; see typed.bpf.h. */
#define TYPED_STRUCTS(STRUCT)    \
	STRUCT(address_space)    \
	STRUCT(bio)              \
	STRUCT(dentry)           \
	STRUCT(file)             \
	STRUCT(file_system_type) \
	STRUCT(hlist_head)       \
	STRUCT(inode)            \
	STRUCT(mount)            \
	STRUCT(request)          \
	STRUCT(super_block)      \
	STRUCT(task_struct)      \
	STRUCT(vfsmount)         \
	STRUCT(vm_area_struct)

/* Settings. To the verifier they are constants, and it leaves out what they rule out. */
struct config {
	__u32 self_pid;	      /* strata's pid in its own PID namespace, ... */
	__u32 self_namespace; /* ... that namespace's inode number, ... */
	__u32 proc_above;     /* ... and how many levels above it /proc shows */
	__u32 doorbell_bytes; /* a ring's bell is rung each time so much has come */
	__u32 mark_uid; /* whose marks are taken from outside the job too, as the machine numbers users */
	__u8 record_all;  /* io, fs, mem and fault of every process, not only the job's */
	__u8 process_all; /* likewise for the other layers */
	__u8 has_job;	  /* a command or processes to follow */
	__u8 typed_reads; /* the kernel has bpf_rdonly_cast */

	/* --comm, --cgroup and --container: which threads; see selection.bpf.h. */
	__u8 selects;	  /* there is such a selection */
	__u8 selects_job; /* whoever it matches is the job */
	__u8 own_only; /* nothing of processes that whoever records may not trace; see own.bpf.h */
	__u8 redact_args; /* arguments of processes are not read */
	__u32 own_uid, own_gid;
	__s32 select_subsystem; /* whose hierarchy (cgroup v1) the cgroup is in; -1: the unified one */
	__u64 select_comm[2];	   /* the name, padded with zeros; 0: any */
	__u64 select_cgroup;	   /* id; 0: any */
	__u32 select_namespace;	   /* PID namespace, by its inode number; 0: any */
	__s32 container_subsystem; /* whose hierarchy (cgroup v1) is asked for containers; -1: none */

	/* BTF ids of the kernel's structures, 0 where it has none of that name. */
#define TYPE_ID(name) __u32 type_##name;
	TYPED_STRUCTS(TYPE_ID)
#undef TYPE_ID

	/* --path: the prefix with symbolic links resolved, as the paths of files are, and as it was given, as programs
	 * may pass it. Zeros behind both let them be compared in words. */
	__u32 prefix_size; /* 0: every file is recorded */
	__u32 prefix_text_size;
	char prefix[PREFIX_BYTES] __attribute__((aligned(8)));
	char prefix_text[PREFIX_BYTES] __attribute__((aligned(8)));
};

/* Whether the recording is under way, and whether rows are taken: a program of the job may switch that off and on
 * (docs/marks.md). Each switch adds one, so that the number also says between which of them something began. */
enum recording {
	RECORDING_NOT = 0,
	RECORDING_ON = 1,  /* and so are all odd numbers */
	RECORDING_OFF = 2, /* all other even ones: only processes and marks are */
};

#define OFF_WINDOWS 64 /* strata looks twice a second */

struct off_window {
	__u64 ts, end;
};

/* Memory. What is written seldom comes first, in a cache line that every CPU may keep. */
struct shared {
	__u32 recording; /* see enum recording; strata sets it when all is attached, and clears it to stop */
	__u32 path_epoch; /* moves when the path of a file may have changed */
	__u64 start_ts;
	__u32 pid_level; /* the PID namespace that strata's /proc shows; level 0 is the machine's */
	__u32 pid_namespace;
	__u32 moves_watched; /* file.bpf.c moves the epoch */
	__u32 count_blocked; /* sched.bpf.c counts time off the CPU */
	__u32 count_missed;  /* cache.bpf.c counts fills of the page cache */
	__u32 async_refused; /* an operation found no room among those in flight: unknown ones prove nothing */
	__u32 command_pid;
	__u32 job_counting; /* what the job's threads had used before is known */
	__u32 job_missing;  /* bits of the job counters that this kernel does not keep */
	__u32 waits_interrupted; /* calls of table wait of which it is not known yet whether they restart */
	__u64 self_user_namespace; /* address */

	__u32 live;	   /* threads of the job */
	__u32 last_file;   /* id */
	__u32 job_leaving; /* threads of the job that have exited and still run */
	__u32 selection_stale; /* a whole process was moved between cgroups, of which one thread was told */
	__u32 marks_refused;	 /* by other users */
	__u32 switching;	 /* somebody switches it on or off just now */
	__u64 selection_matched; /* how often a thread was found to match */
	__u64 prefix_matched;	 /* files, and calls by path */
	__u64 job_totals[JOB_COUNTERS];

	__u64 on_ts;	 /* since when rows are taken: the start, or when it was switched on last */
	__u64 off_ts;	 /* since when not; 0: they are */
	__u64 off_count; /* how often it was switched on again; the last windows follow */
	struct off_window offs[OFF_WINDOWS];

	/* The last signals sent to the launched command, for strata to know which ones it need not pass on. */
	__u32 signal_senders[SIGNALS];
	__u64 signal_times[SIGNALS];

	/* Strata's own places, to tell those of others apart. */
	__u64 mount_namespace; /* address */
	__u64 own_cgroup, own_cgroup_v1;
};

_Static_assert(__builtin_offsetof(struct shared, live) == 64, "struct shared");

/* One bit for each thread id of the machine: whether it belongs to the job. Threads that do not, which are most on a
 * busy machine, pay for a load instead of a look-up in task storage. */
struct job_bits {
	__u64 words[JOB_WORDS];
};

/* ---- what is kept about each thread, in task storage ---- */

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

enum call_sleep {
	CALL_STAYED, /* on the CPU, so far */
	CALL_LEFT,   /* to give way to others */
	CALL_SLEPT,
};

/* In order of use: in a real program each call finds the cache cold, and pays for the lines it touches. */
struct task_state {
	__u32 pid;
	__u32 tid;
	__u8 mode;
	__u8 syscall;	   /* enum syscall the thread is in; 0: none */
	__u8 left_out;	   /* of the job, but a filter does not match it */
	__u8 fault;	   /* enum task_fault */
	__s16 interrupted; /* -512..-516: the call ended so, and whether it restarts is not known yet */
	__u16 in_flight; /* number of the call that it slept in as the recording began, plus 1 */
	__u64 ts;
	__s64 blocked;	 /* time off the CPU inside the call; RECORD_NULL: not known */
	__u64 off_since; /* off the CPU inside the call since then; 0: on it */
	__s64 pos;
	__u32 file;
	__u32 file2;	  /* of a copy the output; of a call by two paths the second directory */
	__u32 file_flags; /* of the open file behind fd */
	__u32 fault_cpu;

	__u64 args[8];

	/* The file met last: most calls use it again, and this is cheaper than the map. */
	__u64 last_dentry;
	__u64 last_mount;
	__u64 last_inode;
	__u64 last_inode_number;
	__u32 last_generation;
	__u32 last_epoch;
	__u32 last_file;
	__u32 last_name;
	__u64 file_pointer; /* struct file behind fd, to recognise it at the end */
	__s64 size;	    /* of a file that is appended to, as the call began */
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
	__u64 fault_ended; /* faults that the thread had ended before it */
	__u64 fault_back; /* when it came back to a CPU from a sleep inside it; 0: it did not sleep */
	__u32 fault_generation;
	__u32 fault_epoch;
	__u32 fault_file;

	/* Faults before it that were not sent yet. */
	__u32 brief_count;
	__u32 counted;	      /* among the live threads of the job */
	__u8 position_shared; /* others may move the file's position while the call runs */
	__u8 slept;	      /* inside the call: enum call_sleep */
	__u8 wait_clock;      /* these are of a call that is in no table but wait: see wait.h */
	__u8 fault_asleep;    /* the thread sleeps inside the fault */
	__u32 brief_pid;      /* whose they are: an exec may change the thread's ids */
	__u32 brief_tid;
	struct brief_fault brief[BRIEF_FAULTS];

	__u64 end; /* of an interrupted call */
	__s64 out_pos;

	__u64 wait_ts;	 /* when it first left the CPU inside the call */
	__u64 wait_file; /* struct file behind its descriptor as it began to sleep */
	__s64 wait_timeout;
	__s32 wait_fd;
	__u16 wait_number;
	__u16 epoch; /* shared.recording, as its last call that is recorded began */

	struct stall_state stall;
	struct job_thread used;
};

/* What is kept for each CPU. The powers of two let the kernel see that an index is in bounds. */
#define LOSS_LAYERS  16
#define LOSS_REASONS 16

struct cpu_state {
	__u64 in_call; /* the current thread is in a call of no table but wait, and has not left the CPU in it */
	__u64 short_locks; /* waits for locks that were too short for a row, ... */
	__u64 short_locks_ns;
	__u64 unannounced; /* bytes since the doorbell was last rung */
	__u64 loss[LOSS_LAYERS][LOSS_REASONS];
};

_Static_assert(LAYER_COUNT <= LOSS_LAYERS && LOSS_COUNT <= LOSS_REASONS, "loss counters");

#endif
