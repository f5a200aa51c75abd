#include "analyze/walk.h"

#include <errno.h>

/* Where the pointer stands. */
struct cursor {
	const struct stays *stays;
	struct walk *walk;
	uint64_t t, from;
	uint32_t thread, at; /* a stay of the thread's list */
	uint32_t hop;
};

static const struct stay_row *row_of(const struct stays *stays, uint32_t thread, uint32_t at)
{
	return stay_at(stays, &stays->by_thread, thread, at);
}

static uint32_t place_of(const struct stays *stays, uint32_t thread, uint32_t at)
{
	return stays->by_thread.places[stays->by_thread.first[thread] + at];
}

uint64_t walk_left(const struct stays *stays, uint32_t thread, uint32_t at, bool *born)
{
	const struct stay_row *stay = row_of(stays, thread, at);
	const struct stay_birth *birth = stays_birth(stays, thread, stay->ts);
	uint64_t left = at ? row_of(stays, thread, at - 1)->end : 0;

	if (left > stay->ts)
		left = stay->ts;
	*born = birth && birth->ts >= left;
	return *born ? birth->ts : left;
}

uint64_t walk_ready(const struct stays *stays, uint32_t thread, uint32_t at)
{
	const struct stay_row *stay = row_of(stays, thread, at);
	bool born;
	uint64_t left = walk_left(stays, thread, at, &born);

	if (born || (at && row_of(stays, thread, at - 1)->state == END_STATE_R))
		return left;
	return stay->ready < left ? left : stay->ready;
}

/* Adds what lies between `start` and the pointer, and moves the pointer there. */
static int piece(struct cursor *c, uint64_t start, enum walk_act act)
{
	struct walk_piece piece = { .start = start > c->from ? start : c->from,
				    .end = c->t,
				    .stay = STAY_NONE,
				    .before = STAY_NONE,
				    .hop = c->hop,
				    .act = (uint8_t)act };

	if (start < c->t)
		c->t = start;
	if (piece.start >= piece.end)
		return 0;
	if (act != WALK_UNSEEN)
		piece.stay = place_of(c->stays, c->thread, c->at);
	if (act == WALK_SLEPT && c->at)
		piece.before = place_of(c->stays, c->thread, c->at - 1);
	return buf_append(&c->walk->pieces, &piece, sizeof(piece));
}

/* The stay that the pointer has come to the end of, or into. */
static int ran(struct cursor *c)
{
	return piece(c, row_of(c->stays, c->thread, c->at)->ts, WALK_RAN);
}

/* Stands on the thread's last stay that began before the pointer. */
static int stand_on(struct cursor *c, uint32_t thread, uint32_t at)
{
	uint64_t end = row_of(c->stays, thread, at)->end;

	c->thread = thread;
	c->at = at;
	if (end < c->t && piece(c, end, WALK_LATE))
		return -ENOMEM;
	return ran(c);
}

/* Goes to another thread at the same moment. */
static int follow(struct cursor *c, uint32_t thread)
{
	struct walk_hop hop = { place_of(c->stays, c->thread, c->at),
				c->at ? place_of(c->stays, c->thread, c->at - 1) : STAY_NONE,
				c->hop };
	uint32_t at = thread == STAY_NONE
			      ? STAY_NONE
			      : stays_before(c->stays, &c->stays->by_thread, thread, c->t);

	if (at == STAY_NONE)
		return piece(c, c->from, WALK_UNSEEN);
	c->hop = (uint32_t)(c->walk->hops.size / sizeof(hop));
	if (buf_append(&c->walk->hops, &hop, sizeof(hop)))
		return -ENOMEM;
	return stand_on(c, thread, at);
}

/* The pointer stands at the end of a sleep, before the stay `at`. */
static int slept(struct cursor *c)
{
	const struct stay_row *stay = row_of(c->stays, c->thread, c->at);
	bool born;

	if (stay->waker != STAY_NONE)
		return follow(c, stay->waker);
	if (!c->at)
		return piece(c, c->from, WALK_UNSEEN);
	if (piece(c, walk_left(c->stays, c->thread, c->at, &born), WALK_SLEPT))
		return -ENOMEM;
	c->at--;
	return ran(c);
}

/* The pointer stands at the beginning of the stay `at`. */
static int before_stay(struct cursor *c)
{
	const struct stay_birth *birth;
	uint64_t ready = walk_ready(c->stays, c->thread, c->at);
	bool born;

	walk_left(c->stays, c->thread, c->at, &born);
	if (piece(c, ready, WALK_READY))
		return -ENOMEM;
	if (c->t <= c->from)
		return 0;
	if (born) {
		birth = stays_birth(c->stays, c->thread, row_of(c->stays, c->thread, c->at)->ts);
		return follow(c, birth->creator);
	}
	if (!c->at || row_of(c->stays, c->thread, c->at - 1)->state != END_STATE_R)
		return slept(c);
	c->at--;
	return ran(c);
}

static void clear(struct walk *walk)
{
	walk->pieces.size = walk->hops.size = 0;
	walk->pieces.limit = walk->hops.limit = SIZE_MAX;
}

static int go_on(struct cursor *c)
{
	while (c->t > c->from)
		if (before_stay(c))
			return -ENOMEM;
	return 0;
}

int walk_back(struct walk *walk, const struct stays *stays, uint32_t thread, uint32_t at,
	      uint64_t from)
{
	struct cursor c = { .stays = stays,
			    .walk = walk,
			    .t = walk_ready(stays, thread, at),
			    .from = from,
			    .thread = thread,
			    .at = at,
			    .hop = UINT32_MAX };

	clear(walk);
	if (c.t > from && slept(&c))
		return -ENOMEM;
	return go_on(&c);
}

int walk_from(struct walk *walk, const struct stays *stays, uint32_t thread, uint64_t ts,
	      uint64_t from)
{
	struct cursor c = {
		.stays = stays, .walk = walk, .t = ts, .from = from, .hop = UINT32_MAX
	};
	uint32_t at = thread == STAY_NONE ? STAY_NONE
					  : stays_before(stays, &stays->by_thread, thread, ts);

	clear(walk);
	if (at == STAY_NONE)
		return piece(&c, from, WALK_UNSEEN);
	if (ts > from && stand_on(&c, thread, at))
		return -ENOMEM;
	return go_on(&c);
}

void walk_free(struct walk *walk)
{
	buf_free(&walk->pieces);
	buf_free(&walk->hops);
	*walk = (struct walk){ 0 };
}
