/* The numbers of process events, and of the calls in syscalls.def: SYSCALL_read and so on, dense from 1 so that 0 means
 * none; what the calls do, for those who read rows. Shared with the BPF programs, so it includes nothing
 * else.
 */
#ifndef STRATA_SCHEMA_SYSCALLS_H
#define STRATA_SCHEMA_SYSCALLS_H

enum syscall {
	SYSCALL_none,
#define IO_SYSCALL(name, ...)	 SYSCALL_##name,
#define FS_SYSCALL(name, ...)	 SYSCALL_##name,
#define MEM_SYSCALL(name, ...)	 SYSCALL_##name,
#define QUEUE_SYSCALL(name, ...) SYSCALL_##name,
#define QUEUED_IO(name, ...)	 SYSCALL_##name,
#define QUEUED_FS(name, ...)	 SYSCALL_##name,
#include "schema/syscalls.def"
	SYSCALL_COUNT
};

/* Calls that do the same thing in several ways. */
enum syscall_family {
	FAMILY_none,
	FAMILY_read, /* into one buffer, from a file */
	FAMILY_write,
	FAMILY_readv, /* into several */
	FAMILY_writev,
	FAMILY_receive, /* from a socket */
	FAMILY_send,
	FAMILY_copy,
	FAMILY_open,
	FAMILY_close,
	FAMILY_duplicate, /* of a descriptor */
	FAMILY_control,	  /* fcntl, flock */
	FAMILY_seek,
	FAMILY_stat, /* and access: asks for what a name stands for */
	FAMILY_ask,  /* for something else about it */
	FAMILY_make, /* a directory */
	FAMILY_delete,
	FAMILY_rename,
	FAMILY_link,
	FAMILY_size,
	FAMILY_attribute, /* changes what is known about a file, not its bytes */
	FAMILY_advise,	  /* tells the kernel what will be read */
	FAMILY_sync,
	FAMILY_list,
	FAMILY_map,
};

/* What some calls of a family do beside it. */
enum syscall_trait {
	TRAIT_NONE,
	TRAIT_FILLS,   /* what it misses in the page cache is read on its behalf */
	TRAIT_APPENDS, /* goes to the end of a file that is open with O_APPEND */
	TRAIT_EITHER,  /* reads if its descriptor is open for reading, else writes */
	TRAIT_CREATES, /* always makes what it names, unless it is there; other opens only with O_CREAT */
	TRAIT_MOVES_PATHS, /* may change the paths of files already known, or remove a directory of them */
	TRAIT_REMOVES,	    /* likewise, if its flags say that it removes a directory */
	TRAIT_NAMES_SECOND, /* is about its second path: the first is mere text */
	TRAIT_MARKS,	    /* with a certain descriptor it is a mark: see docs/marks.md */
};

/* What a row of table process tells. */
enum event { EVENT_FORK, EVENT_EXEC, EVENT_EXIT, EVENT_RENAME, EVENT_EXISTS };

#endif
