/* Events as JSON lines, the .pfw files that DFTracer writes: one object a line, without commas between, whole
 * microseconds. Perfetto, DFAnalyzer and anything that reads JSON lines take it; docs/exports.md has the fields.
 *
 * Perfetto drops what overlaps on one thread without nesting, so such events get a thread number of their own
 * (pfw_lanes.h); args.tid then has the real one.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/map.h"
#include "base/strings.h"
#include "render/export.h"
#include "render/pfw_lanes.h"
#include "render/pfw_line.h"
#include "schema/shown.h"
#include "store/merge.h"
#include "store/paths.h"

/* What a table's rows are in a .pfw file. */
struct event_layout {
	const char *category;
	const char *name; /* column, NULL: the table's name */
	bool lanes;	  /* rows overlap: they never go on their thread */
	bool moment;	  /* without dur it is a moment, not unfinished */
};

static const struct event_layout layouts[TABLE_COUNT] = {
	[TABLE_io] = { "POSIX", "op", false, false },
	[TABLE_fs] = { "POSIX", "op", false, false },
	[TABLE_mem] = { "POSIX", "op", false, false },
	[TABLE_fault] = { "FAULT", NULL, false, true },
	[TABLE_block] = { "BLOCK", "op", true, false },
	[TABLE_call] = { "CALL", "func", false, false },
	[TABLE_gpu_op] = { "GPU", "name", true, false },
	[TABLE_mark] = { "MARK", "name", true, true },
};

struct pfw_argument {
	const char *name;
	uint8_t kind, type, column;
};

struct pfw_plan {
	struct pfw_argument items[SHOWN_MAX_COLUMNS];
	unsigned count;
};

struct pfw {
	const struct export_request *request;
	const struct export_run *run;
	struct output out;
	uint64_t shift; /* from boot time to UTC */
	uint64_t next_id;
	char host[17]; /* hash, in hexadecimal */
	struct pfw_lanes lanes;
	struct map files;  /* file id -> hash of its path, 0: none */
	struct map hashes; /* told of */
	struct pfw_plan plans[TABLE_COUNT];
	struct buf scratch;
	int error;
};

/* ---- arguments: as dump names them, but for what DFAnalyzer looks for ---- */

static const char *argument_name(const char *column)
{
	static const char *const names[][2] = {
		{ "returned", "ret" },	     { "pos", "offset" },	  { "requested", "size" },
		{ "bytes", "size" },	     { "out_pos", "out_offset" }, { "path", "fhash" },
		{ "out_path", "out_fhash" },
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i][0], column))
			return names[i][1];
	return column;
}

static bool is_elsewhere(const struct shown_column *column)
{
	static const char *const other[] = {
		"ts", "dur", "pid", "tid", "comm", "op", "func", "name"
	};

	if (column->kind == SHOWN_CELL && column->type == TYPE_FILE)
		return true;
	for (unsigned i = 0; i < sizeof(other) / sizeof(*other); i++)
		if (!strcmp(column->name, other[i]))
			return true;
	return false;
}

static void plan_make(struct pfw_plan *plan, unsigned table)
{
	struct shown_column shown[SHOWN_MAX_COLUMNS];
	unsigned count = shown_columns(&schema_tables[table], shown);

	for (unsigned i = 0; i < count; i++)
		if (!is_elsewhere(&shown[i]))
			plan->items[plan->count++] =
				(struct pfw_argument){ .name = argument_name(shown[i].name),
						       .kind = (uint8_t)shown[i].kind,
						       .type = (uint8_t)shown[i].type,
						       .column = (uint8_t)shown[i].column };
}

/* ---- lines ---- */

static void line_begin(struct pfw *w, struct pfw_line *line, const char *name, size_t size,
		       const char *category)
{
	line_open(line, &w->out);
	line_literal(line, "{\"id\":");
	line_uint(line, w->next_id++);
	line_literal(line, ",\"name\":");
	line_text(line, name, size);
	line_literal(line, ",\"cat\":\"");
	line_literal(line, category);
	line_literal(line, "\"");
}

static void line_thread(struct pfw_line *line, uint64_t pid, uint64_t tid)
{
	line_literal(line, ",\"pid\":");
	line_uint(line, pid);
	line_literal(line, ",\"tid\":");
	line_uint(line, tid);
}

