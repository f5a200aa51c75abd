/* Lanes and the rows that fill them; timeline_events.c keeps single events, timeline_series.c samples. */
#include "analyze/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/io_row.h"
#include "analyze/timeline_load.h"

struct timeline_file {
	uint32_t path; /* number in paths, + 1; 0: not known */
	bool regular;
};

const struct timeline_kind_info timeline_kinds[TIMELINE_KIND_COUNT] = {
#define KIND_INFO(name, table) { #name, TABLE_##table },
	TIMELINE_KINDS(KIND_INFO)
#undef KIND_INFO
};

/* ---- lanes ---- */

/* The lane of this description; made, while there are some left. key: the same for the same lane. -1: none. */
static int lane_at(struct timeline *timeline, uint64_t key, const struct timeline_lane *lane)
{
	uint32_t number;

	if (!context_in_job(timeline->context, lane->proc) ||
	    numbering_add(&timeline->by_lane, key, &number) < 0)
		return -1;
	if (number >= TIMELINE_LANES - 1)
		number = TIMELINE_LANES - 1;
	if (number >= timeline->lane_count) {
		timeline->lanes[number] = *lane;
		if (number == TIMELINE_LANES - 1)
			timeline->lanes[number] = (struct timeline_lane){ .proc = PROC_NONE };
		timeline->lane_count = number + 1;
	}
	return (int)number;
}

static int lane_of(struct timeline *timeline, uint32_t proc)
{
	return lane_at(timeline, proc, &(struct timeline_lane){ .proc = proc });
}

#define STREAM_BITS 24 /* of their numbers; of two that differ further up one lane is made */

static int lane_of_stream(struct timeline *timeline, uint32_t proc, uint32_t gpu, uint32_t stream)
{
	uint64_t key = 1ull << 63 | (uint64_t)(gpu & 0x7f) << 56 |
		       (uint64_t)(stream & ((1u << STREAM_BITS) - 1)) << 32 | proc;

	return lane_at(timeline, key, &(struct timeline_lane){ proc, true, gpu, stream, { NULL } });
}

/* Streams below the process that uses them. Events name lanes by their number, and follow. */
static void order_lanes(struct timeline *timeline)
{
	struct timeline_lane ordered[TIMELINE_LANES];
	uint8_t place[TIMELINE_LANES];
	size_t count = 0;

	for (size_t i = 0; i < timeline->lane_count; i++) {
		if (timeline->lanes[i].of_stream)
			continue;
		place[i] = (uint8_t)count;
		ordered[count++] = timeline->lanes[i];
		for (size_t k = 0; k < timeline->lane_count; k++)
			if (timeline->lanes[k].of_stream &&
			    timeline->lanes[k].proc == timeline->lanes[i].proc) {
				place[k] = (uint8_t)count;
				ordered[count++] = timeline->lanes[k];
			}
	}
	if (count != timeline->lane_count)
		return; /* a stream of a process that has no lane of its own: as they came */
	memcpy(timeline->lanes, ordered, count * sizeof(*ordered));
	timeline_move_events(timeline, place);
}

int timeline_open(struct timeline *timeline, struct context *context)
{
	uint64_t length = context->window.end - context->window.start;

	*timeline = (struct timeline){ .context = context };
	timeline->slice_ns = length ? (double)length / TIMELINE_SLICES : 1;
	timeline->longest.limit = timeline->largest.limit = SIZE_MAX;
	timeline->files.limit = timeline->series_list.limit = SIZE_MAX;
	lane_of(timeline, context->roles.main); /* the first lane */
	return 0;
}

