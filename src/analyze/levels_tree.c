#include "analyze/levels_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tree ---- */

static struct level_node *node_at(const struct levels *levels, uint32_t number)
{
	return (struct level_node *)levels->list.data + number;
}

/* What an operation is called, as a number: its level, name and module. */
static int name_of(struct levels *levels, const struct level_event *event, uint32_t *number)
{
	char text[512];
	size_t name = event->name_size < 250 ? event->name_size : 250;
	size_t module = event->module_size < 250 ? event->module_size : 250;
	int err;

	if (event->known && *event->known) {
		*number = *event->known - 1;
		return 0;
	}
	text[0] = (char)event->level;
	text[1] = (char)name;
	memcpy(text + 2, event->name, name);
	if (module)
		memcpy(text + 2 + name, event->module, module);
	err = strings_add(&levels->names, text, 2 + name + module, number);
	if (!err && event->known)
		*event->known = *number + 1;
	return err;
}

/* The node of that name inside another one, made when it is new. Past the greatest number the one around it stands for it. */
static int node_of(struct levels *levels, uint32_t parent, uint32_t name, uint32_t *node)
{
	uint64_t key = (uint64_t)(parent + 1) << 32 | name;
	struct level_node made = {
		.parent = parent, .bytes = CELL_NULL, .time_ns = CELL_NULL, .own_ns = CELL_NULL
	};
	int fresh;

	if (levels->tree.count >= LEVELS_MOST_NODES && parent != LEVELS_NO_PARENT &&
	    !numbering_find(&levels->tree, key, node)) {
		levels->cut++;
		*node = parent;
		return 0;
	}
	fresh = numbering_add(&levels->tree, key, node);
	if (fresh <= 0)
		return fresh;
	made.place = name; /* until the names are known to stay where they are */
	made.depth = parent == LEVELS_NO_PARENT ? 0 : node_at(levels, parent)->depth + 1;
	return buf_append(&levels->list, &made, sizeof(made));
}

static void node_add(struct level_node *node, const struct level_event *event)
{
	node->calls++;
	node->untimed += event->dur == CELL_NULL;
	cell_add(&node->bytes, event->bytes);
}

/* ---- threads ---- */

/* Accounts for the time up to ts. */
static void thread_settle(struct level_thread *thread, uint64_t ts)
{
	struct level_frame *frame;
	uint64_t busy;

	if (ts <= thread->now)
		return;
	if (thread->depth) {
		frame = level_frame_last(thread);
		busy = thread->busy_until < ts ? thread->busy_until : ts;
		frame->own += ts - thread->now;
		if (frame->level != LEVEL_library && busy > thread->now)
			frame->waited += busy - thread->now;
	}
	thread->now = ts;
}

/* How long of it the thread waited for its requests: not longer than the system call says that it was off the CPU. */
static uint64_t frame_waited(struct level_thread *thread, const struct level_frame *frame,
			     bool *known)
{
	*known = true;
	for (uint32_t i = thread->depth; i-- > 0;) {
		struct level_frame *call = level_frame_at(thread, i);
		uint64_t waited = frame->waited;

		if (call->level != LEVEL_call)
			continue;
		*known = call->blocked != CELL_NULL;
		if (!*known)
			return 0;
		if (waited > (uint64_t)call->blocked)
			waited = (uint64_t)call->blocked;
		call->blocked -= (int64_t)waited;
		return waited;
	}
	return frame->waited;
}

static int frame_close(struct levels *levels, struct level_thread *thread)
{
	struct level_frame *frame = level_frame_last(thread);
	struct level_node *node = node_at(levels, frame->node);
	uint64_t waited;
	uint32_t device;
	bool known;
	int err = 0;

	thread_settle(thread, frame->end);
	waited = frame_waited(thread, frame, &known);
	cell_add(&node->own_ns, (int64_t)(frame->own - waited));
	if (frame->outermost)
		cell_add(&node->time_ns, (int64_t)(frame->end - frame->ts));
	if (known && thread->device != UINT32_MAX && waited) {
		err = node_of(levels, frame->below, thread->device, &device);
		if (!err)
			cell_add(&node_at(levels, device)->own_ns, (int64_t)waited);
	}
	thread->depth--;
	return err;
}

