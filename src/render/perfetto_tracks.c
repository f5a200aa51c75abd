/* Tracks of the Perfetto export: processes and threads, groups, and lanes for what overlaps. A track is told
 * of when it is first used.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/perfetto.h"

static uint8_t *descriptor_begin(struct perfetto *p, uint8_t **packet, uint8_t **descriptor,
				 uint64_t track, uint64_t parent)
{
	uint8_t *at = packet_begin(p, packet);

	*descriptor = proto_open(&at, PACKET_TRACK_DESCRIPTOR);
	proto_uint(&at, TRACK_UUID, track);
	if (parent)
		proto_uint(&at, TRACK_PARENT, parent);
	return at;
}

static void descriptor_end(struct perfetto *p, uint8_t *at, uint8_t *packet, uint8_t *descriptor)
{
	proto_close(&at, descriptor);
	packet_end(p, at, packet);
}

static void descriptor_text(struct perfetto *p, uint8_t **at, unsigned field, const char *bytes,
			    size_t size)
{
	bytes = text_escape(p, bytes, &size);
	proto_bytes(at, field, bytes, size);
}

uint64_t track_add(struct perfetto *p, uint64_t parent, const char *name)
{
	uint64_t track = p->next_track++;
	uint8_t *packet, *descriptor;
	uint8_t *at = descriptor_begin(p, &packet, &descriptor, track, parent);

	descriptor_text(p, &at, TRACK_NAME, name, strlen(name));
	descriptor_end(p, at, packet, descriptor);
	return track;
}

void track_add_counter(struct perfetto *p, uint64_t track, uint64_t parent, const char *name,
		       const char *unit)
{
	uint8_t *packet, *descriptor, *counter;
	uint8_t *at = descriptor_begin(p, &packet, &descriptor, track, parent);

	descriptor_text(p, &at, TRACK_NAME, name, strlen(name));
	counter = proto_open(&at, TRACK_COUNTER);
	if (*unit)
		proto_string(&at, TRACK_COUNTER_UNIT, unit);
	proto_close(&at, counter);
	descriptor_end(p, at, packet, descriptor);
}

/* ---- groups and lanes ---- */

uint64_t *track_key(struct perfetto *p, const char *key, size_t size, bool *fresh)
{
	uint64_t *value = NULL;
	uint32_t number;

	if (!strings_add(&p->texts, key, size, &number))
		value = map_add(&p->groups, number, fresh);
	if (!value)
		p->error = -ENOMEM;
	return value;
}

uint64_t track_group(struct perfetto *p, const char *name)
{
	bool fresh;
	uint64_t *track = track_key(p, name, strlen(name), &fresh);

	if (track && fresh)
		*track = track_add(p, 0, name);
	return track ? *track : 0;
}

struct lanes *lanes_find(struct perfetto *p, const char *group, const char *name)
{
	uint64_t parent = track_group(p, group);
	struct lanes *lanes;
	uint64_t *value;
	char key[EVENT_KEYS_SIZE + 64];
	bool fresh;
	int size;

	size = snprintf(key, sizeof(key), "%s%c%s", group, 0, name);
	if (size >= (int)sizeof(key))
		size = sizeof(key) - 1;
	value = track_key(p, key, (size_t)size, &fresh);
	if (!value)
		return NULL;
	if (!fresh)
		return (struct lanes *)(uintptr_t)*value;
	lanes = calloc(1, sizeof(*lanes));
	if (lanes)
		lanes->name = strdup(name);
	if (!lanes || !lanes->name || buf_append(&p->lane_list, &lanes, sizeof(lanes))) {
		free(lanes);
		p->error = -ENOMEM;
		return NULL;
	}
	lanes->parent = parent;
	*value = (uintptr_t)lanes;
	return lanes;
}

