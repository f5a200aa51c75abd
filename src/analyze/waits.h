/* Where the main thread's time went, and who woke whom: on a CPU, waiting for one, or asleep until
 * somebody woke it. From table sched; the main thread is the first thread of the main process.
 *
 * A sleep runs from the end of a stay to the moment of being made ready. Its reason is storage when the kernel counts it so
 * (iowait) or, of an uninterruptible one, when a request of the thread to a device ends in it or one of its page faults spans
 * it; any other uninterruptible one is a lock in the kernel. Else the reason is who ended it: a worker, a thread of the same
 * process, another process, or nobody (a timer or a device). What is left of the thread's life is unknown: sleeps before
 * its first and after its last stay, and losses.
 */
#ifndef STRATA_ANALYZE_WAITS_H
#define STRATA_ANALYZE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/scan.h"

#define WAIT_REASONS(REASON)                      \
	REASON(STORAGE, storage, "storage")       \
	REASON(LOCK, lock, "lock in the kernel")  \
	REASON(WORKERS, workers, "workers")       \
	REASON(OWN, own, "own threads")           \
	REASON(OTHERS, others, "other processes") \
	REASON(EVENTS, events, "timers and devices")

enum wait_reason {
#define WAIT_ID(id, field, name) WAIT_##id,
	WAIT_REASONS(WAIT_ID)
#undef WAIT_ID
		WAIT_REASON_COUNT
};

extern const char *const wait_reason_names[WAIT_REASON_COUNT];

/* The main thread's sleeps inside one system call, for one reason. */
struct wait_call {
	const char *syscall; /* not terminated; NULL: in user mode, a page fault mostly */
	size_t syscall_size;
	enum wait_reason reason;
	enum wait_reason waker; /* who ended them: of a lock, who held it; none of the first two */
	uint64_t ns, count, mean_ns;
};

struct waits {
	struct context *context;
	bool known;
	struct wait_call *calls; /* by ns, the greatest first */
	size_t call_count;
	uint64_t wakes[PROC_ROLE_COUNT]
		      [PROC_ROLE_COUNT]; /* from, to; within a process not counted */

	/* While loading. */
	struct strings syscalls;
	struct numbering by_call;
	struct buf list;  /* struct wait_call */
	uint64_t left_ts; /* when the main thread left its CPU; 0: never yet */
	int left_state;	  /* enum end_state; -1: not known */
	int64_t left_iowait;
	uint32_t left_syscall;
	struct buf
		doubts; /* struct sleep: sleeps in state D that other tables may know the reason of */
};

int waits_open(struct waits *waits, struct context *context);

#define WAITS_SINKS 3
size_t waits_sinks(struct waits *waits, struct scan_sink *sinks);
int waits_finish(struct waits *waits); /* -ENOMEM */
void waits_free(struct waits *waits);

#endif
