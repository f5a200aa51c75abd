/* The focus thread's time as lines that add up to it: one line for each act and name, each with its longest piece's chain and the
 * files behind it, and the same time by context.
 *
 * Contexts are a second key, not causes: start-up, training, the turn from one pass over the data to the next, evaluation and
 * checkpoints in the loop, shut-down. They tile the thread's life, told by the steps; without steps there is one, the run.
 */
#ifndef STRATA_ANALYZE_WHY_LEDGER_H
#define STRATA_ANALYZE_WHY_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/steps.h"
#include "analyze/why_acts.h"
#include "base/buf.h"
#include "base/numbering.h"

#define WHY_CONTEXTS(CONTEXT)             \
	CONTEXT(START, "start-up")        \
	CONTEXT(TRAINING, "training")     \
	CONTEXT(TURN, "epoch turn-over")  \
	CONTEXT(EVALUATION, "evaluation") \
	CONTEXT(SAVE, "checkpoint")       \
	CONTEXT(END, "shut-down")         \
	CONTEXT(RUN, "run")

enum why_context_id {
#define WHY_CONTEXT_ID(id, name) WHY_CONTEXT_##id,
	WHY_CONTEXTS(WHY_CONTEXT_ID)
#undef WHY_CONTEXT_ID
		WHY_CONTEXT_COUNT
};

extern const char *const why_context_names[WHY_CONTEXT_COUNT];

struct why_file {
	int64_t file;
	uint64_t ns;
	uint32_t line; /* while loading: the line that it is of */
};

/* A thread that slept until the next one in the chain woke it. */
struct why_link {
	int64_t tid;
	uint32_t name;	  /* of its task, in context.who.names */
	uint16_t syscall; /* that it slept in, see stays_syscall(); 0: none */
};

struct why_line {
	enum why_act act;
	uint32_t name; /* in why_calls.names; UINT32_MAX: none */
	uint64_t ns, pieces;
	uint64_t longest_ns; /* of one piece */
	uint64_t longest_ts; /* when it began */
	uint64_t by_context[WHY_CONTEXT_COUNT];
	double share;		/* of the whole */
	struct why_link *chain; /* of the longest piece, the focus thread first */
	size_t chain_count;
	struct why_file *files; /* those that cost most */
	size_t file_count;
};

/* All lines of one act: what people read as one line. */
struct why_sum {
	enum why_act act;
	uint64_t ns, pieces;
	double share;
	size_t line_count;
	uint64_t by_context[WHY_CONTEXT_COUNT];
};

/* A stretch of the life in one context that one thing explains. */
struct why_piece {
	uint64_t start, end;
	int64_t file; /* CELL_NULL: none */
	uint32_t name;
	enum why_act act;
	enum why_context_id context;
};

struct ledger {
	struct why_sum sums[WHY_ACT_COUNT]; /* the greatest first once finished */
	size_t sum_count;
	struct buf lines;   /* struct why_line, the greatest first once finished */
	struct buf borders; /* struct why_border, in order of time */
	struct buf files;   /* struct why_file */
	struct numbering by_line, by_file;
	bool keeps_pieces;
	struct buf
		pieces; /* struct why_piece, where they are kept; once finished in order of time, tiling the life */
	uint64_t total_ns;
	uint64_t by_context[WHY_CONTEXT_COUNT];
	uint64_t causes[WHY_CAUSE_COUNT];
	uint64_t context_causes[WHY_CONTEXT_COUNT][WHY_CAUSE_COUNT];
	uint64_t start, end; /* the life that is told */
};

/* What a piece went to. */
struct ledger_entry {
	enum why_act act;
	uint32_t name;
	int64_t file;
};

struct why_span {
	uint64_t start, end;
};

int ledger_open(struct ledger *ledger, uint64_t start, uint64_t end, const struct steps *steps);

/* Cuts spans of the loop, in order of time and without overlap, out of the contexts around them. 0 or -ENOMEM. */
int ledger_cut(struct ledger *ledger, const struct why_span *spans, size_t count,
	       enum why_context_id context);

/* Adds [start, end), as far as it lies in the life. Gives the line when this is its longest piece so far, so that the caller can say how it
 * was come to; else NULL. 0 or -ENOMEM. */
int ledger_add(struct ledger *ledger, const struct ledger_entry *entry, uint64_t start,
	       uint64_t end, struct why_line **longest);
int ledger_finish(struct ledger *ledger);
void ledger_close(struct ledger *ledger);

static inline size_t ledger_count(const struct ledger *ledger)
{
	return ledger->lines.size / sizeof(struct why_line);
}

static inline const struct why_line *ledger_line(const struct ledger *ledger, size_t i)
{
	return (const struct why_line *)ledger->lines.data + i;
}

static inline size_t ledger_piece_count(const struct ledger *ledger)
{
	return ledger->pieces.size / sizeof(struct why_piece);
}

static inline const struct why_piece *ledger_piece(const struct ledger *ledger, size_t i)
{
	return (const struct why_piece *)ledger->pieces.data + i;
}

#endif
