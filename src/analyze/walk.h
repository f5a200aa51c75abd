/* From a sleeper back to what it waited for: a walk from thread to thread, backward in time.
 *
 *     focus  ──ran──┐ asleep ...................................┌──ran──
 *                   from                                   wake │
 *     waker         :      ┌──ran──┐ asleep ......┌─ready─┬──ran┘
 *                   :      │       :         wake │
 *     its waker ───────────────ran────────────────┘
 *
 * One pointer (thread, time) stands on the waker at the moment of the wake. Where that thread ran or was ready, the piece is its;
 * where it slept too, the pointer goes to its waker at the same moment, or, if no thread ended that sleep, the sleep is a piece
 * itself. The pieces are whole nanoseconds and tile [from, wake) without gap or overlap, so sums over them are exact.
 * It ends because a waker's stay began before the wake: time falls with each hop.
 *
 * Knows nothing of causes: why_judge.c judges the pieces. walk_free() releases it; it may be used again and again.
 */
#ifndef STRATA_ANALYZE_WALK_H
#define STRATA_ANALYZE_WALK_H

#include <stdint.h>

#include "analyze/stays.h"
#include "base/buf.h"

enum walk_act {
	WALK_RAN,
	WALK_READY,  /* and did not run yet */
	WALK_SLEPT,  /* until something that is no thread woke it */
	WALK_LATE,   /* the waker had left its CPU already: the wake took that long to arrive */
	WALK_UNSEEN, /* no row tells of the thread that comes next */
};

struct walk_piece {
	uint64_t start, end;
	uint32_t
		stay; /* in stays->rows: that ran, that follows the sleep or the wait; STAY_NONE: UNSEEN */
	uint32_t before; /* SLEPT: the stay before the sleep, or STAY_NONE */
	uint32_t hop;	 /* in hops: how it was come to */
	uint8_t act;	 /* enum walk_act */
};

/* A thread that was left for the one that woke or made it. */
struct walk_hop {
	uint32_t sleeper; /* its stay after the sleep, in stays->rows */
	uint32_t before;  /* and before it; STAY_NONE: it was born */
	uint32_t from;	  /* the hop before this one; UINT32_MAX: the first */
};

struct walk {
	struct buf pieces; /* struct walk_piece, the latest first */
	struct buf hops;   /* struct walk_hop */
};

/* Explains the sleep before the stay `at` of the thread's list, from its end back to `from`. 0 or -ENOMEM. */
int walk_back(struct walk *walk, const struct stays *stays, uint32_t thread, uint32_t at,
	      uint64_t from);

/* The same from a moment at which the thread ran, or had just run: what it did, and waited for, back to `from`. */
int walk_from(struct walk *walk, const struct stays *stays, uint32_t thread, uint64_t ts,
	      uint64_t from);
void walk_free(struct walk *walk);

/* The moment at which the stay `at` of a thread could have run: it was woken, born, or left in R; between the end of the stay before
 * and its own beginning. */
uint64_t walk_ready(const struct stays *stays, uint32_t thread, uint32_t at);

/* When the thread left its CPU before the stay `at`; the moment of its birth, if that came later, then *born is true. 0: never seen. */
uint64_t walk_left(const struct stays *stays, uint32_t thread, uint32_t at, bool *born);

#endif
