#include "analyze/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells.h"

const char *const timeline_kinds[TIMELINE_KIND_COUNT] = {
#define KIND_NAME(name) #name,
	TIMELINE_KINDS(KIND_NAME)
#undef KIND_NAME
};

/* ---- lanes ---- */

/* The lane of a process: the job's get one of their own while there are some left. -1: none. */
static int lane_of(struct timeline *timeline, uint32_t proc)
{
	struct context *context = timeline->context;
	uint32_t number;
	int new;

	if (!context_in_job(context, proc))
		return -1;
	new = numbering_add(&timeline->by_proc, proc, &number);
	if (new < 0)
		return -1;
	if (number >= TIMELINE_LANES - 1)
		number = TIMELINE_LANES - 1;
	if (number >= timeline->lane_count) {
		timeline->lanes[number].proc = number == TIMELINE_LANES - 1 ? PROC_NONE : proc;
		timeline->lane_count = number + 1;
	}
	return (int)number;
}

int timeline_open(struct timeline *timeline, struct context *context)
{
	uint64_t length = context->window.end - context->window.start;

	*timeline = (struct timeline){ .context = context };
	timeline->slice_ns = length ? (double)length / TIMELINE_SLICES : 1;
	timeline->longest.limit = timeline->largest.limit = SIZE_MAX;
	timeline->file_paths.limit = timeline->series_list.limit = SIZE_MAX;
	lane_of(timeline, context->roles.main); /* the first lane */
	return 0;
}

