/* See phase_pairs.h.
 *
 *     any    stops of a name, whatever their number     stop → stop → stop
 *     same   stops of a name with one number            stop ────────→ stop
 *
 * Every stop stands in one queue of each kind. The front of a queue moves on past stops that are taken or lie before the
 * start that asks: as starts ask in their order, it never has to move back.
 */
#include "analyze/phase_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"

/* Numbers of queues and events fit 32 bits: so do those of the rows of a table that is read. */
#define NO_EVENT UINT32_MAX

struct event_links {
	uint32_t any, same; /* the queues of its name, and of its name and number */
	uint32_t blank;	    /* the queue of its name and no number */
	uint32_t next_any,
		next_same; /* of a stop: the next in them; of a point: next_any is the next point */
	bool taken;
};

struct pairs {
	const struct said *events;
	size_t count;
	struct strings names;
	struct event_links *links;
	uint32_t *fronts; /* by queue */
};

/* The queue of a name, source and number; `what` keeps kinds of queues apart. */
static int number_queue(struct pairs *pairs, char what, const struct said *event,
			const char *number, uint32_t *queue)
{
	char key[1 + sizeof(event->source) + sizeof(event->stem) + sizeof(event->number)];
	size_t size = 0;

	key[size++] = what;
	for (const char *from = what == 'p' ? "" : event->source; *from;)
		key[size++] = *from++;
	key[size++] = '\0';
	for (const char *from = event->stem; *from;)
		key[size++] = *from++;
	key[size++] = '\0';
	for (; *number; number++)
		key[size++] = *number;
	return strings_add(&pairs->names, key, size, queue);
}

static int number_queues(struct pairs *pairs, size_t i)
{
	const struct said *event = &pairs->events[i];
	struct event_links *links = &pairs->links[i];
	int err;

	if (event->kind == MLLOG_POINT || event->span)
		return number_queue(pairs, 'p', event, "", &links->any);
	err = number_queue(pairs, 'a', event, "", &links->any);
	if (!err)
		err = number_queue(pairs, 's', event, event->number, &links->same);
	if (!err)
		err = number_queue(pairs, 's', event, "", &links->blank);
	return err;
}

/* From the last event to the first, so that the fronts are right for the first. Points have no fronts of their own later:
 * each keeps what followed it. */
static void link_events(struct pairs *pairs)
{
	for (size_t i = pairs->count; i-- > 0;) {
		const struct said *event = &pairs->events[i];
		struct event_links *links = &pairs->links[i];

		links->next_any = links->next_same = NO_EVENT;
		if (event->kind == MLLOG_START && !event->span)
			continue;
		links->next_any = pairs->fronts[links->any];
		if (event->span)
			continue;
		pairs->fronts[links->any] = (uint32_t)i;
		if (event->kind != MLLOG_STOP)
			continue;
		links->next_same = pairs->fronts[links->same];
		pairs->fronts[links->same] = (uint32_t)i;
	}
}

int pairs_open(struct pairs **out, const struct said *events, size_t count)
{
	struct pairs *pairs = calloc(1, sizeof(*pairs));
	int err = 0;

	*out = pairs;
	if (!pairs)
		return -ENOMEM;
	*pairs = (struct pairs){ .events = events,
				 .count = count,
				 .links = calloc(count + 1, sizeof(*pairs->links)) };
	if (!pairs->links || count >= NO_EVENT)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++)
		err = number_queues(pairs, i);
	if (err)
		return err;
	pairs->fronts = malloc((pairs->names.count + 1) * sizeof(*pairs->fronts));
	if (!pairs->fronts)
		return -ENOMEM;
	memset(pairs->fronts, 0xff, (pairs->names.count + 1) * sizeof(*pairs->fronts));
	link_events(pairs);
	return 0;
}

void pairs_close(struct pairs *pairs)
{
	if (!pairs)
		return;
	strings_free(&pairs->names);
	free(pairs->links);
	free(pairs->fronts);
	free(pairs);
}

/* Moves the front of a queue on to the first stop after i that is not taken. */
static uint32_t move_front(struct pairs *pairs, uint32_t queue, bool any, size_t i)
{
	uint32_t at = pairs->fronts[queue];

	while (at != NO_EVENT && (at <= i || pairs->links[at].taken))
		at = any ? pairs->links[at].next_any : pairs->links[at].next_same;
	pairs->fronts[queue] = at;
	return at;
}

size_t pairs_take_stop(struct pairs *pairs, size_t i)
{
	const struct event_links *links = &pairs->links[i];
	uint32_t found, blank;

	if (*pairs->events[i].number) {
		found = move_front(pairs, links->same, false, i);
		blank = move_front(pairs, links->blank, false, i);
		found = blank < found ? blank : found;
	} else {
		found = move_front(pairs, links->any, true, i);
	}
	if (found == NO_EVENT)
		return PAIRS_NONE;
	pairs->links[found].taken = true;
	return found;
}

bool pairs_taken(const struct pairs *pairs, size_t i)
{
	return pairs->links[i].taken;
}

size_t pairs_next_point(const struct pairs *pairs, size_t i)
{
	uint32_t next = pairs->links[i].next_any;

	return next == NO_EVENT ? PAIRS_NONE : next;
}
