/* Events and counters of a .pfw file, in the dialect of DFAnalyzer.
 *
 * Perfetto drops what overlaps on one thread without nesting, so such events get a thread number of their own
 * (pfw_lanes.h); args.tid then has the real one.
 */
#include <stdio.h>
#include <string.h>

#include "render/pfw.h"

/* Columns that DFAnalyzer knows under other names; paths are hashes there. */
static const char *const dialect[][2] = {
	{ "returned", "ret" },	     { "pos", "offset" },	  { "requested", "size" },
	{ "bytes", "size" },	     { "out_pos", "out_offset" }, { "path", "fhash" },
	{ "out_path", "out_fhash" },
};

static const char *argument_name(const char *column)
{
	for (unsigned i = 0; i < sizeof(dialect) / sizeof(*dialect); i++)
		if (!strcmp(dialect[i][0], column))
			return dialect[i][1];
	return column;
}

void pfw_prepare(struct pfw *w)
{
	for (unsigned table = 0; table < TABLE_COUNT; table++) {
		struct event_plan *plan = &w->plans[table];

		event_plan_make(plan, table);
		for (unsigned i = 0; i < plan->argument_count; i++)
			w->names[table][i] = argument_name(plan->arguments[i].name);
	}
}

/* What an event is in the file. */
struct pfw_event {
	const struct event_row *row;
	const char *const *names;	    /* of its arguments */
	uint64_t ts, end;		    /* microseconds; EVENT_NO_END: a moment */
	bool unfinished;		    /* its end is that of the recording */
	uint64_t pid, tid;		    /* tid may be a lane's */
	uint64_t hashes[SHOWN_MAX_COLUMNS]; /* of the paths among the arguments, 0: none */
};

static uint64_t microseconds(const struct pfw *w, uint64_t ts)
{
	return (ts + w->shift) / 1000;
}

static uint64_t number_of(int64_t id)
{
	return id == CELL_NULL ? 0 : (uint64_t)id;
}

static void put_name(struct pfw_line *line, const char *name)
{
	line_literal(line, ",\"");
	line_literal(line, name);
	line_literal(line, "\":");
}

static void put_cell(struct pfw_line *line, const struct event_argument *argument,
		     const struct rows *rows, int64_t cell)
{
	const char *text;
	size_t size;

	switch (argument->type) {
	case TYPE_UINT: line_uint(line, (uint64_t)cell); break;
	case TYPE_BOOL: line_literal(line, cell ? "true" : "false"); break;
	case TYPE_REAL: line_real(line, cell); break;
	case TYPE_TEXT:
	case TYPE_NAME:
		text = rows_text(rows, argument->column, &size);
		line_text(line, text ? text : "", text ? size : 0);
		break;
	default: line_int(line, cell); break;
	}
}

static void put_arguments(struct pfw_line *line, const struct pfw_event *event)
{
	const struct event_plan *plan = event->row->plan;
	const struct rows *rows = event->row->rows;

	for (unsigned i = 0; i < plan->argument_count; i++) {
		const struct event_argument *argument = &plan->arguments[i];
		int64_t cell = rows_cell(rows, argument->column);

		if (event->hashes[i]) {
			put_name(line, event->names[i]);
			line_hash(line, event->hashes[i]);
		} else if (cell != CELL_NULL && !event_argument_is_path(argument)) {
			put_name(line, event->names[i]);
			put_cell(line, argument, rows, cell);
		}
	}
}

/* What the event is called; *call: the system call, where that has another name. */
static const char *event_name(const struct pfw *w, const struct event_row *row, size_t *size,
			      const char **call)
{
	int number;

	*call = NULL;
	*size = row->name_size;
	if (!w->request->libc_names || !row->plan->queues)
		return row->name;
	number = rows_name(row->rows, (unsigned)row->plan->label);
	if (number < 0 || !schema_libc_names[number])
		return row->name;
	*call = schema_syscalls[number].name;
	*size = strlen(schema_libc_names[number]);
	return schema_libc_names[number];
}

/* DFAnalyzer wants a length of every call: one that never ended lasts to the end of the recording, one of which only
 * the result was seen takes none. */
static void put_length(struct pfw_line *line, const struct pfw_event *event)
{
	line_literal(line, ",\"ts\":");
	line_uint(line, event->ts);
	if (event->end == EVENT_NO_END) {
		line_literal(line, ",\"ph\":\"i\",\"s\":\"t\"");
		return;
	}
	line_literal(line, ",\"dur\":");
	line_uint(line, event->end - event->ts);
	line_literal(line, ",\"ph\":\"X\"");
}

