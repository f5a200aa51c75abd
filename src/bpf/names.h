/* Names that are sent once, and stand for numbers in other records: files and cgroups.
 */
#ifndef STRATA_BPF_NAMES_H
#define STRATA_BPF_NAMES_H

#include "bpf/records.h"

enum names_kind {
	NAMES_FILE,
	NAMES_CGROUP,
	/* A struct file_record of which only id and names count, sent before that of NAMES_FILE for a file that was reached
	 * through a mount of another mount namespace than strata's: the names up to the root of its file system. */
	NAMES_PLACE,
};

enum file_flag {
	FILE_PSEUDO = 1, /* on no mounted tree: a pipe, socket, memfd, anonymous inode */
	FILE_CUT = 2,	 /* the path was longer than can be sent */
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

_Static_assert(sizeof(struct file_record) == 80, "struct file_record");

#define CGROUP_V1 \
	(1ull << 63) /* marks an id in a v1 hierarchy: each hierarchy numbers for itself */

/* A cgroup seen for the first time. Names as in struct file_record. */
struct cgroup_record {
	struct record head;
	__u64 id; /* with CGROUP_V1 */
	__u32 names_size;
	__u32 pad;
}; /* followed by the names */

_Static_assert(sizeof(struct cgroup_record) == 48, "struct cgroup_record");

#endif