/* Divides the time among the slices that it spans. */
static int add_busy(struct timeline *timeline, int lane, enum timeline_kind kind, uint64_t from,
		    uint64_t to)
{
	const struct span *window = &timeline->context->window;
	float **busy = &timeline->lanes[lane].busy[kind];

	from = context_clip(timeline->context, from);
	to = context_clip(timeline->context, to);
	if (from >= to)
		return 0;
	if (!*busy)
		*busy = calloc(TIMELINE_SLICES, sizeof(**busy));
	if (!*busy)
		return -ENOMEM;
	for (size_t slice = timeline_slice(timeline, from); slice < TIMELINE_SLICES; slice++) {
		double begin = (double)window->start + (double)slice * timeline->slice_ns;
		double end = begin + timeline->slice_ns;
		double start = (double)from > begin ? (double)from : begin;
		double stop = (double)to < end ? (double)to : end;

		if (start >= (double)to)
			break;
		if (stop > start)
			(*busy)[slice] += (float)(stop - start);
	}
	return 0;
}

/* ---- what rows are called, and the files that they are about ---- */

static uint16_t number_op(struct timeline *timeline, const char *name, size_t size)
{
	uint32_t number = 0;

	if (strings_add(&timeline->ops, name ? name : "?", name ? size : 1, &number))
		return 0;
	return number > UINT16_MAX ? 0 : (uint16_t)number;
}

/* The number of a row's name, looked up by the schema's number of it where it has one. */
static uint16_t op_of(struct timeline *timeline, enum table_id table, const struct rows *rows,
		      unsigned column, const char *prefix)
{
	int known = rows_name(rows, column);
	uint16_t number;
	char name[64];
	size_t size;
	const char *text;

	if (known >= 0 && timeline->op_places[table][known])
		return (uint16_t)(timeline->op_places[table][known] - 1);
	text = rows_text(rows, column, &size);
	snprintf(name, sizeof(name), "%s%.*s", prefix, (int)(text ? size : 1), text ? text : "?");
	number = number_op(timeline, name, strlen(name));
	if (known >= 0)
		timeline->op_places[table][known] = (uint16_t)(number + 1);
	return number;
}

static struct timeline_file file_of(struct timeline *timeline, int64_t file)
{
	struct timeline_file *found;
	const struct file_row *row;
	uint32_t number;
	int new;

	if (file == CELL_NULL)
		return (struct timeline_file){ 0 };
	new = numbering_add(&timeline->by_file, (uint64_t)file, &number);
	if (new < 0 || (new &&buf_append_zeros(&timeline->files, sizeof(*found))))
		return (struct timeline_file){ 0 };
	found = (struct timeline_file *)timeline->files.data + number;
	if (!new)
		return *found;
	row = dims_find_file(timeline->context->dims, file);
	if (!row)
		return *found;
	found->regular = file_row_is(row, FILE_KIND_FILE);
	if (row->path.bytes &&
	    !strings_add(&timeline->paths, row->path.bytes, row->path.size, &number))
		found->path = number + 1;
	return *found;
}

/* ---- rows ---- */

/* One event of a lane: busy time, and the event itself. */
static int take_in(struct timeline *timeline, int lane, enum timeline_kind kind, uint64_t ts,
		   int64_t dur, struct timeline_event *event)
{
	uint64_t end = dur == CELL_NULL ? timeline->context->window.end : ts + (uint64_t)dur;

	if (lane < 0 || end < timeline->context->window.start || ts > timeline->context->window.end)
		return 0;
	if (add_busy(timeline, lane, kind, ts, end))
		return -ENOMEM;
	event->ts = ts;
	event->dur = end - ts;
	event->lane = (uint8_t)lane;
	event->kind = (uint8_t)kind;
	return timeline_keep_event(timeline, event);
}

static int take(struct timeline *timeline, uint32_t proc, enum timeline_kind kind, uint64_t ts,
		int64_t dur, struct timeline_event *event)
{
	return take_in(timeline, lane_of(timeline, proc), kind, ts, dur, event);
}