static uint64_t microseconds(const struct pfw *w, uint64_t ts)
{
	return (ts + w->shift) / 1000;
}

/* A row of a dictionary: Perfetto passes over those that it does not know. */
static void write_metadata(struct pfw *w, const char *kind, uint64_t pid, uint64_t tid,
			   const char *name, size_t size, const char *value)
{
	struct pfw_line line;

	line_begin(w, &line, kind, strlen(kind), "dftracer");
	line_thread(&line, pid, tid);
	line_literal(&line, ",\"ph\":\"M\",\"args\":{\"name\":");
	line_text(&line, name, size);
	if (value) {
		line_literal(&line, ",\"value\":\"");
		line_literal(&line, value);
		line_literal(&line, "\",\"hhash\":\"");
		line_literal(&line, w->host);
		line_literal(&line, "\"");
	}
	line_literal(&line, "}}\n");
	line_close(&line);
}

/* The hash of a path, told of when first met. Zero means none. */
static uint64_t path_hash(struct pfw *w, const char *path, size_t size)
{
	uint64_t hash = XXH3_64bits(path, size);
	char value[17];
	bool fresh;

	hash += !hash;
	if (!map_add(&w->hashes, hash, &fresh))
		w->error = -ENOMEM;
	else if (fresh) {
		snprintf(value, sizeof(value), "%016" PRIx64, hash);
		write_metadata(w, "FH", 0, 0, path, size, value);
	}
	return hash;
}

static uint64_t file_hash(struct pfw *w, int64_t file)
{
	bool fresh;
	uint64_t *hash, found;
	const char *path;
	size_t size;

	if (file == CELL_NULL)
		return 0;
	hash = map_add(&w->files, (uint64_t)file, &fresh);
	if (!hash) {
		w->error = -ENOMEM;
		return 0;
	}
	if (!fresh)
		return *hash;
	path = dims_path(w->run->dims, file, &size);
	found = path ? path_hash(w, path, size) : 0;
	*hash = found;
	return found;
}

/* Tells Perfetto the name of a thread that is met for the first time. */
static void name_thread(struct pfw *w, uint64_t pid, int64_t tid, uint64_t ts)
{
	const char *comm;
	size_t size;

	comm = dims_comm(w->run->dims, tid, ts, &size);
	if (!comm)
		return;
	write_metadata(w, "thread_name", pid, (uint64_t)tid, comm, size, NULL);
	if ((uint64_t)tid == pid)
		write_metadata(w, "process_name", pid, (uint64_t)tid, comm, size, NULL);
}

/* ---- rows ---- */

struct pfw_event {
	const char *name;
	size_t name_size;
	uint64_t ts, end; /* microseconds; end UINT64_MAX: none */
	uint64_t pid, tid;
	int64_t real_tid;
	uint64_t hashes[SHOWN_MAX_COLUMNS]; /* of the paths among the arguments */
	bool moment;
};

static int64_t cell_of(unsigned table, const struct rows *rows, const char *name)
{
	int column = schema_column_by_name(&schema_tables[table], name);

	return column < 0 ? CELL_NULL : rows_cell(rows, (unsigned)column);
}

static uint64_t fs_hash(struct pfw *w, const struct rows *rows)
{
	struct dims_text path;

	if (path_of_fs_row(w->run->dims, rows, &w->scratch, &path)) {
		w->error = -ENOMEM;
		return 0;
	}
	return path.bytes ? path_hash(w, path.bytes, path.size) : 0;
}

/* Finds the hashes of the row's paths; their dictionary rows precede the event's. */
static void find_hashes(struct pfw *w, unsigned table, const struct rows *rows,
			struct pfw_event *event)
{
	const struct pfw_plan *plan = &w->plans[table];

	for (unsigned i = 0; i < plan->count; i++) {
		const struct pfw_argument *argument = &plan->items[i];

		if (argument->kind != SHOWN_PATH && argument->kind != SHOWN_FS_PATH)
			continue;
		event->hashes[i] = file_hash(w, rows_cell(rows, argument->column));
		if (!event->hashes[i] && argument->kind == SHOWN_FS_PATH)
			event->hashes[i] = fs_hash(w, rows);
	}
}

