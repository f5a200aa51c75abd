/* The threads and the tree of levels.c while rows come in: calls under way on each thread, and what they come to. */
#ifndef STRATA_ANALYZE_LEVELS_TREE_H
#define STRATA_ANALYZE_LEVELS_TREE_H

#include "analyze/cells.h"
#include "analyze/levels.h"

#define LEVELS_MOST_NODES 65536

/* What is met: a row of some table. */
struct level_event {
	uint64_t ts;
	int64_t dur; /* CELL_NULL: not known */
	int64_t bytes;
	int64_t blocked; /* of a system call: off the CPU inside it; CELL_NULL: not known */
	uint64_t filled; /* bytes that it brought into the page cache */
	const char *name, *module;
	size_t name_size, module_size;
	enum level level;
	uint32_t *
		known; /* what it is called as a number, plus 1; 0: not yet. NULL: nobody keeps it */
};

/* A call under way. */
struct level_frame {
	uint64_t ts, end;
	uint64_t own, waited; /* waited: of own, while a request of the thread was under way */
	int64_t blocked;      /* as struct level_event; what is left of it */
	uint32_t node;
	uint32_t below; /* the node that requests belong to: the page cache's, if it fills it */
	uint8_t level;
	bool outermost; /* its node is in no other frame below it */
};

struct level_thread {
	uint64_t now;	     /* up to when it is accounted for */
	uint64_t busy_until; /* a request of it is under way until then */
	uint32_t device;     /* whose: number in names */
	uint32_t depth;
	struct buf frames; /* struct level_frame: depth of them are under way, the innermost last */
};

static inline struct level_frame *level_frame_at(const struct level_thread *thread, uint32_t i)
{
	return (struct level_frame *)thread->frames.data + i;
}

/* The call that the thread is in; it must be in one. */
static inline struct level_frame *level_frame_last(const struct level_thread *thread)
{
	return level_frame_at(thread, thread->depth - 1);
}

/* The thread, with the calls closed that ended until ts; NULL: no memory. */
struct level_thread *levels_thread(struct levels *levels, int64_t tid, uint64_t ts);

/* A call of the thread, or of none that is known (NULL). 0 or -ENOMEM. */
int levels_enter(struct levels *levels, struct level_thread *thread,
		 const struct level_event *event);

/* A request: `inside`: of the thread's call under way. */
int levels_request(struct levels *levels, struct level_thread *thread, bool inside,
		   const struct level_event *event);

/* Closes all calls. */
int levels_close_all(struct levels *levels);

#endif
