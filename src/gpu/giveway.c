/* The job's own profiler comes first. A process has one set of CUPTI's buffers and one subscriber to its callbacks: torch.profiler, which
 * finds strata there, would lose records. So strata's library is preloaded and has the functions by which one begins: the call goes to
 * strata first, which hands over what it has, stops, puts the clock back, and passes the call on. From there to the end of the process
 * there are no rows of gpu_op, and table loss says who has them.
 *
 * Who loads libcupti with dlopen and asks it for these functions by name is not seen.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "gpu/library.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool watching;	 /* CUPTI records for strata */
static atomic_bool held; /* it does, or will, for somebody else */
static __thread bool own __attribute__((tls_model("initial-exec")));

bool giveway_held(void)
{
	return atomic_load(&held);
}

void giveway_begin_own(void)
{
	own = true;
}

void giveway_end_own(void)
{
	own = false;
}

/* The file that a caller is part of, without its folders. */
static const char *holder(void *caller)
{
	Dl_info info;
	const char *slash;

	if (!dladdr(caller, &info) || !info.dli_fname)
		return "the job";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

/* Somebody else calls. */
static void give_way(void *caller)
{
	if (own)
		return;
	pthread_mutex_lock(&lock);
	if (!atomic_exchange(&held, true) && watching) {
		own = true;
		activity_stop();
		own = false;
		library_note(GPU_NOTE_HELD, 0, holder(caller));
	}
	pthread_mutex_unlock(&lock);
}

void giveway_watch(const struct cupti *cupti)
{
	char text[256];
	const char *why;

	pthread_mutex_lock(&lock);
	if (atomic_load(&held)) {
		library_note(GPU_NOTE_HELD, 0, "the job");
	} else {
		own = true;
		why = activity_start(cupti, text, sizeof(text));
		own = false;
		watching = !why;
		if (why)
			library_note(GPU_NOTE_REFUSED, 0, why);
	}
	pthread_mutex_unlock(&lock);
}

/* Passes a call on to CUPTI itself. NOT_INITIALIZED: as CUPTI answers where it is not. */
#define CUPTI_NOT_INITIALIZED 15
#define PASS_ON(symbol, type, ...)                                               \
	do {                                                                     \
		type *function = (type *)cupti_own_function(symbol);             \
                                                                                 \
		give_way(__builtin_return_address(0));                           \
		return function ? function(__VA_ARGS__) : CUPTI_NOT_INITIALIZED; \
	} while (0)

typedef int register_function(cupti_request *, cupti_complete *);
typedef int subscribe_function(void **, cupti_callback *, void *);
typedef int subscribe_v2_function(void **, cupti_callback *, void *, void *);

GPU_EXPORT int cuptiActivityRegisterCallbacks(cupti_request *request, cupti_complete *complete);
GPU_EXPORT int cuptiActivityRegisterCallbacks(cupti_request *request, cupti_complete *complete)
{
	PASS_ON("cuptiActivityRegisterCallbacks", register_function, request, complete);
}

GPU_EXPORT int cuptiSubscribe(void **subscriber, cupti_callback *callback, void *user);
GPU_EXPORT int cuptiSubscribe(void **subscriber, cupti_callback *callback, void *user)
{
	PASS_ON("cuptiSubscribe", subscribe_function, subscriber, callback, user);
}

GPU_EXPORT int cuptiSubscribe_v2(void **subscriber, cupti_callback *callback, void *user,
				 void *parameters);
GPU_EXPORT int cuptiSubscribe_v2(void **subscriber, cupti_callback *callback, void *user,
				 void *parameters)
{
	PASS_ON("cuptiSubscribe_v2", subscribe_v2_function, subscriber, callback, user, parameters);
}
