/* The kernel's types as the BPF programs see them: only the fields that are read. CO-RE relocates each
 * access to the running kernel's layout, so order, padding and what is left out do not matter here.
 */
#ifndef STRATA_BPF_KERNEL_H
#define STRATA_BPF_KERNEL_H

#include <linux/bpf.h>
#include <linux/types.h>

typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct qstr {
	union {
		__u64 hash_len;
	};
	const unsigned char *name;
};

struct file_system_type {
	const char *name;
	int fs_flags;
};

struct blk_mq_ops;
struct gendisk;

struct request_queue {
	struct gendisk *disk;
	const struct blk_mq_ops *mq_ops;
};

struct gendisk {
	int major;
	int first_minor;
	char disk_name[32];
	struct request_queue *queue;
};

struct block_device {
	__u32 bd_dev;
	struct gendisk *bd_disk;
};

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
	struct file_system_type *s_type;
	struct block_device *s_bdev;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct inode {
	struct hlist_head i_dentry;
	__u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	union {
		unsigned int i_nlink;
	};
	__u32 i_generation;
	long long i_size;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	union {
		struct hlist_node d_alias;
	} d_u;
};

struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
};

struct mnt_namespace;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct atomic {
	int counter;
};

struct atomic64 {
	long counter;
};

struct file {
	struct {
		struct atomic64 refcnt;
	} f_ref; /* one less than there are */
	struct path f_path;
	struct inode *f_inode;
	unsigned int f_flags;
	unsigned int f_mode;
	long long f_pos;
};

/* Before 6.13 the references are counted in another field. */
struct file___6_12 {
	struct atomic64 f_count;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct atomic count;
	struct fdtable *fdt;
};

struct fs_struct {
	struct path pwd;
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct kernfs_node {
	struct kernfs_node *parent;
	const char *name;
	__u64 id;
};

/* Since 6.15 the parent is found under another name. */
struct kernfs_node___6_15 {
	struct kernfs_node *__parent;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct mm_struct {
	struct uprobes_state uprobes_state;
	unsigned long start_stack;
	unsigned long arg_start;
	unsigned long arg_end;
	unsigned long flags;
	struct file *exe_file;
};

typedef struct {
	unsigned long __mm_flags[1];
} mm_flags_t;

struct mm_struct___6_18 {
	mm_flags_t flags;
};

typedef struct {
	__u32 val;
} kuid_t;

typedef struct {
	__u32 val;
} kgid_t;

typedef struct {
	__u64 val;
} kernel_cap_t;

struct user_namespace;

struct cred {
	kuid_t uid;
	kgid_t gid;
	kuid_t suid;
	kgid_t sgid;
	kuid_t euid;
	kgid_t egid;
	kernel_cap_t cap_permitted;
	struct user_namespace *user_ns;
};

struct thread_info {
	__u32 status;
};

enum pageflags { PG_head = 6 };

struct folio___6_1 {
	unsigned char _folio_order;
};

struct rq;

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	__u64 sum_exec_runtime;
	unsigned char sched_delayed;
	struct cfs_rq *cfs_rq;
};

struct task_io_accounting {
	__u64 rchar;
	__u64 wchar;
	__u64 read_bytes;
	__u64 write_bytes;
};

struct thread_struct {
	unsigned long fsbase;
};

struct task_struct {
	struct thread_info thread_info;
	struct thread_struct thread;
	unsigned long sas_ss_sp;
	unsigned long sas_ss_size;
	struct sched_entity se;
	unsigned int __state;
	void *stack;
	int prio;
	int on_rq;
	unsigned in_iowait : 1;
	int pid;
	int tgid;
	int exit_code;
	unsigned int flags;
	__u64 start_boottime;
	__u64 utime;
	__u64 stime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	struct task_io_accounting ioac;
	char comm[16];
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct pid *thread_pid;
	struct files_struct *files;
	struct fs_struct *fs;
	struct mm_struct *mm;
	const struct cred *cred;
	struct css_set *cgroups;
	struct nsproxy *nsproxy;
};

struct pt_regs {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long sp;
};

struct sigaction {
	void *sa_handler;
	unsigned long sa_flags;
};

struct k_sigaction {
	struct sigaction sa;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct address_space {
	struct inode *host;
};

struct page {
	unsigned long compound_head;
	struct address_space *mapping;
};

struct folio {
	struct address_space *mapping;
	unsigned long _flags_1;
};

struct bio_vec {
	struct page *bv_page;
};

struct bvec_iter {
	__u64 bi_sector;
	unsigned int bi_size;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	__u32 bi_opf;
	__u8 bi_status;
	struct bvec_iter bi_iter;
	void *bi_private;
	struct bio_vec *bi_io_vec;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int rq_flags;
	unsigned int __data_len;
	__u64 __sector;
	struct bio *bio;
	struct bio *biotail;
	__u64 start_time_ns;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	void *key;
	void *value;
};

struct linux_binprm;
struct kernel_siginfo;

#pragma clang attribute pop

enum req_flag_bits {
	__REQ_SYNC = 11,
	__REQ_META = 12,
	__REQ_FUA = 17,
	__REQ_PREFLUSH = 18,
	__REQ_RAHEAD = 19,
	__REQ_SWAP = 24,
};

enum rqf_flags {
	__RQF_FLUSH_SEQ = 1,
};

/* What a program on a perf event gets; part of the kernel's interface to user space. */
struct perf_event_context {
	__u64 regs[21];
	__u64 sample_period;
	__u64 addr;
};

#define FMODE_LSEEK   0x4
#define TS_COMPAT     0x2
#define X32_BIT	      0x40000000
#define PF_EXITING    0x4
#define PF_WQ_WORKER  0x20
#define PF_KTHREAD    0x200000
#define S_IFMT	      0170000
#define S_IFREG	      0100000
#define FS_NEEDS_DISK 0x1 /* the kernel's FS_REQUIRES_DEV */

#endif