static int take_sched(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	int64_t tid = rows_cell(rows, column_sched_tid);
	uint64_t ts = (uint64_t)rows_cell(rows, column_sched_ts);
	struct timeline_event event = { .tid = (uint32_t)tid };
	struct who *who = &timeline->context->who;

	if (!tid)
		return 0;
	event.op = number_op(timeline, "on CPU", 6);
	return take(
		timeline,
		who_proc_of(who, who_thread(who, tid, ts), rows_cell(rows, column_sched_pid), ts),
		TIMELINE_cpu, ts, rows_cell(rows, column_sched_dur), &event);
}

static void take_heat(struct timeline *timeline, uint64_t ts, int64_t dur)
{
	size_t slice = timeline_slice(timeline, ts) * TIMELINE_HEAT / TIMELINE_SLICES;
	unsigned latency = cell_known(dur) ? 64u - (unsigned)__builtin_clzll(cell_known(dur)) : 0;

	timeline->heat[slice][latency < TIMELINE_LATENCIES ? latency : TIMELINE_LATENCIES - 1]++;
}

static int take_io(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	struct io_row io = io_row_read(rows);
	struct timeline_file file;
	struct timeline_event event = { .tid = (uint32_t)io.tid, .bytes = io.bytes };

	if (!context_inside(timeline->context, io.ts))
		return 0;
	file = file_of(timeline, io.file);
	if (io.reads && file.regular) {
		struct io_source source = io_row_source(&io);
		size_t slice = timeline_slice(timeline, io.ts);

		timeline->told_bytes[slice] += (double)source.told;
		timeline->fetched_bytes[slice] += (double)(source.missed + source.direct);
	}
	if (io.reads && io.dur != CELL_NULL)
		take_heat(timeline, io.ts, io.dur);
	event.op = op_of(timeline, TABLE_io, rows, column_io_op, "");
	event.path = file.path;
	return take(timeline, procs_find(timeline->context->procs, io.pid, io.ts),
		    io.reads ? TIMELINE_read : TIMELINE_write, io.ts, io.dur, &event);
}

static int take_fs(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_fs_ts);
	struct timeline_event event = { .tid = (uint32_t)rows_cell(rows, column_fs_tid) };
	int call = rows_name(rows, column_fs_op);
	bool opens = call >= 0 && schema_syscalls[call].family == FAMILY_open;

	event.op = op_of(timeline, TABLE_fs, rows, column_fs_op, "");
	event.path = file_of(timeline, rows_cell(rows, column_fs_file)).path;
	return take(timeline,
		    procs_find(timeline->context->procs, rows_cell(rows, column_fs_pid), ts),
		    opens ? TIMELINE_open : TIMELINE_metadata, ts, rows_cell(rows, column_fs_dur),
		    &event);
}

static int take_block(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_block_ts);
	struct timeline_event event = { .tid = (uint32_t)rows_cell(rows, column_block_tid),
					.bytes = cell_known(rows_cell(rows, column_block_bytes)) };

	event.op = op_of(timeline, TABLE_block, rows, column_block_op, "block ");
	event.path = file_of(timeline, rows_cell(rows, column_block_file)).path;
	return take(timeline,
		    procs_find(timeline->context->procs, rows_cell(rows, column_block_pid), ts),
		    TIMELINE_block, ts,
		    (int64_t)(cell_known(rows_cell(rows, column_block_queued)) +
			      cell_known(rows_cell(rows, column_block_dur))),
		    &event);
}

