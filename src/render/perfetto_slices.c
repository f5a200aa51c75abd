/* Rows with a length as slices of the Perfetto export. Which tables, on which tracks and under which names
 * is the table `layouts`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "render/perfetto.h"

enum place {
	PLACE_NONE,
	PLACE_THREAD, /* on the thread's track, nested */
	PLACE_DEVICE, /* a lane of the block device */
	PLACE_STREAM, /* a lane of the GPU's stream */
	PLACE_MARK,   /* a lane of the thread's or process's marks */
	PLACE_GROUP,  /* a lane of a group named like the table */
};

struct layout {
	enum place place;
	const char *name; /* column that names the slice, NULL: the table */
	bool instant;	  /* without dur it is a moment, not unfinished */
};

static const struct layout layouts[TABLE_COUNT] = {
	[TABLE_io] = { PLACE_THREAD, "op", false },
	[TABLE_fs] = { PLACE_THREAD, "op", false },
	[TABLE_mem] = { PLACE_THREAD, "op", false },
	[TABLE_call] = { PLACE_THREAD, "func", false },
	[TABLE_fault] = { PLACE_THREAD, NULL, true },
	[TABLE_block] = { PLACE_DEVICE, "op", false },
	[TABLE_gpu_op] = { PLACE_STREAM, "name", false },
	[TABLE_mark] = { PLACE_MARK, "name", true },
	[TABLE_loss] = { PLACE_GROUP, "layer", true },
};

static int column_of(unsigned table, const char *name)
{
	return name ? schema_column_by_name(&schema_tables[table], name) : -1;
}

uint64_t slices_wanted(unsigned table)
{
	static const char *const used[] = { "ts",     "dur",	"pid",	 "tid",	    "op",
					    "func",   "name",	"layer", "dev",	    "gpu",
					    "stream", "queued", "file",	 "blocked", "sync" };
	uint64_t wanted = 0;

	if (layouts[table].place == PLACE_NONE)
		return 0;
	for (unsigned i = 0; i < sizeof(used) / sizeof(*used); i++) {
		int column = column_of(table, used[i]);

		if (column >= 0)
			wanted |= 1ull << column;
	}
	return wanted;
}

void slice_begin(struct perfetto *p, const struct slice *slice, const struct arguments_plan *plan,
		 const struct rows *rows)
{
	uint8_t *packet, *event, *at;

	arguments_intern(p, plan, rows);
	at = packet_begin(p, &packet);
	packet_time(p, &at, slice->ts);
	event = proto_open(&at, PACKET_TRACK_EVENT);
	proto_uint(&at, EVENT_TYPE, slice->instant ? EVENT_TYPE_INSTANT : EVENT_TYPE_BEGIN);
	proto_uint(&at, EVENT_TRACK, slice->track);
	proto_uint(&at, EVENT_CATEGORY, slice->category);
	proto_uint(&at, EVENT_NAME, slice->name);
	if (slice->flow)
		proto_fixed64(&at, EVENT_FLOW, slice->flow);
	if (slice->flow_end)
		proto_fixed64(&at, EVENT_FLOW_END, slice->flow_end);
	arguments_write(p, &at, plan, rows);
	proto_close(&at, event);
	packet_end(p, at, packet);
}

static void slice_end(struct perfetto *p, uint64_t track, uint64_t end)
{
	uint8_t *packet, *event, *at = packet_begin(p, &packet);

	packet_time(p, &at, end);
	event = proto_open(&at, PACKET_TRACK_EVENT);
	proto_uint(&at, EVENT_TYPE, EVENT_TYPE_END);
	proto_uint(&at, EVENT_TRACK, track);
	proto_close(&at, event);
	packet_end(p, at, packet);
}

static int64_t cell_of(unsigned table, const struct rows *rows, const char *name)
{
	int column = column_of(table, name);

	return column < 0 ? CELL_NULL : rows_cell(rows, (unsigned)column);
}

/* The end of the row's time, UINT64_MAX when it is not known. */
static uint64_t end_of(unsigned table, const struct rows *rows, uint64_t ts)
{
	int64_t dur = rows_cell(rows, 1), queued = CELL_NULL;

	if (dur == CELL_NULL)
		return UINT64_MAX;
	/* A request begins when it is queued, and its dur when it is issued. */
	if (table == TABLE_block)
		queued = rows_cell(rows, column_block_queued);
	return ts + (uint64_t)dur + (queued == CELL_NULL ? 0 : (uint64_t)queued);
}

static uint64_t place_device(struct perfetto *p, const struct rows *rows, uint64_t ts, uint64_t end)
{
	char name[64] = "unknown device";
	struct lanes *lanes;
	const char *dev;
	size_t size;

	dev = rows_text(rows, column_block_dev, &size);
	if (dev)
		snprintf(name, sizeof(name), "%.*s", (int)size, dev);
	lanes = lanes_find(p, "Block requests", name);
	return lanes ? lanes_place(p, lanes, ts, end) : 0;
}

static uint64_t place_stream(struct perfetto *p, const struct rows *rows, uint64_t ts, uint64_t end)
{
	struct lanes *lanes;
	char name[64];

	snprintf(name, sizeof(name), "GPU %" PRId64 " stream %" PRId64,
		 rows_cell(rows, column_gpu_op_gpu), rows_cell(rows, column_gpu_op_stream));
	lanes = lanes_find(p, "GPU work", name);
	return lanes ? lanes_place(p, lanes, ts, end) : 0;
}

