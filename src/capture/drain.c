/* Thread layout:
 *
 *     rings 0..7 ──▶ worker 0: row maker ─ ─┐
 *     rings 8..15 ─▶ worker 1: row maker ─ ─┴─▶ writer (locks)
 *
 * A worker sleeps until a doorbell or for POLL_MS, empties its rings, and writes chunks that have aged. One more does so with what
 * libraries inside of the job write.
 */
#include "capture/drain.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probes/names.h"

#define RINGS_A_WORKER 8
#define POLL_MS	       100
#define WRITE_AGE      (700 * 1000000ull)

/* Nice values: while rings fill fast, a busy job must not starve the thread that empties them; else that takes
 * the time which the job leaves. */
#define URGENT (-10)
#define POLITE 10

struct worker {
	pthread_t thread;
	bool started;
	bool may_hurry; /* strata may raise its own priority */
	bool urgent;
	struct drain *drain;
	struct ring_buffer *rings; /* NULL: */
	struct injected *injected; /* it empties that instead */
	int bells;		   /* epoll: of the rings, and stop_event */
	struct row_maker maker;
	_Atomic pid_t tid;  /* 0 until it runs */
	_Atomic int failed; /* sink.failed, for other threads */
};

struct drain {
	struct kernel *kernel;
	int job_event;
	atomic_bool stop;
	atomic_bool pause;
	int stop_event; /* wakes all workers when stop or pause is set */
	_Atomic uint64_t watch;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	unsigned paused; /* workers that wait */
	struct writer *writer;
	unsigned count;
	struct worker *workers;
};

static int worker_take(void *context, void *data, size_t size)
{
	struct worker *worker = context;
	const struct record *record = data;

	if (record->probe < PROBE_COUNT && probes[record->probe]->decode)
		probes[record->probe]->decode(&worker->maker, record, size);
	return 0;
}

/* Tells the session what only it can act on: the job is gone, or nothing can be written any more. */
static void worker_report(struct worker *worker)
{
	int failed = worker->maker.sink.failed;
	uint64_t watch = worker->drain->watch;

	if (watch && writer_size(worker->maker.sink.writer) >= watch)
		eventfd_write(worker->drain->job_event, 1);
	if (!kernel_live(worker->drain->kernel) || (failed && !worker->failed)) {
		worker->failed = failed;
		eventfd_write(worker->drain->job_event, 1);
	}
}

static void worker_hurry(struct worker *worker, bool urgent)
{
	if (!worker->may_hurry || worker->urgent == urgent)
		return;
	worker->urgent = urgent;
	setpriority(PRIO_PROCESS, (id_t)worker->tid, urgent ? URGENT : POLITE);
}

static void worker_consume(struct worker *worker, bool last)
{
	if (worker->injected)
		injected_read(worker->injected, &worker->maker, last);
	else
		ring_buffer__consume(worker->rings);
}

/* Sleeps until there is something to do, or may be. Returns whether rings fill fast. */
static bool worker_sleep(struct worker *worker)
{
	struct epoll_event rung[RINGS_A_WORKER + 1];

	if (!worker->injected)
		return epoll_wait(worker->bells, rung, RINGS_A_WORKER + 1, POLL_MS) > 0;
	return injected_wait(worker->injected);
}

/* All that came so far goes into the file that ends here. */
static void worker_wait(struct worker *worker)
{
	struct drain *drain = worker->drain;

	worker_consume(worker, false);
	sink_flush(&worker->maker.sink, 0);
	pthread_mutex_lock(&drain->lock);
	drain->paused++;
	pthread_cond_broadcast(&drain->changed);
	while (drain->pause)
		pthread_cond_wait(&drain->changed, &drain->lock);
	drain->paused--;
	worker->maker.sink.writer = drain->writer;
	pthread_cond_broadcast(&drain->changed);
	pthread_mutex_unlock(&drain->lock);
}

static void *worker_run(void *context)
{
	struct worker *worker = context;
	struct sink *sink = &worker->maker.sink;

	worker->tid = gettid();
	worker->may_hurry = !setpriority(PRIO_PROCESS, (id_t)worker->tid, URGENT);
	worker->urgent = worker->may_hurry;
	while (!worker->drain->stop) {
		worker_hurry(worker, worker_sleep(worker));
		worker_consume(worker, false);
		sink_flush(sink, WRITE_AGE);
		if (worker->drain->pause)
			worker_wait(worker);
		worker_report(worker);
	}
	worker_consume(worker, true);
	sink_flush(sink, 0);
	worker->failed = sink->failed;
	return NULL;
}

static int worker_listen(struct worker *worker, int fd, struct error *e)
{
	/* Each ring of a bell once: a ring that has something in it, as most have all the time, is no reason to wake. */
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	if (epoll_ctl(worker->bells, EPOLL_CTL_ADD, fd, &event))
		return error_errno(e, "cannot wait for a ring buffer");
	return 0;
}

static int worker_add_ring(struct worker *worker, int fd, struct error *e)
{
	int err = 0;

	if (!worker->rings) {
		worker->rings = ring_buffer__new(fd, worker_take, worker, NULL);
		err = worker->rings ? 0 : -errno;
	} else {
		err = ring_buffer__add(worker->rings, fd, worker_take, worker);
	}
	if (err)
		return error_set(e, err, "cannot map a ring buffer: %s", strerror(-err));
	return worker_listen(worker, fd, e);
}