/* What runs on a stream. Waits are the threads' own, and have none. */
static int take_gpu_op(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_gpu_op_ts);
	int64_t gpu = rows_cell(rows, column_gpu_op_gpu),
		stream = rows_cell(rows, column_gpu_op_stream);
	struct timeline_event event = { .tid = (uint32_t)cell_known(
						rows_cell(rows, column_gpu_op_tid)),
					.bytes = cell_known(rows_cell(rows, column_gpu_op_bytes)) };
	uint32_t proc =
		procs_find(timeline->context->procs, rows_cell(rows, column_gpu_op_pid), ts);
	size_t size;
	const char *text = rows_text(rows, column_gpu_op_kind, &size);

	if (gpu == CELL_NULL || stream == CELL_NULL ||
	    (text && size == 4 && !memcmp(text, "wait", 4)))
		return 0;
	text = rows_text(rows, column_gpu_op_name, &size);
	event.op = number_op(timeline, text, size < 200 ? size : 200);
	return take_in(timeline, lane_of_stream(timeline, proc, (uint32_t)gpu, (uint32_t)stream),
		       TIMELINE_gpu, ts, rows_cell(rows, column_gpu_op_dur), &event);
}

size_t timeline_sinks(struct timeline *timeline, struct scan_sink *sinks)
{
	size_t count = 0;

	sinks[count++] =
		(struct scan_sink){ TABLE_sched,
				    SCAN_COLUMN(sched, ts) | SCAN_COLUMN(sched, dur) |
					    SCAN_COLUMN(sched, pid) | SCAN_COLUMN(sched, tid),
				    take_sched, timeline };
	sinks[count++] = (struct scan_sink){ TABLE_io, IO_ROW_COLUMNS | SCAN_COLUMN(io, op),
					     take_io, timeline };
	sinks[count++] = (struct scan_sink){ TABLE_fs,
					     SCAN_COLUMN(fs, ts) | SCAN_COLUMN(fs, dur) |
						     SCAN_COLUMN(fs, pid) | SCAN_COLUMN(fs, tid) |
						     SCAN_COLUMN(fs, op) | SCAN_COLUMN(fs, file),
					     take_fs, timeline };
	sinks[count++] =
		(struct scan_sink){ TABLE_block,
				    SCAN_COLUMN(block, ts) | SCAN_COLUMN(block, dur) |
					    SCAN_COLUMN(block, queued) | SCAN_COLUMN(block, pid) |
					    SCAN_COLUMN(block, tid) | SCAN_COLUMN(block, op) |
					    SCAN_COLUMN(block, bytes) | SCAN_COLUMN(block, file),
				    take_block, timeline };
	sinks[count++] = (struct scan_sink){ TABLE_gpu_op, ~0ull, take_gpu_op, timeline };
	sinks[count++] = (struct scan_sink){ TABLE_cpu, ~0ull, timeline_take_cpu, timeline };
	sinks[count++] = (struct scan_sink){ TABLE_disk, ~0ull, timeline_take_disk, timeline };
	sinks[count++] = (struct scan_sink){ TABLE_gpu, ~0ull, timeline_take_gpu, timeline };
	return count;
}

int timeline_finish(struct timeline *timeline)
{
	for (size_t i = 0; i < TIMELINE_SLICES; i++)
		timeline->cached_share[i] =
			timeline->told_bytes[i] > 0
				? 1 - timeline->fetched_bytes[i] / timeline->told_bytes[i]
				: NAN;
	timeline_finish_series(timeline);
	order_lanes(timeline);
	return timeline_finish_events(timeline);
}

void timeline_free(struct timeline *timeline)
{
	struct timeline_series *series = (struct timeline_series *)timeline->series_list.data;

	for (size_t i = 0; i < timeline->series_list.size / sizeof(*series); i++) {
		free(series[i].mean);
		free(series[i].weight);
	}
	for (size_t i = 0; i < timeline->lane_count; i++)
		for (unsigned kind = 0; kind < TIMELINE_KIND_COUNT; kind++)
			free(timeline->lanes[i].busy[kind]);
	strings_free(&timeline->paths);
	strings_free(&timeline->ops);
	strings_free(&timeline->unkept_names);
	numbering_free(&timeline->by_lane);
	numbering_free(&timeline->by_file);
	buf_free(&timeline->longest);
	buf_free(&timeline->largest);
	buf_free(&timeline->series_list);
	buf_free(&timeline->files);
}
