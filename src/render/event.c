#include "render/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/paths.h"

static enum event_class class_of(enum table_kind kind)
{
	switch (kind) {
	case KIND_CALLS:
	case KIND_CALLS_OR_MOMENTS:
	case KIND_SPANS:
	case KIND_SPANS_OR_MOMENTS: return EVENT_SPAN;
	case KIND_SAMPLES: return EVENT_SAMPLE;
	default: return EVENT_OTHER;
	}
}

/* Told otherwise: as the event's time, its thread or its name, or, of a file, by its path. */
static bool is_told(const struct shown_column *column)
{
	if (column->kind != SHOWN_CELL)
		return column->kind == SHOWN_COMM;
	switch (column->role) {
	case ROLE_TIME:
	case ROLE_LENGTH:
	case ROLE_PID:
	case ROLE_TID:
	case ROLE_LABEL: return true;
	default: return column->type == TYPE_FILE;
	}
}

static void plan_arguments(struct event_plan *plan)
{
	struct shown_column shown[SHOWN_MAX_COLUMNS];
	unsigned count = shown_columns(plan->schema, shown);

	for (unsigned i = 0; i < count; i++) {
		if (is_told(&shown[i]))
			continue;
		plan->arguments[plan->argument_count++] =
			(struct event_argument){ .name = shown[i].name,
						 .kind = (uint8_t)shown[i].kind,
						 .role = (uint8_t)shown[i].role,
						 .type = (uint8_t)shown[i].type,
						 .column = (uint8_t)shown[i].column };
		plan->wanted |= 1ull << shown[i].column;
		if (shown[i].kind == SHOWN_FS_PATH)
			plan->wanted |= PATHS_FS_COLUMNS;
	}
}

static int plan_column(struct event_plan *plan, enum column_role role)
{
	int column = schema_column_by_role(plan->schema, role);

	if (column >= 0)
		plan->wanted |= 1ull << column;
	return column;
}

void event_plan_make(struct event_plan *plan, unsigned table)
{
	const struct schema_table *schema = &schema_tables[table];
	enum table_kind kind = schema->kind;

	*plan = (struct event_plan){
		.schema = schema,
		.class = class_of(kind),
		.moments = kind == KIND_CALLS_OR_MOMENTS || kind == KIND_SPANS_OR_MOMENTS,
		.calls = kind == KIND_CALLS || kind == KIND_CALLS_OR_MOMENTS,
		.wanted = 1,
	};
	plan->length = plan_column(plan, ROLE_LENGTH);
	plan->lead = plan_column(plan, ROLE_LEAD);
	plan->pid = plan_column(plan, ROLE_PID);
	plan->tid = plan_column(plan, ROLE_TID);
	plan->label = plan_column(plan, ROLE_LABEL);
	plan->file = plan_column(plan, ROLE_FILE);
	plan->result = plan_column(plan, ROLE_RESULT);
	plan->queues = plan->label >= 0 && schema->columns[plan->label].names == &syscall_names;
	for (unsigned i = 0; i < schema->column_count; i++)
		if (schema->columns[i].role == ROLE_KEY)
			plan->keys[plan->key_count++] = (uint8_t)i;
	plan_arguments(plan);
}

static inline int64_t cell_of(const struct rows *rows, int column)
{
	return column < 0 ? CELL_NULL : rows_cell(rows, (unsigned)column);
}

uint64_t event_end(const struct event_plan *plan, const struct rows *rows, uint64_t ts)
{
	int64_t length = cell_of(rows, plan->length), lead = cell_of(rows, plan->lead);

	if (plan->length < 0)
		return ts;
	if (length == CELL_NULL)
		return EVENT_NO_END;
	return ts + (uint64_t)length + (lead == CELL_NULL ? 0 : (uint64_t)lead);
}

static enum event_place place_of(const struct event_plan *plan, const struct rows *rows,
				 int64_t tid)
{
	int call;

	if (!plan->calls || tid == CELL_NULL || tid <= 0)
		return PLACE_APART;
	call = plan->queues ? rows_name(rows, (unsigned)plan->label) : -1;
	return call >= 0 && schema_syscalls[call].queued ? PLACE_BESIDE : PLACE_NESTED;
}

void event_read(struct event_row *event, const struct event_plan *plan, const struct rows *rows,
		uint64_t ts)
{
	*event = (struct event_row){ .plan = plan, .rows = rows, .ts = ts };
	event->end = event_end(plan, rows, ts);
	if (event->end == EVENT_NO_END) {
		event->untimed = !plan->moments && cell_of(rows, plan->result) != CELL_NULL;
		event->moment = plan->moments || event->untimed;
	}
	event->pid = cell_of(rows, plan->pid);
	event->tid = cell_of(rows, plan->tid);
	event->place = place_of(plan, rows, event->tid);
	if (plan->label >= 0)
		event->name = rows_text(rows, (unsigned)plan->label, &event->name_size);
	if (!event->name) {
		event->name = plan->schema->name;
		event->name_size = strlen(event->name);
	}
}

/* A text says what it is; a number needs its column's name. */
static void describe_key(const struct event_row *event, unsigned column, char *out, size_t size)
{
	const struct schema_column *schema = &event->plan->schema->columns[column];
	int64_t cell = rows_cell(event->rows, column);
	size_t length;
	const char *text;

	if (cell == CELL_NULL) {
		snprintf(out, size, "unknown %s", schema->name);
	} else if (schema->type == TYPE_TEXT || schema->type == TYPE_NAME) {
		text = rows_text(event->rows, column, &length);
		snprintf(out, size, "%.*s", (int)length, text ? text : "");
	} else if (event->plan->schema == &schema_tables[TABLE_cpu] && cell == -1) {
		snprintf(out, size, "all CPUs");
	} else {
		snprintf(out, size, "%s %" PRId64, schema->name, cell);
	}
}

/* Whether the key would name a part of a GPU, and the row is of all of it. */
static bool is_whole_device(const struct event_row *event, unsigned column)
{
	const struct schema_table *schema = event->plan->schema;

	return ((schema == &schema_tables[TABLE_gpu] && column == column_gpu_mig) ||
		(schema == &schema_tables[TABLE_gpu_process] &&
		 column == column_gpu_process_mig)) &&
	       rows_cell(event->rows, column) == CELL_NULL;
}

void event_describe_keys(const struct event_row *event, char out[EVENT_KEYS_SIZE])
{
	size_t used = 0;

	*out = 0;
	for (unsigned i = 0; i < event->plan->key_count; i++) {
		if (is_whole_device(event, event->plan->keys[i]))
			continue;
		if (i && used + 1 < EVENT_KEYS_SIZE)
			out[used++] = ' ';
		describe_key(event, event->plan->keys[i], out + used, EVENT_KEYS_SIZE - used);
		used += strlen(out + used);
	}
}
