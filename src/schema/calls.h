/* The numbers of process events, and of the calls in calls.def and async.def: CALL_read and so on, dense from 1 so that 0 means none.
 * Shared with the BPF programs, so it includes nothing.
 */
#ifndef STRATA_SCHEMA_CALLS_H
#define STRATA_SCHEMA_CALLS_H

enum call {
	CALL_none,
#define IO_CALL(name, ...)  CALL_##name,
#define FS_CALL(name, ...)  CALL_##name,
#define MEM_CALL(name, ...) CALL_##name,
#define CALL32(...)
#define NAMESPACE_CALL(...)
#define QUEUE_CALL(name, ...) CALL_##name,
#include "schema/calls.def"
#define ASYNC_IO(name, ...) CALL_##name,
#define ASYNC_FS(name, ...) CALL_##name,
#include "schema/async.def"
	CALL_COUNT
};

/* What a row of table process tells. */
enum event { EVENT_FORK, EVENT_EXEC, EVENT_EXIT, EVENT_RENAME, EVENT_EXISTS };

#endif