static size_t slice_of(const struct timeline *timeline, uint64_t ts)
{
	size_t slice =
		(size_t)((double)(ts - timeline->context->window.start) / timeline->slice_ns);

	return slice < TIMELINE_SLICES ? slice : TIMELINE_SLICES - 1;
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
	for (size_t slice = slice_of(timeline, from); slice < TIMELINE_SLICES; slice++) {
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

/* ---- events: bounded heaps, the least important on top ---- */

static uint64_t weight_of(const struct timeline_event *event, bool by_bytes)
{
	return by_bytes ? event->bytes : event->dur;
}

static void heap_sink(struct timeline_event *heap, size_t count, bool by_bytes)
{
	size_t at = 0;

	for (;;) {
		size_t least = at, child = 2 * at + 1;
		struct timeline_event kept;

		for (size_t i = child; i < child + 2 && i < count; i++)
			if (weight_of(&heap[i], by_bytes) < weight_of(&heap[least], by_bytes))
				least = i;
		if (least == at)
			return;
		kept = heap[at];
		heap[at] = heap[least];
		heap[least] = kept;
		at = least;
	}
}

static int heap_add(struct buf *memory, const struct timeline_event *event, size_t most,
		    bool by_bytes, struct timeline_event *pushed)
{
	struct timeline_event *heap = (struct timeline_event *)memory->data;
	size_t count = memory->size / sizeof(*heap);

	*pushed = (struct timeline_event){ 0 };
	if (count == most) {
		if (weight_of(event, by_bytes) <= weight_of(heap, by_bytes)) {
			*pushed = *event;
			return 0;
		}
		*pushed = heap[0];
		heap[0] = *event;
		heap_sink(heap, count, by_bytes);
		return 0;
	}
	if (buf_append(memory, event, sizeof(*event)))
		return -ENOMEM;
	heap = (struct timeline_event *)memory->data;
	for (size_t at = count;
	     at && weight_of(&heap[at], by_bytes) < weight_of(&heap[(at - 1) / 2], by_bytes);) {
		struct timeline_event kept = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = kept;
		at = (at - 1) / 2;
	}
	return 0;
}

/* Keeps the longest; what they push out may still be among the largest. */
static int keep_event(struct timeline *timeline, const struct timeline_event *event)
{
	struct timeline_event pushed, ignored;

	timeline->seen++;
	if (heap_add(&timeline->longest, event, TIMELINE_EVENTS, false, &pushed))
		return -ENOMEM;
	if (!pushed.bytes)
		return 0;
	return heap_add(&timeline->largest, &pushed, TIMELINE_LARGEST, true, &ignored);
}

static uint16_t op_number(struct timeline *timeline, const char *name, size_t size)
{
	uint32_t number = 0;

	if (strings_add(&timeline->ops, name ? name : "?", name ? size : 1, &number))
		return 0;
	return (uint16_t)number;
}

static uint32_t path_number(struct timeline *timeline, int64_t file)
{
	uint32_t number, *path;
	const char *text;
	size_t size;
	int new;

	if (file == CELL_NULL)
		return 0;
	new = numbering_add(&timeline->by_file, (uint64_t)file, &number);
	if (new < 0 || (new &&buf_append_zeros(&timeline->file_paths, sizeof(*path))))
		return 0;
	path = (uint32_t *)timeline->file_paths.data + number;
	if (new && (text = dims_path(timeline->context->dims, file, &size)) &&
	    !strings_add(&timeline->paths, text, size, &number))
		*path = number + 1;
	return *path;
}

/* One event of a lane: busy time, and the event itself. */
static int take(struct timeline *timeline, uint32_t proc, enum timeline_kind kind, uint64_t ts,
		int64_t dur, struct timeline_event *event)
{
	int lane = lane_of(timeline, proc);
	uint64_t end = dur == CELL_NULL ? timeline->context->window.end : ts + (uint64_t)dur;

	if (lane < 0 || end < timeline->context->window.start || ts > timeline->context->window.end)
		return 0;
	if (add_busy(timeline, lane, kind, ts, end))
		return -ENOMEM;
	event->ts = ts;
	event->dur = end - ts;
	event->lane = (uint8_t)lane;
	event->kind = (uint8_t)kind;
	return keep_event(timeline, event);
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
	event.op = op_number(timeline, "on CPU", 6);
	return take(
		timeline,
		who_proc_of(who, who_thread(who, tid, ts), rows_cell(rows, column_sched_pid), ts),
		TIMELINE_cpu, ts, rows_cell(rows, column_sched_dur), &event);
}

static void take_heat(struct timeline *timeline, uint64_t ts, int64_t dur)
{
	size_t slice = slice_of(timeline, ts) * TIMELINE_HEAT / TIMELINE_SLICES;
	unsigned latency = cell_known(dur) ? 64u - (unsigned)__builtin_clzll(cell_known(dur)) : 0;

	timeline->heat[slice][latency < TIMELINE_LATENCIES ? latency : TIMELINE_LATENCIES - 1]++;
}

static int take_io(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_io_ts);
	int64_t file = rows_cell(rows, column_io_file), dur = rows_cell(rows, column_io_dur);
	struct timeline_event event = { .tid = (uint32_t)rows_cell(rows, column_io_tid),
					.bytes = cell_known(rows_cell(rows, column_io_returned)) };
	size_t size;
	const char *dir = rows_text(rows, column_io_dir, &size), *op;
	bool reads = dir && *dir != 'W';

	if (!context_inside(timeline->context, ts))
		return 0;
	if (reads) {
		timeline->read_bytes[slice_of(timeline, ts)] += (double)event.bytes;
		timeline->missed_bytes[slice_of(timeline, ts)] +=
			(double)cell_known(rows_cell(rows, column_io_missed));
		if (dur != CELL_NULL)
			take_heat(timeline, ts, dur);
	}
	op = rows_text(rows, column_io_op, &size);
	event.op = op_number(timeline, op, size);
	event.path = path_number(timeline, file);
	return take(timeline,
		    procs_find(timeline->context->procs, rows_cell(rows, column_io_pid), ts),
		    reads ? TIMELINE_read : TIMELINE_write, ts, dur, &event);
}

static int take_fs(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_fs_ts);
	struct timeline_event event = { .tid = (uint32_t)rows_cell(rows, column_fs_tid) };
	size_t size;
	const char *op = rows_text(rows, column_fs_op, &size);
	bool opens = op && size >= 4 && !memcmp(op, "open", 4);

	event.op = op_number(timeline, op, size);
	event.path = path_number(timeline, rows_cell(rows, column_fs_file));
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
	size_t size;
	const char *op = rows_text(rows, column_block_op, &size);
	char name[16];

	snprintf(name, sizeof(name), "block %.*s", op ? 1 : 0, op ? op : "");
	event.op = op_number(timeline, name, strlen(name));
	event.path = path_number(timeline, rows_cell(rows, column_block_file));
	return take(timeline,
		    procs_find(timeline->context->procs, rows_cell(rows, column_block_pid), ts),
		    TIMELINE_block, ts,
		    (int64_t)(cell_known(rows_cell(rows, column_block_queued)) +
			      cell_known(rows_cell(rows, column_block_dur))),
		    &event);
}

