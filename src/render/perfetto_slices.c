/* Spans as slices of the Perfetto export: the track of each, and what an arrow from a block request needs to know. */
#include <string.h>

#include "render/perfetto.h"

void slice_begin(struct perfetto *p, const struct slice *slice, const struct event_row *event)
{
	uint8_t *packet, *body, *at;

	if (event)
		arguments_intern(p, event);
	at = packet_begin(p, &packet);
	packet_time(p, &at, slice->ts);
	body = proto_open(&at, PACKET_TRACK_EVENT);
	proto_uint(&at, EVENT_TYPE, slice->instant ? EVENT_TYPE_INSTANT : EVENT_TYPE_BEGIN);
	proto_uint(&at, EVENT_TRACK, slice->track);
	proto_uint(&at, EVENT_CATEGORY, slice->category);
	proto_uint(&at, EVENT_NAME, slice->name);
	if (slice->flow)
		proto_fixed64(&at, EVENT_FLOW, slice->flow);
	if (slice->flow_end)
		proto_fixed64(&at, EVENT_FLOW_END, slice->flow_end);
	if (event)
		arguments_write(p, &at, event);
	proto_close(&at, body);
	packet_end(p, at, packet);
}

void slice_end(struct perfetto *p, uint64_t track, uint64_t end)
{
	uint8_t *packet, *event, *at = packet_begin(p, &packet);

	packet_time(p, &at, end);
	event = proto_open(&at, PACKET_TRACK_EVENT);
	proto_uint(&at, EVENT_TYPE, EVENT_TYPE_END);
	proto_uint(&at, EVENT_TRACK, track);
	proto_close(&at, event);
	packet_end(p, at, packet);
}

/* The lanes for spans that lie apart; of calls, those whose thread the trace does not know. */
static struct lanes *lanes_apart(struct perfetto *p, const struct event_row *event,
				 struct perfetto_thread *thread)
{
	const struct event_plan *plan = event->plan;
	const char *title = schema_title(plan->schema);
	char keys[EVENT_KEYS_SIZE];

	if (plan->calls)
		return lanes_find(p, "Threads that the trace does not number", "calls");
	if (plan->key_count) {
		event_describe_keys(event, keys);
		return lanes_find(p, title, keys);
	}
	if (thread)
		return lanes_of_thread(p, thread, plan->schema);
	return lanes_find(p, title, title);
}

static uint64_t place_event(struct perfetto *p, const struct event_row *event,
			    struct perfetto_thread *thread)
{
	/* A moment occupies nothing. */
	uint64_t end = event->moment ? event->ts : event->end;
	struct lanes *lanes;

	if (event->place == PLACE_APART) {
		lanes = lanes_apart(p, event, thread);
		return lanes ? lanes_place(p, lanes, event->ts, end) : 0;
	}
	if (!thread)
		return 0; /* no memory */
	if (event->moment)
		return thread_track(p, thread);
	if (event->place == PLACE_NESTED)
		return thread_place(p, thread, event->ts, end);
	thread->async.parent = thread_track(p, thread);
	return lanes_place(p, &thread->async, event->ts, end);
}

/* Whether the call can have waited for a request: it was off the CPU, or runs beside its thread. */
static bool may_have_waited(const struct event_row *event)
{
	int64_t blocked = CELL_NULL;

	switch (event->plan->schema - schema_tables) {
	case TABLE_io: blocked = rows_cell(event->rows, column_io_blocked); break;
	case TABLE_fs: blocked = rows_cell(event->rows, column_fs_blocked); break;
	case TABLE_fault: return rows_cell(event->rows, column_fault_major) == 1;
	default: return false;
	}
	return event->place == PLACE_BESIDE || (blocked != CELL_NULL && blocked > 0);
}

static int64_t file_of(struct perfetto *p, const struct event_row *event)
{
	int64_t file = rows_cell(event->rows, (unsigned)event->plan->file);

	return file == CELL_NULL ? CELL_NULL : dims_file(p->run->dims, file);
}

static void remember_call(struct perfetto *p, const struct event_row *event, uint64_t track)
{
	struct flow_call call = { .ts = event->ts,
				  .end = event->end,
				  .track = track,
				  .tid = event->tid,
				  .file = file_of(p, event) };

	flows_add_call(p, &call);
}

static void begin_flow(struct perfetto *p, const struct event_row *event, struct slice *slice)
{
	struct flow_request request = { .end = event->end,
					.flow = p->next_flow++,
					.tid = event->tid,
					.file = file_of(p, event),
					.sync = rows_cell(event->rows, column_block_sync) == 1 };

	slice->flow = request.flow;
	flows_add_request(p, &request);
}

/* An arrow from the thread that launched it: the call itself is in the trace only where calls are traced, so a moment stands for it. */
static void begin_launch(struct perfetto *p, const struct event_row *event,
			 struct perfetto_thread *thread, struct slice *slice)
{
	static const char name[] = "launch";
	int64_t launch = rows_cell(event->rows, column_gpu_op_launch);
	int64_t correlation = rows_cell(event->rows, column_gpu_op_correlation);
	struct slice moment = { .category = TABLE_gpu_op + 1, .instant = true };

	/* What one graph leads to has the number of its launch, and follows one another. */
	if (!thread || launch == CELL_NULL || launch < 0 || (uint64_t)launch > event->ts ||
	    correlation == p->last_launch)
		return;
	p->last_launch = correlation;
	moment.ts = (uint64_t)launch;
	moment.track = thread_track(p, thread);
	moment.name = name_intern(p, name, strlen(name));
	moment.flow = slice->flow_end = p->next_flow++;
	slice_begin(p, &moment, NULL);
}

void slices_take(struct perfetto *p, const struct event_row *event)
{
	unsigned table = (unsigned)(event->plan->schema - schema_tables);
	struct slice slice = {
		.ts = event->ts, .end = event->end, .category = table + 1, .instant = event->moment
	};
	struct perfetto_thread *thread = NULL;

	slice.name = name_of_event(p, event);
	if (event->tid != CELL_NULL && event->tid > 0)
		thread = thread_at(p, event->tid, event->ts);
	slice.track = place_event(p, event, thread);
	if (table == TABLE_block && event->end != EVENT_NO_END && p->flows)
		begin_flow(p, event, &slice);
	if (table == TABLE_gpu_op && p->flows)
		begin_launch(p, event, thread, &slice);
	slice_begin(p, &slice, event);
	if (event->end == EVENT_NO_END)
		return;
	slice_end(p, slice.track, slice.end);
	if (p->flows && may_have_waited(event))
		remember_call(p, event, slice.track);
}