struct lanes *lanes_of_thread(struct perfetto *p, struct perfetto_thread *thread,
			      const struct schema_table *table)
{
	struct table_lanes fresh = { .table = table, .lanes = { .name = schema_title(table) } };
	struct table_lanes *list = (struct table_lanes *)thread->apart.data;
	size_t count = thread->apart.size / sizeof(*list), i = 0;

	while (i < count && list[i].table != table)
		i++;
	if (i == count && buf_append(&thread->apart, &fresh, sizeof(fresh))) {
		p->error = -ENOMEM;
		return NULL;
	}
	list = (struct table_lanes *)thread->apart.data;
	list[i].lanes.parent = thread_track(p, thread);
	return &list[i].lanes;
}

uint64_t lanes_place(struct perfetto *p, struct lanes *lanes, uint64_t ts, uint64_t end)
{
	struct lane *items = (struct lane *)lanes->items.data;
	size_t count = lanes->items.size / sizeof(*items);
	struct lane lane = { .end = end };

	for (size_t i = 0; i < count; i++)
		if (items[i].end <= ts) {
			items[i].end = end;
			return items[i].track;
		}
	lane.track = track_add(p, lanes->parent, lanes->name);
	if (buf_append(&lanes->items, &lane, sizeof(lane)))
		p->error = -ENOMEM;
	return lane.track;
}

/* ---- processes and threads ---- */

static const struct thread_row *row_after(const struct perfetto *p, const struct thread_row *row)
{
	const struct threads *threads = dims_threads(p->run->dims);

	row++;
	if (row == threads_row(threads, 0) + threads_count(threads) || row->tid != row[-1].tid)
		return NULL;
	return row;
}

/* Whether the next name is one of the same thread: a rename, not a new thread under an old number. */
static bool same_life(const struct thread_row *row, const struct thread_row *next)
{
	return next && next->pid == row->pid && row->last_ts == next->first_ts;
}

/* The name that the thread has last: that of the program that it came to run. */
static const struct thread_row *last_name(const struct perfetto *p, const struct thread_row *row)
{
	const struct thread_row *next;

	while (same_life(row, next = row_after(p, row)))
		row = next;
	return row;
}

uint64_t process_track(struct perfetto *p, int64_t pid, uint64_t ts)
{
	uint64_t *track = map_add(&p->processes, (uint64_t)pid, NULL);
	const struct thread_row *row;
	uint8_t *packet, *descriptor, *process, *at;

	if (!track) {
		p->error = -ENOMEM;
		return 0;
	}
	if (*track)
		return *track;
	*track = p->next_track++;
	at = descriptor_begin(p, &packet, &descriptor, *track, 0);
	process = proto_open(&at, TRACK_PROCESS);
	proto_int(&at, TRACK_PROCESS_PID, (int32_t)pid);
	row = threads_find(dims_threads(p->run->dims), pid, ts);
	if (row) {
		row = last_name(p, row);
		descriptor_text(p, &at, TRACK_PROCESS_NAME, row->comm, row->comm_size);
	}
	proto_close(&at, process);
	descriptor_end(p, at, packet, descriptor);
	return *track;
}

uint64_t thread_track(struct perfetto *p, struct perfetto_thread *thread)
{
	const struct thread_row *row = thread->row;
	uint8_t *packet, *descriptor, *body, *at;
	int64_t pid = row && row->pid != CELL_NULL ? row->pid : thread->tid;

	if (thread->track)
		return thread->track;
	thread->process = process_track(p, pid, row ? thread->row_from : 0);
	thread->track = p->next_track++;
	at = descriptor_begin(p, &packet, &descriptor, thread->track, thread->process);
	body = proto_open(&at, TRACK_THREAD);
	proto_int(&at, TRACK_THREAD_PID, (int32_t)pid);
	proto_int(&at, TRACK_THREAD_TID, (int32_t)thread->tid);
	if (row) {
		row = last_name(p, row);
		descriptor_text(p, &at, TRACK_THREAD_NAME, row->comm, row->comm_size);
	}
	proto_close(&at, body);
	descriptor_end(p, at, packet, descriptor);
	return thread->track;
}

