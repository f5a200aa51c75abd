#include "analyze/why_focus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/walk.h"

#define ETIMEDOUT_RESULT (-110)

/* Where in the life the charging is. Whatever the rows say, it only goes forward, so that the pieces tile the life. */
struct life {
	struct why *why;
	struct walk walk;
	uint64_t reached;
	uint32_t count; /* stays of the thread */
	uint32_t last;	/* of the sleeps that the walk explains: the one before this stay */
	bool walked;	/* the walk holds for the sleeps up to last */
	const struct stay_row
		*asleep; /* after this stay it sleeps; NULL: it is on a CPU, or ready */
};

static const struct stay_row *stay_of(const struct life *life, uint32_t at)
{
	return stay_at(&life->why->stays, &life->why->stays.by_thread, life->why->focus, at);
}

/* ---- adding ---- */

static int keep_chain(struct life *life, const struct walk_piece *piece, struct why_line *line)
{
	const struct walk_hop *hops = (const struct walk_hop *)life->walk.hops.data;
	uint32_t count = 0, at;

	free(line->chain);
	line->chain = NULL;
	line->chain_count = 0;
	if (!piece)
		return 0;
	for (at = piece->hop; at != UINT32_MAX; at = hops[at].from)
		count++;
	if (!count)
		return 0;
	line->chain = calloc(count, sizeof(*line->chain));
	if (!line->chain)
		return -ENOMEM;
	line->chain_count = count;
	for (at = piece->hop; at != UINT32_MAX; at = hops[at].from) {
		const struct stay_row *sleeper = stays_row(&life->why->stays, hops[at].sleeper);

		line->chain[--count] = (struct why_link){
			stays_tid(&life->why->stays, sleeper->thread), sleeper->name,
			hops[at].before == STAY_NONE
				? 0
				: stays_row(&life->why->stays, hops[at].before)->syscall
		};
	}
	return 0;
}

/* The call in which it was spent, on a CPU or asleep. */
static int cost_of_call(struct life *life, const struct verdict *verdict, uint64_t start,
			uint64_t end)
{
	const struct why *why = life->why;
	const char *name = NULL;
	size_t size = 0;

	if (life->asleep)
		name = stays_syscall(&why->stays, life->asleep->syscall, &size);
	else if (verdict->act == WHY_CALL)
		name = strings_get(&why->calls.names, verdict->name, &size);
	return size ? costs_add(&life->why->costs, WHY_COST_CALL, name, size, start, end) : 0;
}

static int cost_of_lock(struct life *life, const struct verdict *verdict, uint64_t start,
			uint64_t end)
{
	char name[32];
	int size;

	if (!verdict->lock)
		return 0;
	size = snprintf(name, sizeof(name), "futex 0x%llx", (unsigned long long)verdict->lock);
	return costs_add(&life->why->costs, WHY_COST_LOCK, name, (size_t)size, start, end);
}

/* Who was not the job's, and yet had its time. */
static bool is_foreign(enum why_act act)
{
	return act == WHY_READY_OTHER || act == WHY_READY_STRATA || act == WHY_SERVER ||
	       act == WHY_PEER || act == WHY_OTHER;
}

static int add_costs(struct life *life, const struct verdict *verdict, uint64_t start, uint64_t end)
{
	struct costs *costs = &life->why->costs;
	const char *name = "";
	size_t size = 0;

	if (verdict->name != UINT32_MAX)
		name = strings_get(&life->why->calls.names, verdict->name, &size);
	if (verdict->device && costs_add(costs, WHY_COST_DEVICE, name, size, start, end))
		return -ENOMEM;
	if (is_foreign(verdict->act) && size &&
	    costs_add(costs, WHY_COST_PROGRAM, name, size, start, end))
		return -ENOMEM;
	if (verdict->file != CELL_NULL && costs_add_file(costs, verdict->file, start, end))
		return -ENOMEM;
	return cost_of_lock(life, verdict, start, end) || cost_of_call(life, verdict, start, end)
		       ? -ENOMEM
		       : 0;
}

