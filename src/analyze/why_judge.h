/* What pieces of a walk are: the waits of the focus thread judged by whose stays, calls, stalls and requests lie behind them.
 */
#ifndef STRATA_ANALYZE_WHY_JUDGE_H
#define STRATA_ANALYZE_WHY_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/stays.h"
#include "analyze/walk.h"
#include "analyze/why_acts.h"
#include "analyze/why_calls.h"
#include "base/map.h"

struct judge {
	struct context *context;
	const struct stays *stays;
	struct why_calls *calls;
	uint32_t focus;	     /* thread */
	uint32_t focus_proc; /* place in procs */
	bool *fed;	     /* by thread: a worker woke it once */
	struct map locks;    /* addresses on which a thread slept in futex, see lock_key() */
};

/* One piece, judged. */
struct verdict {
	enum why_act act;
	uint32_t name; /* in calls->names; UINT32_MAX: none */
	int64_t file;  /* CELL_NULL: none */
	bool device;   /* the name is a device's */
	uint64_t lock; /* address of the futex that was waited for; 0: none is known */
};

int judge_open(struct judge *judge, struct context *context, const struct stays *stays,
	       struct why_calls *calls, uint32_t focus, uint32_t focus_proc);
void judge_close(struct judge *judge);

/* A piece of the walk that explains the sleep between the stays `before` and `after` of the focus thread. -ENOMEM. */
int judge_piece(struct judge *judge, const struct walk *walk, const struct walk_piece *piece,
		const struct stay_row *before, const struct stay_row *after, struct verdict *out);

/* A piece of the walk from a batch's result, which the thread `writer` wrote, to the taking of its index. -ENOMEM. */
int judge_making(struct judge *judge, const struct walk *walk, const struct walk_piece *piece,
		 uint32_t writer, struct verdict *out);

/* A sleep that no thread ended. */
int judge_sleep(struct judge *judge, const struct stay_row *before, const struct stay_row *after,
		struct verdict *out);

/* Who had the CPU while the focus thread was ready for it: of one stay of somebody else. */
int judge_ready(struct judge *judge, const struct stay_row *other, struct verdict *out);

#endif