/* A number that belongs to another thread now: what follows is on new tracks. */
static void thread_renew(struct perfetto *p, struct perfetto_thread *thread)
{
	struct table_lanes *apart = (struct table_lanes *)thread->apart.data;
	uint64_t *process;

	sched_thread_ended(p, thread);
	process = map_find(&p->processes, (uint64_t)thread->tid);
	if (process)
		*process = 0;
	thread->track = thread->depth = 0;
	thread->async.items.size = 0;
	for (size_t i = 0; i < thread->apart.size / sizeof(*apart); i++)
		apart[i].lanes.items.size = 0;
	thread->stayed = false;
}

/* Finds the name that holds at ts, and until when it does. */
static void thread_look(struct perfetto *p, struct perfetto_thread *thread, uint64_t ts)
{
	const struct thread_row *row = threads_find(dims_threads(p->run->dims), thread->tid, ts);
	const struct thread_row *next = row ? row_after(p, row) : NULL;
	const struct thread_row *before = thread->row;

	thread->row_from = ts;
	thread->row_until = next ? (uint64_t)next->first_ts : UINT64_MAX;
	if (row && row->last_ts != CELL_NULL && (uint64_t)row->last_ts < thread->row_until)
		thread->row_until = (uint64_t)row->last_ts + 1;
	if (thread->row_until <= ts)
		thread->row_until = ts + 1;
	/* On its way out a thread has no name any more, but is still itself. */
	if (before && !row)
		return;
	if (before && row != before) {
		while (before != row && same_life(before, row_after(p, before)))
			before++;
		if (before != row)
			thread_renew(p, thread);
	}
	thread->row = row;
}

struct perfetto_thread *thread_at(struct perfetto *p, int64_t tid, uint64_t ts)
{
	bool fresh;
	uint64_t *value = map_add(&p->threads, (uint64_t)tid, &fresh);
	struct perfetto_thread *thread;

	if (value && fresh) {
		thread = calloc(1, sizeof(*thread));
		*value = (uintptr_t)thread;
		if (thread) {
			thread->tid = tid;
			thread->async.name = "overlapping calls";
		}
	}
	thread = value ? (struct perfetto_thread *)(uintptr_t)*value : NULL;
	if (!thread) {
		p->error = -ENOMEM;
		return NULL;
	}
	if (ts < thread->row_from || ts >= thread->row_until)
		thread_look(p, thread, ts);
	return thread;
}

uint64_t thread_place(struct perfetto *p, struct perfetto_thread *thread, uint64_t ts, uint64_t end)
{
	while (thread->depth && thread->ends[thread->depth - 1] <= ts)
		thread->depth--;
	if (thread->depth == PERFETTO_MAX_DEPTH ||
	    (thread->depth && end > thread->ends[thread->depth - 1])) {
		thread->async.parent = thread_track(p, thread);
		return lanes_place(p, &thread->async, ts, end);
	}
	thread->ends[thread->depth++] = end;
	return thread_track(p, thread);
}

static void thread_free(struct perfetto_thread *thread)
{
	struct table_lanes *apart = (struct table_lanes *)thread->apart.data;

	for (size_t i = 0; i < thread->apart.size / sizeof(*apart); i++)
		buf_free(&apart[i].lanes.items);
	buf_free(&thread->apart);
	buf_free(&thread->async.items);
	free(thread);
}

void tracks_free(struct perfetto *p)
{
	struct lanes **lanes = (struct lanes **)p->lane_list.data;
	size_t at = 0;

	for (uint64_t *value; (value = map_next(&p->threads, &at));) {
		struct perfetto_thread *thread = (struct perfetto_thread *)(uintptr_t)*value;

		if (thread)
			thread_free(thread);
	}
	for (size_t i = 0; i < p->lane_list.size / sizeof(*lanes); i++) {
		buf_free(&lanes[i]->items);
		free((char *)lanes[i]->name);
		free(lanes[i]);
	}
	map_free(&p->threads);
	map_free(&p->processes);
	map_free(&p->groups);
	buf_free(&p->lane_list);
}
