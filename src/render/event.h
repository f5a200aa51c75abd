/* A row as an event: when it was, whose, what it is called, where it belongs and what else there is to say of it. All of
 * that follows from the kinds and roles of the schema, so that a new table shows in every format with no word about
 * it there; a format only writes it down.
 *
 *     event_plan_make(&plan, TABLE_io);                    once a table
 *     event_read(&event, &plan, rows, ts);                 once a row
 *     for (unsigned i = 0; i < plan.argument_count; i++)
 *             write(&plan.arguments[i], rows_cell(rows, plan.arguments[i].column));
 */
#ifndef STRATA_RENDER_EVENT_H
#define STRATA_RENDER_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/shown.h"
#include "store/rows.h"

/* What rows of a table are to a format. */
enum event_class {
	EVENT_OTHER,  /* known to each format by itself, or to none */
	EVENT_SPAN,   /* something that began and, mostly, ended */
	EVENT_SAMPLE, /* numbers that hold over an interval: its arguments */
};

/* Where a span belongs. */
enum event_place {
	PLACE_NESTED, /* on its thread, inside what that does already */
	PLACE_BESIDE, /* on its thread, which does other things meanwhile */
	PLACE_APART, /* on tracks of its table: those of its keys, else of its thread, else of all */
};

/* A column that is not told otherwise, or the name beside an id. */
struct event_argument {
	const char *name;
	uint8_t kind; /* enum shown_kind */
	uint8_t role; /* enum column_role; ROLE_KEY: told by the track, where a format has one for each key */
	uint8_t type; /* enum column_type */
	uint8_t column;
};

/* How rows of a table are read. */
struct event_plan {
	const struct schema_table *schema;
	enum event_class class;
	bool moments; /* without a length it is a moment; otherwise unfinished */
	bool calls;   /* spans of a thread that nest */
	bool queues;  /* its label may be a call that runs beside its thread */
	int length, lead, pid, tid, label, file, result; /* columns, -1: none */
	unsigned key_count, argument_count;
	uint8_t keys[TABLE_MAX_COLUMNS]; /* columns */
	struct event_argument arguments[SHOWN_MAX_COLUMNS];
	uint64_t wanted; /* columns, as rows_open() takes them */
};

#define EVENT_NO_END UINT64_MAX

struct event_row {
	const struct event_plan *plan;
	const struct rows *rows;
	const char *name; /* its label, or that of the table */
	size_t name_size;
	uint64_t ts, end; /* nanoseconds; EVENT_NO_END: a moment, or unfinished */
	int64_t pid, tid; /* CELL_NULL: unknown, or none */
	enum event_place place;
	bool moment; /* without a length */
	bool untimed; /* and such a one only because its length is not known: it ended, for its result is known */
};

void event_plan_make(struct event_plan *plan, unsigned table);
void event_read(struct event_row *event, const struct event_plan *plan, const struct rows *rows,
		uint64_t ts);

/* When the row's time ended; EVENT_NO_END: it is not known. Rows of tables without lengths take none. */
uint64_t event_end(const struct event_plan *plan, const struct rows *rows, uint64_t ts);

/* Which of several things of one kind the row is about, as a text: "vda", "gpu 0 stream 7"; empty without keys. Cut to
 * the size. */
#define EVENT_KEYS_SIZE 512
void event_describe_keys(const struct event_row *event, char out[EVENT_KEYS_SIZE]);

/* Whether the argument is a path, known by the file in its column; SHOWN_FS_PATH may have one without a file. */
static inline bool event_argument_is_path(const struct event_argument *argument)
{
	return argument->kind == SHOWN_PATH || argument->kind == SHOWN_FS_PATH ||
	       argument->type == TYPE_PATH;
}

static inline bool event_argument_is_number(const struct event_argument *argument)
{
	return argument->kind == SHOWN_CELL &&
	       (argument->type == TYPE_UINT || argument->type == TYPE_INT ||
		argument->type == TYPE_REAL);
}

#endif