/* ---- sampled series ---- */

static struct timeline_series *series_of(struct timeline *timeline, const char *group,
					 const char *name, const char *unit)
{
	struct timeline_series *list = (struct timeline_series *)timeline->series_list.data;
	size_t count = timeline->series_list.size / sizeof(*list);
	struct timeline_series made = { .group = group, .unit = unit };

	for (size_t i = 0; i < count; i++)
		if (list[i].group == group && !strcmp(list[i].name, name))
			return &list[i];
	snprintf(made.name, sizeof(made.name), "%s", name);
	made.sum = calloc(TIMELINE_SLICES, sizeof(*made.sum));
	made.weight = calloc(TIMELINE_SLICES, sizeof(*made.weight));
	if (!made.sum || !made.weight || buf_append(&timeline->series_list, &made, sizeof(made))) {
		free(made.sum);
		free(made.weight);
		return NULL;
	}
	return (struct timeline_series *)timeline->series_list.data + count;
}

static int add_sample(struct timeline *timeline, const char *group, const char *name,
		      const char *unit, uint64_t ts, int64_t dur, double value)
{
	struct timeline_series *series = series_of(timeline, group, name, unit);
	uint64_t from = context_clip(timeline->context, ts);
	uint64_t to = context_clip(timeline->context, ts + cell_known(dur));

	if (!series)
		return -ENOMEM;
	if (from >= to)
		return 0;
	for (size_t slice = slice_of(timeline, from); slice <= slice_of(timeline, to - 1);
	     slice++) {
		series->sum[slice] += value;
		series->weight[slice] += 1;
	}
	return 0;
}

static int take_cpu(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_cpu_ts);
	int64_t dur = rows_cell(rows, column_cpu_dur);

	if (rows_cell(rows, column_cpu_cpu) != -1)
		return 0;
	if (add_sample(timeline, "cpu", "usr", "%", ts, dur,
		       cell_real(rows, column_cpu_usr) + cell_real(rows, column_cpu_nice)) ||
	    add_sample(timeline, "cpu", "sys", "%", ts, dur,
		       cell_real(rows, column_cpu_sys) + cell_real(rows, column_cpu_irq) +
			       cell_real(rows, column_cpu_soft)) ||
	    add_sample(timeline, "cpu", "iowait", "%", ts, dur, cell_real(rows, column_cpu_iowait)))
		return -ENOMEM;
	return add_sample(timeline, "cpu", "idle", "%", ts, dur, cell_real(rows, column_cpu_idle));
}

static int take_disk(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_disk_ts);
	int64_t dur = rows_cell(rows, column_disk_dur);
	double seconds = (double)cell_known(dur) / 1e9;
	char name[64];
	size_t size;
	const char *dev = rows_text(rows, column_disk_dev, &size);
	uint64_t bytes[] = { cell_known(rows_cell(rows, column_disk_read_bytes)),
			     cell_known(rows_cell(rows, column_disk_write_bytes)) };

	for (unsigned i = 0; i < 2 && dev && seconds > 0; i++) {
		snprintf(name, sizeof(name), "%.*s %s", (int)(size < 40 ? size : 40), dev,
			 i ? "write" : "read");
		/* Disks that never move a byte have no curve. */
		if (bytes[i] && add_sample(timeline, "disk", name, "bytes/s", ts, dur,
					   (double)bytes[i] / seconds))
			return -ENOMEM;
	}
	return 0;
}