static int worker_open(struct worker *worker, struct drain *drain, struct kept *kept,
		       struct error *e)
{
	worker->drain = drain;
	sink_init(&worker->maker.sink, drain->writer);
	worker->maker.sink.kept = kept;
	worker->maker.calls = kernel_calls(drain->kernel);
	worker->bells = epoll_create1(EPOLL_CLOEXEC);
	if (worker->bells < 0)
		return error_errno(e, "cannot make an epoll");
	return worker_listen(worker, drain->stop_event, e);
}

int drain_open(struct drain **out, struct kernel *kernel, struct injected *injected,
	       struct writer *writer, struct kept *kept, int job_event, struct error *e)
{
	unsigned cpus = kernel_ring_count(kernel), count, next = 0;
	struct drain *drain = calloc(1, sizeof(*drain));
	int err = 0;

	*out = drain;
	if (!drain)
		return error_set(e, -ENOMEM, "out of memory");
	drain->kernel = kernel;
	drain->writer = writer;
	pthread_mutex_init(&drain->lock, NULL);
	pthread_cond_init(&drain->changed, NULL);
	drain->job_event = job_event;
	drain->stop_event = eventfd(0, EFD_CLOEXEC);
	if (drain->stop_event < 0)
		return error_errno(e, "cannot make an eventfd");
	count = (cpus + RINGS_A_WORKER - 1) / RINGS_A_WORKER + !!injected;
	drain->workers = calloc(count, sizeof(*drain->workers));
	if (!drain->workers)
		return error_set(e, -ENOMEM, "out of memory");
	while (drain->count < count && !err) {
		drain->workers[drain->count].maker.unloaded = injected_unloaded(injected);
		err = worker_open(&drain->workers[drain->count++], drain, kept, e);
	}
	for (unsigned cpu = 0; cpu < cpus && !err; cpu++)
		if (kernel_ring_fd(kernel, cpu) >= 0)
			err = worker_add_ring(&drain->workers[next++ / RINGS_A_WORKER],
					      kernel_ring_fd(kernel, cpu), e);
	drain->workers[count - 1].injected = injected;
	for (unsigned i = 0; i < drain->count && !err; i++) {
		if (!drain->workers[i].rings && !drain->workers[i].injected)
			continue;
		err = -pthread_create(&drain->workers[i].thread, NULL, worker_run,
				      &drain->workers[i]);
		if (err)
			error_set(e, err, "cannot start a thread: %s", strerror(-err));
		else
			drain->workers[i].started = true;
	}
	return err;
}

void drain_watch(struct drain *drain, uint64_t bytes)
{
	drain->watch = bytes;
}

static unsigned drain_started(const struct drain *drain)
{
	unsigned started = 0;

	for (unsigned i = 0; i < drain->count; i++)
		started += drain->workers[i].started;
	return started;
}

/* Has all threads look whether they are to stop or to wait. */
static void drain_ring(struct drain *drain)
{
	eventfd_write(drain->stop_event, 1);
	for (unsigned i = 0; i < drain->count; i++)
		if (drain->workers[i].injected)
			injected_wake(drain->workers[i].injected);
}

void drain_pause(struct drain *drain)
{
	unsigned started = drain_started(drain);

	drain->pause = true;
	drain_ring(drain);
	pthread_mutex_lock(&drain->lock);
	while (drain->paused < started)
		pthread_cond_wait(&drain->changed, &drain->lock);
	pthread_mutex_unlock(&drain->lock);
}

void drain_resume(struct drain *drain, struct writer *writer)
{
	pthread_mutex_lock(&drain->lock);
	drain->writer = writer;
	drain->pause = false;
	pthread_cond_broadcast(&drain->changed);
	while (drain->paused) /* else the next pause would count one that has not gone yet */
		pthread_cond_wait(&drain->changed, &drain->lock);
	pthread_mutex_unlock(&drain->lock);
}

int drain_failed(struct drain *drain, struct error *e)
{
	for (unsigned i = 0; i < drain->count; i++) {
		if (!drain->workers[i].failed)
			continue;
		*e = drain->workers[i].maker.sink.error;
		return drain->workers[i].failed;
	}
	return 0;
}

int drain_stop(struct drain *drain, struct error *e)
{
	drain->stop = true;
	drain_ring(drain);
	for (unsigned i = 0; i < drain->count; i++) {
		if (drain->workers[i].started)
			pthread_join(drain->workers[i].thread, NULL);
		drain->workers[i].started = false;
	}
	return drain_failed(drain, e);
}

void drain_dropped(const struct drain *drain, uint64_t dropped[])
{
	for (unsigned i = 0; i < drain->count; i++)
		for (unsigned table = 0; table < TABLE_COUNT; table++)
			dropped[table] += drain->workers[i].maker.sink.dropped[table];
}

void drain_tids(const struct drain *drain, char *out, size_t size)
{
	size_t length = 0;

	*out = 0;
	for (unsigned i = 0; i < drain->count && length < size; i++)
		if (drain->workers[i].tid)
			length += (size_t)snprintf(out + length, size - length, ",%d",
						   (int)drain->workers[i].tid);
}

static void maker_free(struct row_maker *maker)
{
	names_forget(maker);
	buf_free(&maker->scratch);
	sink_free(&maker->sink);
}

void drain_close(struct drain *drain)
{
	struct error ignored;

	if (!drain)
		return;
	drain_stop(drain, &ignored);
	for (unsigned i = 0; i < drain->count; i++) {
		ring_buffer__free(drain->workers[i].rings);
		if (drain->workers[i].bells >= 0)
			close(drain->workers[i].bells);
		maker_free(&drain->workers[i].maker);
	}
	if (drain->stop_event >= 0)
		close(drain->stop_event);
	free(drain->workers);
	free(drain);
}
