/* The walk from a sleeper to what it waited for, on random threads whose every moment is known: each unit of each sleep must be
 * charged to the thread, and for the act, that a search unit by unit through the whole history finds.
 */
#include "report_help.h"

#include "analyze/walk.h"

#define THREADS 6
#define CPUS	3
#define UNITS	240
#define UNIT	1000ll /* ns */
#define BEGIN	1000000000ll
#define NOBODY	(-1) /* woke it: an interrupt */

enum doing { GONE, RUNS, WAITS, SLEEPS };

/* What each thread did in each unit, and who ended the sleep that ended before it. */
struct history {
	unsigned threads, cpus;
	unsigned char doing[THREADS][UNITS + 1];
	unsigned char cpu[THREADS][UNITS];
	signed char waker[THREADS][UNITS + 1]; /* of the sleep that ended where this unit begins */
	bool woken[THREADS][UNITS + 1];
};

static unsigned next_random(unsigned *seed, unsigned below)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % below;
}

/* Who runs in the unit: those that did and still want to, then others that are ready. */
static void schedule(struct history *h, unsigned unit, unsigned *seed)
{
	unsigned running = 0, first = next_random(seed, h->threads);
	bool taken[CPUS] = { false };

	for (unsigned i = 0; i < h->threads; i++)
		if (h->doing[i][unit] == RUNS) {
			h->cpu[i][unit] = h->cpu[i][unit - 1];
			taken[h->cpu[i][unit]] = true;
			running++;
		}
	for (unsigned k = 0; k < h->threads && running < h->cpus; k++) {
		unsigned i = (first + k) % h->threads;

		if (h->doing[i][unit] != WAITS || next_random(seed, 3) == 0)
			continue;
		for (unsigned cpu = 0; cpu < h->cpus; cpu++)
			if (!taken[cpu]) {
				taken[cpu] = true;
				h->cpu[i][unit] = (unsigned char)cpu;
				break;
			}
		h->doing[i][unit] = RUNS;
		running++;
	}
}

/* What a running thread does at the end of its unit: goes on, is preempted, or sleeps; and it may wake a sleeper before that. */
static void run_unit(struct history *h, unsigned i, unsigned unit, unsigned *seed)
{
	unsigned choice = next_random(seed, 8), other = next_random(seed, h->threads);

	h->doing[i][unit + 1] = choice == 0 ? WAITS : choice == 1 ? SLEEPS : RUNS;
	if (next_random(seed, 3) == 0 && h->doing[other][unit] == SLEEPS &&
	    h->doing[other][unit + 1] == SLEEPS) {
		h->doing[other][unit + 1] = WAITS;
		h->waker[other][unit + 1] = (signed char)i;
		h->woken[other][unit + 1] = true;
	}
}

static void live(struct history *h, unsigned *seed)
{
	h->threads = 2 + next_random(seed, THREADS - 1);
	h->cpus = 1 + next_random(seed, CPUS);
	for (unsigned i = 0; i < h->threads; i++)
		h->doing[i][0] = WAITS;
	for (unsigned unit = 0; unit < UNITS; unit++) {
		schedule(h, unit, seed);
		for (unsigned i = 0; i < h->threads; i++)
			if (h->doing[i][unit] != RUNS)
				h->doing[i][unit + 1] = h->doing[i][unit];
		for (unsigned i = 0; i < h->threads; i++)
			if (h->doing[i][unit] == RUNS)
				run_unit(h, i, unit, seed);
		for (unsigned i = 0; i < h->threads; i++)
			if (h->doing[i][unit] == SLEEPS && h->doing[i][unit + 1] == SLEEPS &&
			    next_random(seed, 12) == 0) {
				h->doing[i][unit + 1] = WAITS;
				h->waker[i][unit + 1] = NOBODY;
				h->woken[i][unit + 1] = true;
			}
	}
}

static void add_stay_of(struct fixture *f, const struct history *h, unsigned i, unsigned from,
			unsigned to)
{
	unsigned ready = from;

	while (ready && h->doing[i][ready - 1] == WAITS)
		ready--;
	SET(sched, ts, BEGIN + from * UNIT);
	SET(sched, dur, (to - from) * UNIT);
	SET(sched, cpu, h->cpu[i][from]);
	SET(sched, pid, 100 + i);
	SET(sched, tid, 100 + i);
	SET(sched, wait, (from - ready) * UNIT);
	if (h->woken[i][ready]) {
		SET(sched, wake_ts, BEGIN + ready * UNIT);
		SET(sched, waker_kind,
		    h->waker[i][ready] == NOBODY ? WAKER_BY_TIMER : WAKER_BY_THREAD);
		if (h->waker[i][ready] != NOBODY)
			SET(sched, waker_tid, 100 + h->waker[i][ready]);
	}
	SET(sched, end_state, h->doing[i][to] == SLEEPS ? END_STATE_S : END_STATE_R);
	END(sched);
}

