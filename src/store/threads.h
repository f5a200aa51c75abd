/* The names that threads had, and when: table thread, which no trace stores, because the rows of table
 * process tell all of it. A fork, an exec, a rename or the reuse of an id begins a new name; an exit, or
 * the next name, ends it.
 *
 * Names belong to the threads and live as long as they do. Once open, any number of threads may ask.
 */
#ifndef STRATA_STORE_THREADS_H
#define STRATA_STORE_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/reader.h"

struct threads;

struct thread_row {
	int64_t tid, pid;	   /* pid: CELL_NULL when not known */
	int64_t first_ts, last_ts; /* last_ts: CELL_NULL when it outlived the recording */
	const char *comm;
	size_t comm_size;
};

/* recorder: thread ids of strata itself, separated by commas, or NULL. It leaves itself out of table process
 * but is seen on the CPUs, as are the idle threads, which all have the id 0. */
int threads_open(struct threads **threads, struct reader *reader, const char *recorder,
		 struct error *e);
void threads_close(struct threads *threads);

/* All rows, in order of tid and first_ts. */
size_t threads_count(const struct threads *threads);
const struct thread_row *threads_row(const struct threads *threads, size_t i);

/* The row that held for a thread at that time, or NULL. A thread may be at work a little before the recording notices it:
 * before its first row that one holds. It also is on a CPU after its exit, on its way out: so its last name holds until the
 * id is used again. */
const struct thread_row *threads_find(const struct threads *threads, int64_t tid, uint64_t ts);

#endif
