/* Who a thread id is at a time, quickly: rows come in order of time, so the answer is mostly that of the
 * last row of the thread. Gives each thread a place (its row of table thread), its task name as reports
 * group by it, and its process.
 *
 * A task's name is the thread's, but `idle` for the idle threads, and for threads of the kernel what
 * stands before the slash: kworker/0:1 is kworker. A thread keeps its name after its exit, for the moment
 * that it still runs.
 */
#ifndef STRATA_ANALYZE_WHO_H
#define STRATA_ANALYZE_WHO_H

#include <stdint.h>

#include "analyze/procs.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/numbering.h"
#include "base/strings.h"
#include "schema/schema.h"
#include "store/dims.h"

#define WHO_NONE UINT32_MAX

struct who {
	const struct threads *threads;
	const struct procs *procs;
	struct strings names;
	uint32_t idle, unknown; /* numbers in names */
	uint32_t thread_count;
	uint32_t *name_of, *proc_of; /* by thread */
	struct numbering by_tid;
	struct buf last; /* uint32_t: the thread that was found last, by number of by_tid */
};

int who_open(struct who *who, const struct dims *dims, const struct procs *procs, struct error *e);
void who_close(struct who *who);

/* The thread's place, WHO_NONE for null and for ids never seen. */
uint32_t who_thread(struct who *who, int64_t tid, uint64_t ts);

static inline uint32_t who_name(const struct who *who, uint32_t thread)
{
	return thread == WHO_NONE ? who->unknown : who->name_of[thread];
}

static inline uint32_t who_proc(const struct who *who, uint32_t thread)
{
	return thread == WHO_NONE ? PROC_NONE : who->proc_of[thread];
}

/* The process of a row that names both; a thread never seen is told by its process id. */
static inline uint32_t who_proc_of(const struct who *who, uint32_t thread, int64_t pid, uint64_t ts)
{
	uint32_t proc = who_proc(who, thread);

	return proc == PROC_NONE && pid != CELL_NULL && pid ? procs_find(who->procs, pid, ts)
							    : proc;
}

/* The number of a process' task name. -ENOMEM. */
int who_name_proc(struct who *who, const struct proc *proc, uint32_t *name);

#endif
