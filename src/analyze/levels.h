/* What ran inside what: the calls of libraries, system calls, functions of the kernel, fills of the page cache and requests to
 * devices as a tree of operations, with calls, bytes and time at each. From the tables call, io, fs, mem, wait, fault and block.
 *
 *     fread                    2,048 calls   1 MiB      time: all of the calls; own: what is in none of those below
 *       read                     257 calls   1 MiB
 *         page cache              10 fills   1.1 MiB
 *           loop0 R               10 requests
 *
 * - A row is inside another of its thread when it begins and ends while that lasts. An operation that is met again inside
 *   itself counts where it was first: each time is counted once, and `own` of all nodes adds up to `time` of the outermost.
 * - A request belongs to the innermost call that its thread was in when it was queued. What the kernel writes later,
 *   by itself, belongs to none.
 * - `own` of a device is the time that threads were off the CPU inside a call while one of their requests was under way. It needs
 *   layer sched; without it that time is the call's own.
 * - Calls without a length, and operations in queues, have no `own`; what ran inside the former counts to the call around it.
 *
 * Needs the rows of all tables in one order of time: a pass of its own. levels_free() releases it; constant once loaded.
 */
#ifndef STRATA_ANALYZE_LEVELS_H
#define STRATA_ANALYZE_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/context.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/numbering.h"
#include "base/strings.h"
#include "store/reader.h"

#define LEVELS(LEVEL)              \
	LEVEL(library, "library")  \
	LEVEL(call, "system call") \
	LEVEL(kernel, "kernel")    \
	LEVEL(cache, "page cache") \
	LEVEL(block, "device")

enum level {
#define LEVEL_ID(id, name) LEVEL_##id,
	LEVELS(LEVEL_ID)
#undef LEVEL_ID
		LEVEL_COUNT
};

extern const char *const level_names[LEVEL_COUNT];

#define LEVELS_NO_PARENT UINT32_MAX

struct level_node {
	uint32_t parent; /* in nodes, or LEVELS_NO_PARENT */
	uint32_t depth;
	uint32_t place;		   /* among those of its parent, by time */
	uint32_t level;		   /* enum level */
	const char *name, *module; /* neither is terminated; no module: NULL */
	size_t name_size, module_size;
	uint64_t calls;
	uint64_t untimed; /* of them: those without a length */
	int64_t bytes;	  /* CELL_NULL: nothing says, as below */
	int64_t time_ns;
	int64_t own_ns;
	double bytes_a_call; /* NAN: not known */
	double growth; /* bytes for each byte of its parent; NAN where one of them is not known */
};

struct levels {
	struct level_node *nodes; /* each before what is inside it; by time */
	size_t count;
	uint64_t own_ns[LEVEL_COUNT]; /* of all nodes of a level */
	uint64_t cut; /* operations that were counted with the one around them, for want of room */

	/* While loading. */
	struct buf list;       /* struct level_node, as they were met */
	struct buf memory;     /* struct level_node, in the end */
	struct numbering tree; /* by parent and name */
	struct strings names;
	uint32_t syscall_names[SYSCALL_COUNT]; /* in names, plus 1 */
	struct numbering by_tid;
	struct buf threads; /* struct level_thread */
};

int levels_load(struct levels *levels, struct reader *reader, const struct span *window,
		struct error *e);
void levels_free(struct levels *levels);

#endif