static void write_event(struct pfw *w, const struct pfw_event *event)
{
	const struct event_row *row = event->row;
	const char *call, *name;
	struct pfw_line line;
	size_t size;

	name = event_name(w, row, &size, &call);
	pfw_begin_line(w, &line, name, size, row->plan->schema->label);
	pfw_put_thread(&line, event->pid, event->tid);
	put_length(&line, event);
	line_literal(&line, ",\"args\":{\"hhash\":\"");
	line_literal(&line, w->host);
	line_literal(&line, "\"");
	if (call) {
		line_literal(&line, ",\"syscall\":\"");
		line_literal(&line, call);
		line_literal(&line, "\"");
	}
	if (event->unfinished)
		line_literal(&line, ",\"unfinished\":true");
	if (row->untimed)
		line_literal(&line, ",\"untimed\":true");
	if (row->tid != CELL_NULL && (uint64_t)row->tid != event->tid) {
		line_literal(&line, ",\"tid\":");
		line_int(&line, row->tid);
	}
	put_arguments(&line, event);
	line_literal(&line, "}}\n");
	line_close(&line);
}

static void place_event(struct pfw *w, struct pfw_event *event)
{
	const struct event_row *row = event->row;
	int64_t table = row->plan->schema - schema_tables;
	bool fresh = false;

	if (event->end == EVENT_NO_END) {
		event->tid = number_of(row->tid);
		return;
	}
	if (row->place == PLACE_NESTED)
		event->tid = pfw_lanes_nest(&w->lanes, row->tid, event->ts, event->end, &fresh);
	else /* tables have one list each, under numbers that no thread has */
		event->tid = pfw_lanes_take(&w->lanes,
					    row->place == PLACE_BESIDE ? row->tid : -1 - table,
					    event->ts, event->end, &fresh);
	if (fresh && row->place != PLACE_APART)
		pfw_name_thread(w, event->pid, row->tid, row->ts);
	if (w->lanes.error)
		w->error = w->lanes.error;
}

void pfw_take_span(struct pfw *w, const struct event_row *row)
{
	const struct event_plan *plan = row->plan;
	struct pfw_event event = { .row = row,
				   .names = w->names[plan->schema - schema_tables],
				   .ts = microseconds(w, row->ts),
				   .end = EVENT_NO_END,
				   .pid = number_of(row->pid) };

	if (row->end != EVENT_NO_END) {
		event.end = microseconds(w, row->end);
	} else if (row->untimed) {
		event.end = event.ts;
	} else if (!row->moment) {
		event.unfinished = true;
		event.end =
			microseconds(w, row->ts > w->run->span.end ? row->ts : w->run->span.end);
	}
	for (unsigned i = 0; i < plan->argument_count; i++)
		if (event_argument_is_path(&plan->arguments[i]))
			event.hashes[i] = pfw_hash_path(w, &plan->arguments[i], row->rows);
	place_event(w, &event);
	write_event(w, &event);
}

/* Name [keys]: func [module]. */
static void sample_name(const struct event_row *row, char *out, size_t size)
{
	char keys[EVENT_KEYS_SIZE];

	event_describe_keys(row, keys);
	if (row->plan->key_count)
		snprintf(out, size, "%.*s [%s]", (int)row->name_size, row->name, keys);
	else
		snprintf(out, size, "%.*s", (int)row->name_size, row->name);
}

/* Numbers in the schema's units, but seconds for nanoseconds. */
static void put_sample(struct pfw_line *line, const struct schema_column *column,
		       const struct event_argument *argument, const struct rows *rows)
{
	int64_t cell = rows_cell(rows, argument->column);

	if (!strcmp(column->unit, "ns"))
		line_seconds(line, (uint64_t)cell);
	else
		put_cell(line, argument, rows, cell);
}

void pfw_take_sample(struct pfw *w, const struct event_row *row)
{
	const struct event_plan *plan = row->plan;
	char name[EVENT_KEYS_SIZE + 512];
	struct pfw_line line;
	bool first = true;

	sample_name(row, name, sizeof(name));
	pfw_begin_line(w, &line, name, strlen(name), plan->schema->label);
	pfw_put_thread(&line, number_of(row->pid), number_of(row->tid));
	line_literal(&line, ",\"ts\":");
	line_uint(&line, microseconds(w, row->ts));
	line_literal(&line, ",\"ph\":\"C\",\"args\":{");
	for (unsigned i = 0; i < plan->argument_count; i++) {
		const struct event_argument *argument = &plan->arguments[i];

		if (!event_argument_is_number(argument) || argument->role == ROLE_KEY ||
		    rows_cell(row->rows, argument->column) == CELL_NULL)
			continue;
		line_literal(&line, first ? "\"" : ",\"");
		line_literal(&line, w->names[plan->schema - schema_tables][i]);
		line_literal(&line, "\":");
		put_sample(&line, &plan->schema->columns[argument->column], argument, row->rows);
		first = false;
	}
	line_literal(&line, "}}\n");
	line_close(&line);
}
