/* What all BPF objects share. Each program file is an object of its own, which a kernel may refuse without the others;
 * what is declared here is one thing in all of them, since strata gives each object the maps of shared.bpf.c. A map that a
 * program file declares by itself is its own.
 */
#ifndef STRATA_BPF_MAPS_BPF_H
#define STRATA_BPF_MAPS_BPF_H

#include "bpf/file.h"
#include "bpf/kernel.h"
#include "bpf/kernel_uring.h"
#include "bpf/shared.h"
#include "bpf/user.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Keeps loads and stores as they are written; so does x86. */
#define memory_order() asm volatile("" ::: "memory")

const volatile struct config config SEC(".rodata.config") = {};
struct shared shared SEC(".data.shared") = {};

/* ---- threads ---- */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct job_bits);
} job_bits SEC(".maps");

/* ---- rings: one for each CPU, see ring.bpf.h ---- */

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} cpu_states SEC(".maps");

/* ---- files: see inode.bpf.h and path.bpf.h ---- */

#define INODE_SET_BITS 16
#define INODE_WAYS     4

struct inode_entry {
	__u64 inode; /* address; 0: nothing is known here */
	__u64 number;
	__u64 dentry;
	__u64 mount;
	__u32 generation;
	__u32 epoch; /* path_epoch when its path was looked at last */
	__u32 file;  /* id; 0: met by no path */
	__u32 version;
	__u32 name; /* see path.bpf.h; so is chain */
	__u32 chain;
	__u64 dirtied; /* by whom: see dirtied_by() */
};

struct inode_set {
	struct inode_entry ways[INODE_WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* for its alignment */
	__uint(max_entries, 1 << INODE_SET_BITS);
	__type(key, __u32);
	__type(value, struct inode_set);
} inodes SEC(".maps");

#define ALIASES_KNOWN 16384

struct alias_key {
	__u64 dentry;
	__u64 mount;
};

struct alias_entry {
	__u64 inode_number;
	__u32 name;
	__u32 chain;
	__u32 generation;
	__u32 epoch;
	__u32 id;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ALIASES_KNOWN);
	__type(key, struct alias_key);
	__type(value, struct alias_entry);
} aliases SEC(".maps");

/* ---- --path: see prefix.bpf.h ---- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} prefix_inside SEC(".maps");

/* A directory above a prefix: the rest of the prefix follows its path and a slash. */
struct prefix_above {
	__u32 covered; /* bytes of the prefix before its rest */
	bool real;     /* above `prefix` */
	bool text;     /* above `prefix_text` */
	__u8 pad[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct prefix_above);
} prefixes_above SEC(".maps");

/* ---- operations in queues: see async.bpf.h ---- */

#define ASYNCS_IN_FLIGHT 32768

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC); /* most programs have none */
	__uint(max_entries, ASYNCS_IN_FLIGHT);
	__type(key, struct async_key);
	__type(value, struct async_state);
} asyncs SEC(".maps");

#endif