static int thread_close(struct levels *levels, struct level_thread *thread, uint64_t until)
{
	int err = 0;

	while (!err && thread->depth && level_frame_last(thread)->end <= until)
		err = frame_close(levels, thread);
	return err;
}

struct level_thread *levels_thread(struct levels *levels, int64_t tid, uint64_t ts)
{
	struct level_thread *thread;
	uint32_t number;
	int fresh = numbering_add(&levels->by_tid, (uint64_t)tid, &number);

	if (fresh < 0)
		return NULL;
	thread = buf_element(&levels->threads, number, sizeof(*thread));
	if (thread && fresh)
		thread->device = UINT32_MAX;
	return thread && !thread_close(levels, thread, ts) ? thread : NULL;
}

int levels_close_all(struct levels *levels)
{
	struct level_thread *threads = (struct level_thread *)levels->threads.data;
	int err = 0;

	for (size_t i = 0; i < levels->threads.size / sizeof(*threads) && !err; i++)
		err = thread_close(levels, &threads[i], UINT64_MAX);
	return err;
}

/* ---- rows ---- */

/* The node of the operation: where it was first, if it is under way already. */
static int node_inside(struct levels *levels, const struct level_thread *thread, uint32_t name,
		       uint32_t *node, bool *outermost)
{
	uint32_t parent =
		thread && thread->depth ? level_frame_last(thread)->node : LEVELS_NO_PARENT;

	*outermost = true;
	for (uint32_t i = thread ? thread->depth : 0; i-- > 0;) {
		*node = level_frame_at(thread, i)->node;
		if (node_at(levels, *node)->place != name)
			continue;
		*outermost = false;
		return 0;
	}
	return node_of(levels, parent, name, node);
}

/* The part of the page cache in a call. */
static int node_filled(struct levels *levels, uint32_t parent, const struct level_event *event,
		       uint32_t *node)
{
	struct level_event fill = { .dur = CELL_NULL,
				    .bytes = (int64_t)event->filled,
				    .name = "fill",
				    .name_size = 4,
				    .level = LEVEL_cache };
	uint32_t name;

	if (name_of(levels, &fill, &name) || node_of(levels, parent, name, node))
		return -ENOMEM;
	node_add(node_at(levels, *node), &fill);
	return 0;
}

int levels_enter(struct levels *levels, struct level_thread *thread,
		 const struct level_event *event)
{
	struct level_frame frame = { .ts = event->ts,
				     .blocked = event->blocked,
				     .level = (uint8_t)event->level };
	struct level_frame *pushed;
	uint32_t name;

	if (name_of(levels, event, &name) ||
	    node_inside(levels, thread, name, &frame.node, &frame.outermost))
		return -ENOMEM;
	node_add(node_at(levels, frame.node), event);
	frame.below = frame.node;
	if (event->filled && node_filled(levels, frame.node, event, &frame.below))
		return -ENOMEM;
	if (!thread && event->dur != CELL_NULL)
		cell_add(&node_at(levels, frame.node)->time_ns, event->dur);
	if (!thread || event->dur == CELL_NULL)
		return 0;
	frame.end = event->ts + (uint64_t)event->dur;
	if (thread->depth && frame.end > level_frame_last(thread)->end)
		frame.end = level_frame_last(thread)->end;
	thread_settle(thread, event->ts);
	thread->now = event->ts;
	pushed = buf_element(&thread->frames, thread->depth, sizeof(frame));
	if (!pushed)
		return -ENOMEM;
	*pushed = frame;
	thread->depth++;
	return 0;
}

int levels_request(struct levels *levels, struct level_thread *thread, bool inside,
		   const struct level_event *event)
{
	bool of_call = inside && thread && thread->depth;
	uint32_t parent = of_call ? level_frame_last(thread)->below : LEVELS_NO_PARENT;
	uint64_t end = event->ts + (uint64_t)(event->dur == CELL_NULL ? 0 : event->dur);
	uint32_t name, node;

	if (name_of(levels, event, &name) || node_of(levels, parent, name, &node))
		return -ENOMEM;
	node_add(node_at(levels, node), event);
	cell_add(&node_at(levels, node)->time_ns, event->dur);
	if (!inside || !thread)
		return 0;
	thread_settle(thread, event->ts);
	if (end > thread->busy_until)
		thread->busy_until = end;
	thread->device = name;
	return 0;
}
