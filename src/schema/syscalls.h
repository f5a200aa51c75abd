/* The numbers of process events, and of the calls in syscalls.def and async.def: SYSCALL_read and so on, dense from 1 so that 0 means none.
 * Shared with the BPF programs, so it includes nothing.
 */
#ifndef STRATA_SCHEMA_SYSCALLS_H
#define STRATA_SCHEMA_SYSCALLS_H

enum syscall {
	SYSCALL_none,
#define IO_SYSCALL(name, ...)  SYSCALL_##name,
#define FS_SYSCALL(name, ...)  SYSCALL_##name,
#define MEM_SYSCALL(name, ...) SYSCALL_##name,
#define SYSCALL32(...)
#define NAMESPACE_SYSCALL(...)
#define QUEUE_SYSCALL(name, ...) SYSCALL_##name,
#include "schema/syscalls.def"
#define ASYNC_IO(name, ...) SYSCALL_##name,
#define ASYNC_FS(name, ...) SYSCALL_##name,
#include "schema/async.def"
	SYSCALL_COUNT
};

/* What a row of table process tells. */
enum event { EVENT_FORK, EVENT_EXEC, EVENT_EXIT, EVENT_RENAME, EVENT_EXISTS };

#endif
