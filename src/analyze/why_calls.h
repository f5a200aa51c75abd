/* The rows that say what a thread slept in: its system calls, what the kernel made it wait for, and the requests to block
 * devices. Of the focus thread every call is kept, of others those that slept.
 *
 * Calls of a thread do not overlap; stalls and faults lie inside calls or in user code, and have a list of their own.
 * why_calls_free() releases it; constant once loaded.
 */
#ifndef STRATA_ANALYZE_WHY_CALLS_H
#define STRATA_ANALYZE_WHY_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/stays.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/strings.h"
#include "store/reader.h"

struct why_call {
	uint64_t ts, end;
	int64_t file;	  /* CELL_NULL: none */
	int64_t returned; /* likewise */
	uint32_t thread;
	uint32_t name; /* of the call, in names */
	uint8_t table; /* enum table_id */
	int8_t kind;   /* of a stall: enum stall_kind */
	bool timed;    /* it had a time-out */
};

/* A request to a device. */
struct why_block {
	uint64_t ts, end; /* queued, done */
	int64_t file;
	uint32_t thread;
	uint32_t dev; /* in names */
};

struct why_calls {
	struct buf calls, stalls; /* struct why_call, in order of (thread, ts) */
	struct buf blocks;	  /* struct why_block, in order of (thread, end) */
	struct buf fills;	  /* the same, in order of (file, end) */
	struct strings names;
};

int why_calls_load(struct why_calls *calls, struct reader *reader, const struct stays *stays,
		   uint32_t focus, struct error *e);
void why_calls_free(struct why_calls *calls);

/* The call that the thread was in at ts; NULL: none that is known. */
const struct why_call *why_call_at(const struct buf *list, uint32_t thread, uint64_t ts);

/* The next call of the thread that begins at ts or later, or NULL. */
const struct why_call *why_call_next(const struct buf *list, uint32_t thread, uint64_t ts);

/* The last request of the thread, or for the file, that was done in (from, to], or else one that was under way then; NULL: none. */
const struct why_block *why_block_of(const struct why_calls *calls, uint32_t thread, uint64_t from,
				     uint64_t to);
const struct why_block *why_block_for(const struct why_calls *calls, int64_t file, uint64_t from,
				      uint64_t to);

#endif