static uint64_t place_group(struct perfetto *p, const char *group, const char *name, uint64_t ts,
			    uint64_t end)
{
	struct lanes *lanes = lanes_find(p, group, name);

	return lanes ? lanes_place(p, lanes, ts, end) : 0;
}

/* A moment occupies nothing. */
static uint64_t place_mark(struct perfetto *p, struct perfetto_thread *thread, uint64_t ts,
			   uint64_t end)
{
	if (end == UINT64_MAX)
		end = ts;
	if (!thread)
		return place_group(p, "Marks", "marks", ts, end);
	thread->marks.parent = thread_track(p, thread);
	return lanes_place(p, &thread->marks, ts, end);
}

/* Operations of io_uring and libaio run beside what their thread does. */
static bool is_async(const struct rows *rows, unsigned table)
{
	const char *op;
	size_t size;

	if (table != TABLE_io && table != TABLE_fs)
		return false;
	op = rows_text(rows, table == TABLE_io ? column_io_op : column_fs_op, &size);
	return op &&
	       ((size > 9 && !memcmp(op, "io_uring_", 9)) || (size > 4 && !memcmp(op, "aio_", 4)));
}

static uint64_t place_call(struct perfetto *p, struct perfetto_thread *thread, bool async,
			   uint64_t ts, uint64_t end)
{
	if (!thread)
		return place_group(p, "Threads that the trace does not number", "calls", ts, end);
	if (!async)
		return thread_place(p, thread, ts, end);
	thread->async.parent = thread_track(p, thread);
	return lanes_place(p, &thread->async, ts, end);
}

static uint64_t place_of(struct perfetto *p, unsigned table, const struct rows *rows,
			 struct perfetto_thread *thread, const struct slice *slice, bool async)
{
	switch (layouts[table].place) {
	case PLACE_THREAD:
		/* What occupies no time needs no place of its own. */
		if (slice->instant && thread)
			return thread_track(p, thread);
		return place_call(p, thread, async, slice->ts, slice->end);
	case PLACE_DEVICE: return place_device(p, rows, slice->ts, slice->end);
	case PLACE_STREAM: return place_stream(p, rows, slice->ts, slice->end);
	case PLACE_MARK: return place_mark(p, thread, slice->ts, slice->end);
	default:
		return place_group(p, "Lost events", "lost", slice->ts,
				   slice->instant ? slice->ts : slice->end);
	}
}

/* Whether the call can have waited for a request: it was off the CPU, or runs beside its thread. */
static bool may_have_waited(unsigned table, const struct rows *rows, bool async)
{
	int64_t blocked = CELL_NULL;

	switch (table) {
	case TABLE_io: blocked = rows_cell(rows, column_io_blocked); break;
	case TABLE_fs: blocked = rows_cell(rows, column_fs_blocked); break;
	case TABLE_fault: return rows_cell(rows, column_fault_major) == 1;
	default: return false;
	}
	return async || (blocked != CELL_NULL && blocked > 0);
}

static int64_t file_of(struct perfetto *p, unsigned table, const struct rows *rows)
{
	int64_t file = cell_of(table, rows, "file");

	return file == CELL_NULL ? CELL_NULL : dims_file(p->run->dims, file);
}

static void remember_call(struct perfetto *p, unsigned table, const struct rows *rows,
			  const struct slice *slice, int64_t tid)
{
	struct flow_call call = { .ts = slice->ts,
				  .end = slice->end,
				  .track = slice->track,
				  .tid = tid,
				  .file = file_of(p, table, rows) };

	flows_add_call(p, &call);
}

static void begin_flow(struct perfetto *p, const struct rows *rows, struct slice *slice)
{
	struct flow_request request = { .end = slice->end,
					.flow = p->next_flow++,
					.tid = rows_cell(rows, column_block_tid),
					.file = file_of(p, TABLE_block, rows),
					.sync = rows_cell(rows, column_block_sync) == 1 };

	slice->flow = request.flow;
	flows_add_request(p, &request);
}

bool slices_take(struct perfetto *p, unsigned table, const struct rows *rows, uint64_t ts)
{
	const struct layout *layout = &layouts[table];
	struct slice slice = { .ts = ts, .category = table + 1 };
	struct perfetto_thread *thread = NULL;
	int64_t tid;
	bool async;

	if (layout->place == PLACE_NONE)
		return false;
	slice.end = end_of(table, rows, ts);
	slice.instant = layout->instant && slice.end == UINT64_MAX;
	slice.name =
		name_of_row(p, rows, column_of(table, layout->name), schema_tables[table].name);
	tid = cell_of(table, rows, "tid");
	if (tid != CELL_NULL && tid > 0)
		thread = thread_at(p, tid, ts);
	async = is_async(rows, table);
	slice.track = place_of(p, table, rows, thread, &slice, async);
	if (table == TABLE_block && slice.end != UINT64_MAX && p->flows)
		begin_flow(p, rows, &slice);
	slice_begin(p, &slice, &p->plans[table], rows);
	if (slice.instant || slice.end == UINT64_MAX)
		return true;
	slice_end(p, slice.track, slice.end);
	if (p->flows && may_have_waited(table, rows, async))
		remember_call(p, table, rows, &slice, tid);
	return true;
}
