/* The ledger of the focus thread (analyze/why.h) in the Perfetto export: a track "why" below the thread, with a span for each stretch
 * that one cause has, and inside it what was done then. It is written as the rows pass, so that a limit of the size cuts both at
 * the same time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/why.h"
#include "render/perfetto.h"

struct why_spans {
	struct why why;
	size_t next; /* piece to be written */
	uint64_t track;
};

void why_open(struct perfetto *p)
{
	struct why_options options = { .focus = CELL_NULL, .keep_pieces = true };
	char text[sizeof(struct error) + 64];
	struct error e;
	int err;

	if (!(p->request->tables >> TABLE_sched & 1))
		return;
	p->why = calloc(1, sizeof(*p->why));
	if (!p->why) {
		p->error = -ENOMEM;
		return;
	}
	err = why_load(&p->why->why, p->run->path, p->run->reader, p->run->dims, &options, &e);
	if (!err)
		return;
	why_close(p);
	if (err == -ENODATA)
		return; /* nothing is wrong: it was not recorded for that */
	snprintf(text, sizeof(text), "the export has no track 'why': %s", e.text);
	if (p->request->warn)
		p->request->warn(p->request->data, text);
}

static uint32_t act_name(struct perfetto *p, const struct why_piece *piece)
{
	const char *says = why_acts[piece->act].says, *name = "";
	char text[512];
	size_t size = 0;
	int length;

	if (piece->name == UINT32_MAX)
		return name_intern(p, says, strlen(says));
	name = strings_get(&p->why->why.calls.names, piece->name, &size);
	length = snprintf(text, sizeof(text), "%s (%.*s)", says, (int)size, name);
	return name_intern(p, text,
			   (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

static void begin_span(struct perfetto *p, uint64_t ts, uint32_t name)
{
	struct slice slice = {
		.track = p->why->track, .ts = ts, .name = name, .category = PERFETTO_WHY
	};

	slice_begin(p, &slice, NULL);
}

static enum why_cause cause_of(const struct why_piece *piece)
{
	return why_acts[piece->act].cause;
}

/* The cause of the next pieces, as far as they have the same, and inside of it the acts, as far as they are the same. */
static void write_cause(struct perfetto *p)
{
	const struct ledger *ledger = &p->why->why.ledger;
	const struct why_piece *first = ledger_piece(ledger, p->why->next), *piece = first;
	const struct why_piece *end = ledger_piece(ledger, ledger_piece_count(ledger));
	const char *cause = why_cause_names[cause_of(first)];

	begin_span(p, first->start, name_intern(p, cause, strlen(cause)));
	while (piece < end && cause_of(piece) == cause_of(first) && piece->start <= p->run->to) {
		const struct why_piece *act = piece;

		while (piece < end && piece->act == act->act && piece->name == act->name)
			piece++;
		begin_span(p, act->start, act_name(p, act));
		slice_end(p, p->why->track, piece[-1].end);
	}
	slice_end(p, p->why->track, piece[-1].end);
	p->why->next = (size_t)(piece - ledger_piece(ledger, 0));
}

void why_advance(struct perfetto *p, uint64_t ts)
{
	const struct ledger *ledger = p->why ? &p->why->why.ledger : NULL;

	while (ledger && p->why->next < ledger_piece_count(ledger) && !p->error) {
		const struct why_piece *piece = ledger_piece(ledger, p->why->next);
		struct perfetto_thread *thread;

		if (piece->start > ts || piece->start > p->run->to)
			return;
		if (piece->start <
		    p->run->from) { /* as with rows: those that begin in the window */
			p->why->next++;
			continue;
		}
		if (!p->why->track) {
			thread = thread_at(p, p->why->why.focus_tid, piece->start);
			if (!thread)
				return;
			p->why->track = track_add(p, thread_track(p, thread), "why");
		}
		write_cause(p);
	}
}

void why_close(struct perfetto *p)
{
	if (p->why)
		why_free(&p->why->why);
	free(p->why);
	p->why = NULL;
}