static int charge_as(struct life *life, const struct verdict *verdict, uint64_t start, uint64_t end,
		     const struct walk_piece *piece)
{
	struct ledger_entry entry = { verdict->act, verdict->name, verdict->file };
	struct why_line *longest;

	if (ledger_add(&life->why->ledger, &entry, start, end, &longest))
		return -ENOMEM;
	if (why_acts[verdict->act].cause == WHY_input &&
	    mix_add_wait(&life->why->mix, verdict->act, start, end))
		return -ENOMEM;
	windows_add(&life->why->windows, why_acts[verdict->act].cause, start, end);
	saves_add(&life->why->saves, life->why->focus, verdict->act, start, end);
	if (add_costs(life, verdict, start, end))
		return -ENOMEM;
	return longest ? keep_chain(life, piece, longest) : 0;
}

/* In a call that waits for a GPU the time is the GPU's, whether the thread sleeps or spins; unless it is stopped. */
static int charge(struct life *life, const struct verdict *verdict, uint64_t start, uint64_t end,
		  const struct walk_piece *piece)
{
	while (start < end) {
		const struct gpu_wait *wait = gpus_wait(&life->why->gpus, life->why->focus, start);
		struct verdict gpu = { .act = WHY_GPU, .file = CELL_NULL };
		bool inside = wait && wait->ts <= start && verdict->act != WHY_STOPPED;
		uint64_t to = end;

		if (inside) {
			gpu.name = wait->name;
			to = wait->end < end ? wait->end : end;
		} else if (wait && wait->ts > start && wait->ts < end) {
			to = wait->ts;
		}
		if (charge_as(life, inside ? &gpu : verdict, start, to, piece))
			return -ENOMEM;
		start = to;
	}
	return 0;
}

static int charge_act(struct life *life, enum why_act act, uint64_t start, uint64_t end)
{
	struct verdict verdict = { .act = act, .name = UINT32_MAX, .file = CELL_NULL };

	return charge(life, &verdict, start, end, NULL);
}

/* ---- on a CPU ---- */

static int charge_cpu(struct life *life, uint64_t start, uint64_t end)
{
	const struct buf *calls = &life->why->calls.calls;

	while (start < end) {
		const struct why_call *call = why_call_at(calls, life->why->focus, start);
		struct verdict verdict = { .act = WHY_USER, .name = UINT32_MAX, .file = CELL_NULL };
		uint64_t to = end;

		if (call) {
			verdict = (struct verdict){ .act = WHY_CALL,
						    .name = call->name,
						    .file = call->file };
			to = call->end;
		} else {
			call = why_call_next(calls, life->why->focus, start);
			if (call)
				to = call->ts;
		}
		to = to > end ? end : to;
		if (charge(life, &verdict, start, to, NULL))
			return -ENOMEM;
		start = to;
	}
	return 0;
}

/* ---- ready ---- */

/* Backward over the stays of that CPU. */
static int charge_ready(struct life *life, const struct stay_row *stay, uint64_t start,
			uint64_t end)
{
	const struct stays *stays = &life->why->stays;
	uint32_t at = stays_before(stays, &stays->by_cpu, stay->cpu, end);

	for (; at != STAY_NONE && start < end; at = at ? at - 1 : STAY_NONE) {
		const struct stay_row *other = stay_at(stays, &stays->by_cpu, stay->cpu, at);
		uint64_t to = other->end < end ? other->end : end;
		uint64_t from = other->ts > start ? other->ts : start;
		struct verdict verdict;

		if (to <= start)
			break;
		if (judge_ready(&life->why->judge, other, &verdict) ||
		    charge_act(life, WHY_READY_UNSEEN, to, end) ||
		    charge(life, &verdict, from, to, NULL))
			return -ENOMEM;
		end = from < to ? from : to;
	}
	return charge_act(life, WHY_READY_UNSEEN, start, end);
}

/* ---- asleep ---- */

static bool is_named(const struct life *life, uint32_t name, const char *text)
{
	size_t size;
	const char *bytes = strings_get(&life->why->calls.names, name, &size);

	return size == strlen(text) && !memcmp(bytes, text, size);
}

/* Whether it came back with nothing but the time that had passed. An epoll returns to its program for each event. */
static bool came_back_empty(const struct life *life, const struct why_call *call)
{
	if (call->table != TABLE_wait || !call->timed)
		return false;
	return call->returned == ETIMEDOUT_RESULT ||
	       (!call->returned && !is_named(life, call->name, "epoll_wait"));
}