static void write_argument(struct pfw_line *line, const struct pfw_argument *argument,
			   const struct rows *rows, uint64_t hash)
{
	int64_t cell = rows_cell(rows, argument->column);
	const char *text;
	size_t size;
	bool path = argument->kind == SHOWN_PATH || argument->kind == SHOWN_FS_PATH;

	if (path ? !hash : cell == CELL_NULL)
		return;
	line_literal(line, ",\"");
	line_literal(line, argument->name);
	line_literal(line, "\":");
	if (path) {
		line_hash(line, hash);
		return;
	}
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

static void write_event(struct pfw *w, unsigned table, const struct rows *rows,
			const struct pfw_event *event)
{
	const struct pfw_plan *plan = &w->plans[table];
	struct pfw_line line;

	line_begin(w, &line, event->name, event->name_size, layouts[table].category);
	line_thread(&line, event->pid, event->tid);
	line_literal(&line, ",\"ts\":");
	line_uint(&line, event->ts);
	if (event->end != UINT64_MAX) {
		line_literal(&line, ",\"dur\":");
		line_uint(&line, event->end - event->ts);
		line_literal(&line, ",\"ph\":\"X\"");
	} else {
		line_literal(&line, event->moment ? ",\"ph\":\"i\",\"s\":\"t\"" : ",\"ph\":\"B\"");
	}
	line_literal(&line, ",\"args\":{\"hhash\":\"");
	line_literal(&line, w->host);
	line_literal(&line, "\"");
	if (event->real_tid != CELL_NULL && (uint64_t)event->real_tid != event->tid) {
		line_literal(&line, ",\"tid\":");
		line_int(&line, event->real_tid);
	}
	for (unsigned i = 0; i < plan->count; i++)
		write_argument(&line, &plan->items[i], rows, event->hashes[i]);
	line_literal(&line, "}}\n");
	line_close(&line);
}

static bool is_async(const struct pfw_event *event)
{
	return (event->name_size > 9 && !memcmp(event->name, "io_uring_", 9)) ||
	       (event->name_size > 4 && !memcmp(event->name, "aio_", 4));
}

static void place_event(struct pfw *w, unsigned table, struct pfw_event *event, uint64_t ts)
{
	bool numbered = event->real_tid != CELL_NULL && !layouts[table].lanes;
	bool fresh = false;

	if (event->moment) {
		event->tid = event->real_tid == CELL_NULL ? 0 : (uint64_t)event->real_tid;
		return;
	}
	/* Tables of lanes have one list each, under numbers that no thread has. */
	if (numbered && !is_async(event))
		event->tid =
			pfw_lanes_nest(&w->lanes, event->real_tid, event->ts, event->end, &fresh);
	else
		event->tid =
			pfw_lanes_take(&w->lanes, numbered ? event->real_tid : -1 - (int64_t)table,
				       event->ts, event->end, &fresh);
	if (fresh && numbered)
		name_thread(w, event->pid, event->real_tid, ts);
	if (w->lanes.error)
		w->error = w->lanes.error;
}

static void take_event(struct pfw *w, unsigned table, const struct rows *rows, uint64_t ts)
{
	const struct event_layout *layout = &layouts[table];
	int64_t dur = rows_cell(rows, 1), queued = 0, pid = cell_of(table, rows, "pid");
	struct pfw_event event = { .ts = microseconds(w, ts),
				   .end = UINT64_MAX,
				   .pid = pid == CELL_NULL ? 0 : (uint64_t)pid,
				   .real_tid = cell_of(table, rows, "tid") };
	int column = layout->name ? schema_column_by_name(&schema_tables[table], layout->name) : -1;

	if (table == TABLE_block)
		queued = rows_cell(rows, column_block_queued);
	if (dur != CELL_NULL)
		event.end = microseconds(w, ts + (uint64_t)dur +
						    (queued == CELL_NULL ? 0 : (uint64_t)queued));
	event.moment = layout->moment && dur == CELL_NULL;
	event.name = column < 0 ? NULL : rows_text(rows, (unsigned)column, &event.name_size);
	if (!event.name) {
		event.name = schema_tables[table].name;
		event.name_size = strlen(event.name);
	}
	find_hashes(w, table, rows, &event);
	place_event(w, table, &event, ts);
	write_event(w, table, rows, &event);
}

/* func [module], with the calls of an interval, the seconds inside them and the bytes that they moved. */
static void take_counter(struct pfw *w, const struct rows *rows, uint64_t ts)
{
	int64_t pid = rows_cell(rows, column_counter_pid),
		tid = rows_cell(rows, column_counter_tid);
	size_t func_size, module_size;
	const char *func = rows_text(rows, column_counter_func, &func_size);
	const char *module = rows_text(rows, column_counter_module, &module_size);
	int64_t time = rows_cell(rows, column_counter_time);
	struct pfw_line line;
	char name[512];
	int size;

	size = snprintf(name, sizeof(name), "%.*s [%.*s]", func ? (int)func_size : 0,
			func ? func : "", module ? (int)module_size : 0, module ? module : "");
	line_begin(w, &line, name, size < (int)sizeof(name) ? (size_t)size : sizeof(name) - 1,
		   "COUNTER");
	line_thread(&line, pid == CELL_NULL ? 0 : (uint64_t)pid,
		    tid == CELL_NULL ? 0 : (uint64_t)tid);
	line_literal(&line, ",\"ts\":");
	line_uint(&line, microseconds(w, ts));
	line_literal(&line, ",\"ph\":\"C\",\"args\":{\"count\":");
	line_count(&line, rows_cell(rows, column_counter_count));
	line_literal(&line, ",\"time\":");
	line_seconds(&line, time == CELL_NULL ? 0 : (uint64_t)time);
	line_literal(&line, ",\"size\":");
	line_count(&line, rows_cell(rows, column_counter_bytes));
	line_literal(&line, "}}\n");
	line_close(&line);
}

static int write_rows(struct pfw *w, struct export_result *result, struct error *e)
{
	uint32_t tables = 1u << TABLE_counter;
	uint64_t wanted[TABLE_COUNT];
	struct merge merge;
	int err;

	memset(wanted, 0xff, sizeof(wanted));
	for (unsigned table = 0; table < TABLE_COUNT; table++)
		if (layouts[table].category)
			tables |= 1u << table;
	err = merge_open(&merge, w->run->reader, tables & w->request->tables, wanted, w->run->from,
			 w->run->to, e);
	while (!err && (err = merge_next(&merge, e)) > 0) {
		if (merge.table == TABLE_counter)
			take_counter(w, merge.rows, merge.ts);
		else
			take_event(w, merge.table, merge.rows, merge.ts);
		err = w->error ? error_set(e, w->error, "out of memory") : 0;
		if (!(++result->rows % EXPORT_PROGRESS_ROWS))
			export_progress(w->request, EXPORT_PROGRESS_ROWS);
		if (w->out.error)
			break; /* told when the output is finished */
	}
	export_progress(w->request, result->rows % EXPORT_PROGRESS_ROWS);
	merge_close(&merge);
	return export_settle(result, err, e);
}

static void pfw_begin(struct pfw *w)
{
	const char *host = dims_run(w->run->dims, "host");
	uint64_t realtime;

	if (!host)
		host = "unknown";
	if (!dims_utc(w->run->dims, w->run->span.start, &realtime))
		w->shift = realtime - w->run->span.start;
	for (unsigned table = 0; table < TABLE_COUNT; table++)
		plan_make(&w->plans[table], table);
	pfw_lanes_open(&w->lanes);
	snprintf(w->host, sizeof(w->host), "%016" PRIx64,
		 (uint64_t)XXH3_64bits(host, strlen(host)));
	output_append(&w->out, "[\n", 2);
	write_metadata(w, "HH", 0, 0, host, strlen(host), w->host);
}

static void pfw_free(struct pfw *w)
{
	pfw_lanes_close(&w->lanes);
	map_free(&w->files);
	map_free(&w->hashes);
	buf_free(&w->scratch);
}

int pfw_write(const struct export_request *request, struct export_result *result, struct error *e)
{
	size_t length = strlen(request->output);
	bool gzip = length > 3 && !strcmp(request->output + length - 3, ".gz");
	struct pfw *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return error_set(e, -ENOMEM, "out of memory");
	w->request = request;
	w->run = &request->runs[0];
	err = output_open(&w->out, request->output, gzip, e);
	if (!err) {
		w->out.limit = request->max_bytes;
		pfw_begin(w);
		err = write_rows(w, result, e);
		output_append(&w->out, "]\n", 2);
		if (!err)
			err = output_commit(&w->out, e);
		result->bytes = w->out.total;
		output_free(&w->out);
	}
	pfw_free(w);
	free(w);
	return err;
}