static int take_gpu(void *state, const struct rows *rows)
{
	struct timeline *timeline = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_gpu_ts), used, total;
	int64_t dur = rows_cell(rows, column_gpu_dur), gpu = rows_cell(rows, column_gpu_gpu);
	char name[64];

	snprintf(name, sizeof(name), "GPU %lld SM", (long long)gpu);
	if (add_sample(timeline, "gpu", name, "%", ts, dur, cell_real(rows, column_gpu_sm)))
		return -ENOMEM;
	snprintf(name, sizeof(name), "GPU %lld memory", (long long)gpu);
	if (add_sample(timeline, "gpu", name, "%", ts, dur, cell_real(rows, column_gpu_mem)))
		return -ENOMEM;
	used = cell_known(rows_cell(rows, column_gpu_fb_used));
	total = cell_known(rows_cell(rows, column_gpu_fb_total));
	snprintf(name, sizeof(name), "GPU %lld frame buffer", (long long)gpu);
	return add_sample(timeline, "gpu", name, "%", ts, dur,
			  total ? (double)used / (double)total * 100 : 0);
}

size_t timeline_sinks(struct timeline *timeline, struct scan_sink *sinks)
{
	size_t count = 0;

	sinks[count++] =
		(struct scan_sink){ TABLE_sched,
				    SCAN_COLUMN(sched, ts) | SCAN_COLUMN(sched, dur) |
					    SCAN_COLUMN(sched, pid) | SCAN_COLUMN(sched, tid),
				    take_sched, timeline };
	sinks[count++] = (struct scan_sink){ TABLE_io, ~0ull, take_io, timeline };
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
	sinks[count++] = (struct scan_sink){ TABLE_cpu, ~0ull, take_cpu, timeline };
	sinks[count++] = (struct scan_sink){ TABLE_disk, ~0ull, take_disk, timeline };
	sinks[count++] = (struct scan_sink){ TABLE_gpu, ~0ull, take_gpu, timeline };
	return count;
}

static int compare_events(const void *a, const void *b)
{
	const struct timeline_event *left = a, *right = b;

	return left->ts < right->ts ? -1 : left->ts > right->ts;
}

int timeline_finish(struct timeline *timeline)
{
	if (timeline->largest.size &&
	    buf_append(&timeline->longest, timeline->largest.data, timeline->largest.size))
		return -ENOMEM;
	timeline->events = (struct timeline_event *)timeline->longest.data;
	timeline->event_count = timeline->longest.size / sizeof(*timeline->events);
	if (timeline->event_count)
		qsort(timeline->events, timeline->event_count, sizeof(*timeline->events),
		      compare_events);
	timeline->series = (struct timeline_series *)timeline->series_list.data;
	timeline->series_count = timeline->series_list.size / sizeof(*timeline->series);
	return 0;
}

void timeline_free(struct timeline *timeline)
{
	struct timeline_series *series = (struct timeline_series *)timeline->series_list.data;

	for (size_t i = 0; i < timeline->series_list.size / sizeof(*series); i++) {
		free(series[i].sum);
		free(series[i].weight);
	}
	for (size_t i = 0; i < timeline->lane_count; i++)
		for (unsigned kind = 0; kind < TIMELINE_KIND_COUNT; kind++)
			free(timeline->lanes[i].busy[kind]);
	strings_free(&timeline->paths);
	strings_free(&timeline->ops);
	numbering_free(&timeline->by_proc);
	numbering_free(&timeline->by_file);
	buf_free(&timeline->longest);
	buf_free(&timeline->largest);
	buf_free(&timeline->series_list);
	buf_free(&timeline->file_paths);
}