/* A stay ends with its unit or goes on in the next. */
static void add_history(struct fixture *f, const struct history *h)
{
	for (unsigned unit = 0; unit < UNITS; unit++)
		for (unsigned i = 0; i < h->threads; i++) {
			unsigned to = unit + 1;

			if (h->doing[i][unit] != RUNS || (unit && h->doing[i][unit - 1] == RUNS))
				continue;
			while (to < UNITS && h->doing[i][to] == RUNS)
				to++;
			add_stay_of(f, h, i, unit, to);
		}
}

/* ---- the other way to find it ---- */

struct answer {
	unsigned thread;
	enum walk_act act;
};

/* Unit by unit from the end of the sleep back to its beginning. */
static void search(const struct history *h, unsigned thread, unsigned from, unsigned to,
		   struct answer *answers)
{
	bool at_end = true; /* of a sleep: whoever ended it comes next */

	for (unsigned unit = to; unit-- > from;) {
		while (at_end && h->doing[thread][unit] == SLEEPS &&
		       h->waker[thread][unit + 1] != NOBODY && h->woken[thread][unit + 1])
			thread = (unsigned)h->waker[thread][unit + 1];
		answers[unit].thread = thread;
		answers[unit].act = h->doing[thread][unit] == RUNS    ? WALK_RAN
				    : h->doing[thread][unit] == WAITS ? WALK_READY
								      : WALK_SLEPT;
		at_end = h->doing[thread][unit] != SLEEPS;
	}
}

/* ---- comparison ---- */

static unsigned check_sleep(const struct stays *stays, const struct history *h, unsigned focus,
			    unsigned from, unsigned to, uint32_t at)
{
	struct answer answers[UNITS];
	struct walk walk = { 0 };
	const struct walk_piece *pieces;
	uint64_t reached = (uint64_t)(BEGIN + to * UNIT);

	search(h, focus, from, to, answers);
	assert_int_equal(walk_back(&walk, stays, stays_thread(stays, 100 + focus), at,
				   (uint64_t)(BEGIN + from * UNIT)),
			 0);
	pieces = (const struct walk_piece *)walk.pieces.data;
	for (size_t i = 0; i < walk.pieces.size / sizeof(*pieces); i++) {
		assert_int_equal(pieces[i].end, reached);
		reached = pieces[i].start;
		for (uint64_t ts = pieces[i].start; ts < pieces[i].end; ts += UNIT) {
			unsigned unit = (unsigned)((int64_t)(ts - BEGIN) / UNIT);

			if (pieces[i].act ==
			    WALK_UNSEEN) /* before its first stay nothing is told */
				continue;
			assert_int_equal(pieces[i].act, answers[unit].act);
			assert_int_equal(stays_tid(stays, stays_row(stays, pieces[i].stay)->thread),
					 100 + answers[unit].thread);
		}
	}
	assert_int_equal(reached, BEGIN + from * UNIT);
	walk_free(&walk);
	return to - from;
}

static unsigned check_history(const struct stays *stays, const struct history *h)
{
	unsigned units = 0;

	for (unsigned i = 0; i < h->threads; i++) {
		uint32_t thread = stays_thread(stays, 100 + i), at = 0;
		unsigned slept = 0;

		for (unsigned unit = 1; unit < UNITS && thread != STAY_NONE; unit++) {
			bool came = h->doing[i][unit] == RUNS && h->doing[i][unit - 1] != RUNS;

			if (h->doing[i][unit] == SLEEPS && h->doing[i][unit - 1] == RUNS)
				slept = unit;
			if (!came)
				continue;
			at = stays_before(stays, &stays->by_thread, thread,
					  (uint64_t)(BEGIN + unit * UNIT) + 1);
			if (slept) {
				unsigned to = unit;

				while (h->doing[i][to - 1] == WAITS)
					to--;
				units += check_sleep(stays, h, i, slept, to, at);
			}
			slept = 0;
		}
	}
	return units;
}

static void each_unit_of_random_sleeps_is_charged_as_a_search_finds(void **state)
{
	unsigned units = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 1000; seed++) {
		struct history h = { 0 };
		struct context context = { .window = { 0, UINT64_MAX } };
		unsigned random = seed;
		struct stays stays;
		void *own = NULL;
		struct fixture *f;
		struct error e;

		fixture_setup(&own);
		f = own;
		live(&h, &random);
		add_history(f, &h);
		help_write(f);
		assert_int_equal(context_open(&context, f->reader, f->dims, &context.window, &e),
				 0);
		assert_int_equal(stays_load(&stays, f->reader, &context, &e), 0);
		units += check_history(&stays, &h);
		stays_free(&stays);
		context_close(&context);
		fixture_teardown(&own);
	}
	assert_true(units > 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_unit_of_random_sleeps_is_charged_as_a_search_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