/* Whether the sleeps before the stays `at` and `at` + 1 are one wait: in one call, or in the same call begun anew because it had
 * brought nothing. */
static bool goes_on(const struct life *life, uint32_t at)
{
	const struct stay_row *before = stay_of(life, at - 1), *between = stay_of(life, at);
	const struct buf *calls = &life->why->calls.calls;
	const struct why_call *first, *second;

	if (before->state != END_STATE_S || between->state != END_STATE_S || before->iowait ||
	    between->iowait || before->syscall != between->syscall || before->arg0 != between->arg0)
		return false;
	first = why_call_at(calls, life->why->focus,
			    walk_ready(&life->why->stays, life->why->focus, at));
	second = why_call_at(calls, life->why->focus,
			     walk_ready(&life->why->stays, life->why->focus, at + 1));
	if (!first || !second)
		return false;
	if (first == second)
		return true;
	return came_back_empty(life, first) && first->name == second->name &&
	       why_call_next(calls, life->why->focus, first->end) == second;
}

/* The sleeps that are one wait with the one before the stay `at` are explained together, by who ended the last. */
static int explain(struct life *life, uint32_t at, uint64_t from)
{
	uint32_t last = at;

	while (last + 1 < life->count && goes_on(life, last))
		last++;
	if (stay_of(life, last)->waker == STAY_NONE)
		last = at;
	life->last = last;
	life->walked = true;
	return walk_back(&life->walk, &life->why->stays, life->why->focus, last, from);
}

static int charge_sleep(struct life *life, uint32_t at, uint64_t start, uint64_t end)
{
	const struct stay_row *before, *after;
	const struct walk_piece *pieces;
	size_t count;

	if (start >= end)
		return 0;
	if ((!life->walked || at > life->last) && explain(life, at, start))
		return -ENOMEM;
	before = life->asleep = stay_of(life, life->last - 1);
	after = stay_of(life, life->last);
	pieces = (const struct walk_piece *)life->walk.pieces.data;
	count = life->walk.pieces.size / sizeof(*pieces);
	for (size_t i = 0; i < count && pieces[i].end > start; i++) {
		uint64_t from = pieces[i].start > start ? pieces[i].start : start;
		uint64_t to = pieces[i].end < end ? pieces[i].end : end;
		struct verdict verdict;

		if (from >= to)
			continue;
		if (judge_piece(&life->why->judge, &life->walk, &pieces[i], before, after,
				&verdict) ||
		    charge(life, &verdict, from, to, &pieces[i]))
			return -ENOMEM;
	}
	return 0;
}

/* ---- all of it ---- */

/* What lies before the stay `at`: asleep, then ready. */
static int charge_before(struct life *life, uint32_t at)
{
	const struct stay_row *stay = stay_of(life, at);
	uint64_t ready = walk_ready(&life->why->stays, life->why->focus, at);
	bool born;
	int err;

	if (stay->ts <= life->reached)
		return 0;
	if (ready < life->reached)
		ready = life->reached;
	walk_left(&life->why->stays, life->why->focus, at, &born);
	if (!at || born)
		err = charge_act(life, WHY_UNSEEN, life->reached, ready);
	else
		err = charge_sleep(life, at, life->reached, ready);
	life->asleep = NULL;
	return err ? err : charge_ready(life, stay, ready, stay->ts);
}

int focus_charge(struct why *why)
{
	struct life life = { .why = why, .reached = why->ledger.start };
	int err = 0;

	life.count = stay_list_count(&why->stays.by_thread, why->focus);
	for (uint32_t at = 0; at < life.count && !err && life.reached < why->ledger.end; at++) {
		const struct stay_row *stay = stay_of(&life, at);
		uint64_t start = stay->ts > life.reached ? stay->ts : life.reached;

		if (stay->end <= life.reached)
			continue;
		err = charge_before(&life, at);
		if (!err)
			err = charge_cpu(&life, start, stay->end);
		life.reached = stay->end;
	}
	if (!err)
		err = charge_act(&life, WHY_UNSEEN, life.reached, why->ledger.end);
	walk_free(&life.walk);
	return err;
}
