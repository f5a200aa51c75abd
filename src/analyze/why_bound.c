#include "analyze/why_bound.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/walk.h"
#include "analyze/why.h"

struct worker {
	uint64_t start, end; /* of its life, as far as it lies in the loop */
	uint64_t ran, ready, storage, slept, other;
};

static uint64_t overlap(uint64_t from, uint64_t to, const struct worker *worker)
{
	from = from < worker->start ? worker->start : from;
	to = to > worker->end ? worker->end : to;
	return to > from ? to - from : 0;
}

/* The stay's waker is a thread of the focus thread's process, which hands out what is to be done. */
static bool was_idle(const struct why *why, const struct stay_row *stay)
{
	uint32_t at;

	if (stay->waker == STAY_NONE)
		return false;
	at = stays_before(&why->stays, &why->stays.by_thread, stay->waker, stay->ready + 1);
	return at != STAY_NONE &&
	       stay_at(&why->stays, &why->stays.by_thread, stay->waker, at)->proc ==
		       why->focus_proc;
}

static int add_sleep(struct why *why, struct worker *worker, const struct stay_row *before,
		     const struct stay_row *after, uint64_t ns)
{
	struct verdict verdict;

	if (was_idle(why, after))
		return 0;
	if (judge_sleep(&why->judge, before, after, &verdict))
		return -ENOMEM;
	if (after->waker == STAY_NONE && why_acts[verdict.act].cause == WHY_storage)
		worker->storage += ns;
	else if (after->waker == STAY_NONE && why_acts[verdict.act].cause == WHY_sleep)
		worker->slept += ns;
	else
		worker->other += ns;
	return 0;
}

/* What the thread did while it was busy. */
static int measure(struct why *why, uint32_t thread, struct worker *worker)
{
	uint32_t count = stay_list_count(&why->stays.by_thread, thread);

	for (uint32_t at = 0; at < count; at++) {
		const struct stay_row *stay =
			stay_at(&why->stays, &why->stays.by_thread, thread, at);
		uint64_t ready = walk_ready(&why->stays, thread, at);
		bool born;
		uint64_t left = walk_left(&why->stays, thread, at, &born);

		worker->ran += overlap(stay->ts, stay->end, worker);
		worker->ready += overlap(ready, stay->ts, worker);
		if (at && !born && ready > left &&
		    add_sleep(why, worker,
			      stay_at(&why->stays, &why->stays.by_thread, thread, at - 1), stay,
			      overlap(left, ready, worker)))
			return -ENOMEM;
	}
	return 0;
}

/* What is left of the worker's work without the act. */
static uint64_t rest_of(const struct worker *worker, enum why_act act)
{
	uint64_t busy =
		worker->ran + worker->ready + worker->storage + worker->slept + worker->other;

	switch (act) {
	case WHY_WORKER_RAN: return busy - worker->ran;
	case WHY_WORKER_READY: return busy - worker->ready;
	case WHY_WORKER_STORAGE: return busy - worker->storage;
	case WHY_WORKER_SLEPT: return busy - worker->slept;
	case WHY_WORKER_WAITED: return busy - worker->other;
	default: return busy;
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct worker *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

/* Workers in order of birth: one that is born after all others of the generation have ended begins the next. */
static uint64_t sum_generations(const struct worker *workers, size_t count, enum why_act act)
{
	uint64_t sum = 0, most = 0, end = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t rest = rest_of(&workers[i], act);

		if (workers[i].start >= end) {
			sum += most;
			most = 0;
		}
		most = rest > most ? rest : most;
		end = workers[i].end > end ? workers[i].end : end;
	}
	return sum + most;
}

static int find_workers(struct why *why, uint64_t start, uint64_t end, struct buf *workers)
{
	const struct context *context = &why->context;

	for (uint32_t i = 0; i < procs_count(context->procs); i++) {
		const struct proc *proc = procs_get(context->procs, i);
		struct worker worker = { .start = proc->start > start ? proc->start : start,
					 .end = proc->end < end ? proc->end : end };
		uint32_t thread = stays_thread(&why->stays, proc->pid);

		if (context->roles.of[i] != PROC_ROLE_WORKER || thread == STAY_NONE ||
		    worker.start >= worker.end)
			continue;
		if (measure(why, thread, &worker) || buf_append(workers, &worker, sizeof(worker)))
			return -ENOMEM;
	}
	if (workers->size)
		qsort(workers->data, workers->size / sizeof(struct worker), sizeof(struct worker),
		      compare_starts);
	return 0;
}

/* What the workers need without the act, however fast the loop is. */
static int bound_by_workers(struct why *why, enum why_act act, uint64_t *left)
{
	struct buf workers = { 0 };
	int err = find_workers(why, why->verdict.start, why->verdict.end, &workers);

	*left = sum_generations((const struct worker *)workers.data,
				workers.size / sizeof(struct worker), act);
	buf_free(&workers);
	return err;
}

/* However fast all else is, the device has its work to do. */
static void bound_by_gpus(const struct why *why, struct why_claim *claim)
{
	if (claim->cause == WHY_gpu)
		return;
	for (size_t i = 0; i < gpus_count(&why->gpus); i++) {
		uint64_t busy = gpus_get(&why->gpus, i)->loop_busy_ns;

		if (busy > claim->bound_ns) {
			claim->bound_ns = busy;
			claim->limit = WHY_LIMIT_GPU;
		}
	}
}

int why_bound(struct why *why, struct why_claim *claim)
{
	const struct why_verdict *verdict = &why->verdict;
	uint64_t left = 0;

	claim->limit = WHY_LIMIT_LOOP;
	if (claim->cause != WHY_input) {
		claim->bound_ns = verdict->of_ns - claim->act_ns;
		bound_by_gpus(why, claim);
		return 0;
	}
	claim->bound_ns = verdict->of_ns - claim->ns;
	if (bound_by_workers(why, claim->act, &left))
		return -ENOMEM;
	if (left > claim->bound_ns) {
		claim->bound_ns = left > verdict->of_ns ? verdict->of_ns : left;
		claim->limit = WHY_LIMIT_WORKERS;
	}
	bound_by_gpus(why, claim);
	return 0;
}
