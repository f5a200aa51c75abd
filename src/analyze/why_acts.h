/* What a piece of the focus thread's time went to, and the cause that it counts for. The list is the contract of `strata why`:
 * causes never change their names, and each act has just one cause.
 */
#ifndef STRATA_ANALYZE_WHY_ACTS_H
#define STRATA_ANALYZE_WHY_ACTS_H

#define WHY_CAUSES(CAUSE) \
	CAUSE(computing)  \
	CAUSE(kernel)     \
	CAUSE(ready)      \
	CAUSE(storage)    \
	CAUSE(input)      \
	CAUSE(gpu)        \
	CAUSE(collective) \
	CAUSE(lock)       \
	CAUSE(network)    \
	CAUSE(sleep)      \
	CAUSE(stopped)    \
	CAUSE(unknown)

/* ACT(id, cause, what is said of it); a name (of a call, a device, a program) follows in brackets where there is one. */
#define WHY_ACTS(ACT)                                                               \
	ACT(USER, computing, "running its own code")                                \
	ACT(OWN, computing, "a thread of its own ran")                              \
	ACT(CHILD, computing, "another process of the job ran")                     \
	ACT(CALL, kernel, "running in the kernel")                                  \
	ACT(RECLAIM, kernel, "the kernel made room in memory")                      \
	ACT(KERNEL_THREAD, kernel, "a thread of the kernel ran")                    \
	ACT(READY_JOB, ready, "the job's own threads had its CPU")                  \
	ACT(READY_OTHER, ready, "another program had its CPU")                      \
	ACT(READY_KERNEL, ready, "threads of the kernel had its CPU")               \
	ACT(READY_STRATA, ready, "strata had its CPU")                              \
	ACT(READY_IDLE, ready, "its CPU was idle, and yet to wake up or forbidden") \
	ACT(READY_UNSEEN, ready, "nothing tells what its CPU did")                  \
	ACT(WAKER_READY, ready, "what would have woken it had no CPU")              \
	ACT(DEVICE, storage, "a request to a device")                               \
	ACT(FILL, storage, "another thread's request for the same file")            \
	ACT(FAULT, storage, "a page of a mapped file")                              \
	ACT(PAGE, storage, "storage, by a request that is not told")                \
	ACT(THROTTLED, storage, "too much written and not yet on the device")       \
	ACT(SWAP, storage, "memory that was swapped out")                           \
	ACT(WRITEBACK, storage, "threads of the kernel at work on storage")         \
	ACT(SERVER, storage, "the process behind the file system")                  \
	ACT(WORKER_RAN, input, "a data worker ran")                                 \
	ACT(WORKER_READY, input, "a data worker had no CPU")                        \
	ACT(WORKER_STORAGE, input, "a data worker waited for storage")              \
	ACT(WORKER_SLEPT, input, "a data worker slept")                             \
	ACT(WORKER_WAITED, input, "a data worker waited for something else")        \
	ACT(WORKER_BORN, input, "data workers were started")                        \
	ACT(NO_INDEX, input, "a data worker had nothing to do yet")                 \
	ACT(HANDOVER, input, "a batch was handed over")                             \
	ACT(GPU, gpu, "the GPU")                                                    \
	ACT(RANK_RAN, collective, "another rank ran, and came later")               \
	ACT(RANK_READY, collective, "another rank had no CPU")                      \
	ACT(RANK_WAITED, collective, "another rank waited for something")           \
	ACT(LOCK_RAN, lock, "who held the lock ran")                                \
	ACT(LOCK_READY, lock, "who held the lock had no CPU")                       \
	ACT(LOCK_SLEPT, lock, "who held the lock slept")                            \
	ACT(NETWORK, network, "the network")                                        \
	ACT(PEER, network, "the process at the other end ran")                      \
	ACT(TIMER, sleep, "a time that it asked for")                               \
	ACT(STOPPED, stopped, "stopped by a signal or a debugger")                  \
	ACT(LATE, unknown, "a wake on its way")                                     \
	ACT(OTHER, unknown, "another program ran")                                  \
	ACT(INTERRUPT, unknown, "an interrupt that tells nothing more")             \
	ACT(UNSEEN, unknown, "no row tells")

enum why_cause {
#define WHY_CAUSE_ID(name) WHY_##name,
	WHY_CAUSES(WHY_CAUSE_ID)
#undef WHY_CAUSE_ID
		WHY_CAUSE_COUNT
};

enum why_act {
#define WHY_ACT_ID(id, cause, says) WHY_##id,
	WHY_ACTS(WHY_ACT_ID)
#undef WHY_ACT_ID
		WHY_ACT_COUNT
};

struct why_act_info {
	const char *says;
	enum why_cause cause;
};

extern const char *const why_cause_names[WHY_CAUSE_COUNT];
extern const struct why_act_info why_acts[WHY_ACT_COUNT];

#endif
