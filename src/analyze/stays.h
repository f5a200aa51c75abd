/* Every stay of table sched in memory, by thread and by CPU, for those who walk from thread to thread.
 *
 *     rows:       one after another, in order of ts
 *     by_thread:  places in rows, one thread's after another's:  [first[0] .. first[1]) [first[1] .. ) ...
 *     by_cpu:     likewise, by CPU
 *
 * Threads are numbers here, one for each thread id: two lives of an id follow each other in one list, and a birth stands between
 * them. 72 bytes a row. stays_free() releases it; constant once loaded.
 */
#ifndef STRATA_ANALYZE_STAYS_H
#define STRATA_ANALYZE_STAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/context.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/numbering.h"
#include "base/strings.h"
#include "store/reader.h"

#define STAY_NONE UINT32_MAX

struct stay_row {
	uint64_t ts, end;
	uint64_t ready; /* since when it could have run; ts where that is not known */
	uint64_t arg0;	/* of the call that it left in */
	uint32_t thread;
	uint32_t waker;	  /* thread, or STAY_NONE */
	uint32_t proc;	  /* place in procs, or PROC_NONE */
	uint32_t name;	  /* of its task, in context->who.names */
	uint16_t syscall; /* it left in: number in syscalls; 0: none */
	uint16_t cpu;
	int8_t state; /* enum end_state; -1: not known */
	int8_t kind;  /* enum waker_kind_place; -1: not known */
	uint8_t iowait;
	uint8_t woken; /* somebody or something ended its sleep */
};

/* Where a list of places ends and the next begins. */
struct stay_index {
	uint32_t *places;
	uint32_t *first; /* count + 1 */
	uint32_t count;
};

struct stay_birth {
	uint64_t ts;
	uint32_t thread, creator; /* creator: STAY_NONE where not known */
};

struct stays {
	struct buf rows;   /* struct stay_row */
	struct buf births; /* struct stay_birth, in order of (thread, ts) */
	struct stay_index by_thread, by_cpu;
	struct numbering threads; /* by tid */
	struct buf tids;	  /* int64_t by thread */
	struct strings syscalls;  /* number 0 is "" */
	bool has_wakes;		  /* the recording tells when and by what threads were woken */
};

int stays_load(struct stays *stays, struct reader *reader, struct context *context,
	       struct error *e);
void stays_free(struct stays *stays);

static inline uint32_t stays_count(const struct stays *stays)
{
	return (uint32_t)(stays->rows.size / sizeof(struct stay_row));
}

static inline const struct stay_row *stays_row(const struct stays *stays, uint32_t place)
{
	return (const struct stay_row *)stays->rows.data + place;
}

/* The thread that has the id; STAY_NONE: it never ran. */
uint32_t stays_thread(const struct stays *stays, int64_t tid);

static inline int64_t stays_tid(const struct stays *stays, uint32_t thread)
{
	return ((const int64_t *)stays->tids.data)[thread];
}

/* Places `at` in a list: at(list, i) is a place in rows. The last stay that began before ts: its `at`, or STAY_NONE. */
uint32_t stays_before(const struct stays *stays, const struct stay_index *index, uint32_t list,
		      uint64_t ts);

static inline uint32_t stay_list_count(const struct stay_index *index, uint32_t list)
{
	return index->first[list + 1] - index->first[list];
}

static inline const struct stay_row *stay_at(const struct stays *stays,
					     const struct stay_index *index, uint32_t list,
					     uint32_t at)
{
	return stays_row(stays, index->places[index->first[list] + at]);
}

/* The birth of the thread's life at that time: the last one not after ts; NULL: none seen. */
const struct stay_birth *stays_birth(const struct stays *stays, uint32_t thread, uint64_t ts);

const char *stays_syscall(const struct stays *stays, uint16_t number, size_t *size);

#endif
