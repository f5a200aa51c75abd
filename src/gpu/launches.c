/* Launches: which thread made the call that a record of the device names by its number (correlation), and when. CUPTI calls back at the
 * beginning of each call that gives the device something to do, or waits for it, and of no other; the number's place in a table holds
 * the thread and the time until the record comes, at most a second or two later.
 */
#include <stdatomic.h>
#include <string.h>

#include "gpu/library.h"

#define PLACES	(1u << 18)
#define MOST_ID 2048 /* numbers of functions, of which no CUDA has as many */

struct launch {
	_Atomic uint32_t correlation; /* 0: nothing, or just being written */
	uint32_t tid;
	uint64_t ts;
};

static struct launch launches[PLACES];
static void *subscriber;

static void on_call(void *user, uint32_t domain, uint32_t id, const void *data)
{
	const struct cupti_call *call = data;
	struct launch *launch = &launches[call->correlation % PLACES];

	(void)user;
	(void)domain;
	(void)id;
	/* A call of the runtime makes one of the driver, inside of it and perhaps under the same number: the first one counts. */
	if (call->site != CUPTI_ENTER || !call->correlation ||
	    atomic_load_explicit(&launch->correlation, memory_order_relaxed) == call->correlation)
		return;
	atomic_store_explicit(&launch->correlation, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	launch->tid = library_tid();
	launch->ts = library_now();
	atomic_store_explicit(&launch->correlation, call->correlation, memory_order_release);
}

bool launches_find(uint32_t correlation, uint32_t *tid, uint64_t *ts)
{
	struct launch *launch = &launches[correlation % PLACES];

	if (atomic_load_explicit(&launch->correlation, memory_order_acquire) != correlation)
		return false;
	*tid = launch->tid;
	*ts = launch->ts;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&launch->correlation, memory_order_relaxed) == correlation;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* By name: numbers are added with each CUDA. */
static bool is_launch(const char *name)
{
	name += begins(name, "cuda") ? 4 : begins(name, "cu") ? 2 : 0;
	return begins(name, "LaunchKernel") || begins(name, "LaunchCooperative") ||
	       begins(name, "LaunchGrid") || begins(name, "GraphLaunch") ||
	       begins(name, "Memcpy") || begins(name, "Memset") ||
	       begins(name, "StreamSynchronize") || begins(name, "EventSynchronize") ||
	       begins(name, "CtxSynchronize") || begins(name, "DeviceSynchronize") ||
	       begins(name, "StreamWaitEvent");
}

void launches_start(const struct cupti *cupti)
{
	static const uint32_t domains[] = { CUPTI_DRIVER, CUPTI_RUNTIME };

	/* Somebody else may have subscribed: then threads are not known, and all else is. */
	if (subscriber || cupti->subscribe(&subscriber, on_call, NULL)) {
		subscriber = NULL;
		return;
	}
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t id = 1; id < MOST_ID; id++) {
			const char *name = NULL;

			if (!cupti->callback_name(domains[i], id, &name) && name && is_launch(name))
				cupti->enable_callback(1, subscriber, domains[i], id);
		}
}

void launches_stop(const struct cupti *cupti)
{
	if (subscriber)
		cupti->unsubscribe(subscriber);
	subscriber = NULL;
}
