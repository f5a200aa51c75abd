#include "analyze/levels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/levels_tree.h"
#include "analyze/scan.h"
#include "store/merge.h"

const char *const level_names[LEVEL_COUNT] = {
#define LEVEL_NAME(id, name) name,
	LEVELS(LEVEL_NAME)
#undef LEVEL_NAME
};

/* ---- rows ---- */

/* A call of a thread; CELL_NULL: of none that others of its calls are inside of. */
static int enter(struct levels *levels, int64_t tid, uint64_t ts, const struct level_event *event)
{
	struct level_thread *thread = NULL;

	if (tid != CELL_NULL) {
		thread = levels_thread(levels, tid, ts);
		if (!thread)
			return -ENOMEM;
	}
	return levels_enter(levels, thread, event);
}

static int take_call(struct levels *levels, const struct rows *rows, uint64_t ts)
{
	struct level_event event = { .ts = ts,
				     .dur = rows_cell(rows, column_call_dur),
				     .bytes = rows_cell(rows, column_call_bytes),
				     .blocked = CELL_NULL };
	int64_t tid = rows_cell(rows, column_call_tid);

	event.name = rows_text(rows, column_call_func, &event.name_size);
	event.module = rows_text(rows, column_call_module, &event.module_size);
	event.level = event.module && event.module_size == 6 && !memcmp(event.module, "kernel", 6)
			      ? LEVEL_kernel
			      : LEVEL_library;
	return event.name ? enter(levels, tid, ts, &event) : 0;
}

/* The columns that the tables of system calls have in common, by table. */
static const struct call_columns {
	unsigned table;
	int tid, dur, op, blocked; /* -1: it has none */
} call_tables[] = {
#define CALL_TABLE(table, off_cpu)                                                              \
	{                                                                                       \
		TABLE_##table, column_##table##_tid, column_##table##_dur, column_##table##_op, \
			off_cpu                                                                 \
	}
	CALL_TABLE(io, column_io_blocked),
	CALL_TABLE(fs, column_fs_blocked),
	CALL_TABLE(wait, column_wait_blocked),
	CALL_TABLE(mem, -1),
#undef CALL_TABLE
};

static int take_syscall(struct levels *levels, const struct call_columns *columns,
			const struct rows *rows, uint64_t ts)
{
	struct level_event event = { .ts = ts,
				     .dur = rows_cell(rows, (unsigned)columns->dur),
				     .bytes = CELL_NULL,
				     .blocked =
					     columns->blocked < 0
						     ? CELL_NULL
						     : rows_cell(rows, (unsigned)columns->blocked),
				     .level = LEVEL_call };
	int64_t tid = rows_cell(rows, (unsigned)columns->tid);
	int op = columns->table == TABLE_wait ? -1 : rows_name(rows, (unsigned)columns->op);
	bool queued = false;

	if (event.blocked < 0) /* as CELL_NULL is */
		event.blocked = CELL_NULL;
	if (op > 0)
		event.known = &levels->syscall_names[op];
	event.name = rows_text(rows, (unsigned)columns->op, &event.name_size);
	if (columns->table == TABLE_io) {
		event.bytes = (int64_t)cell_known(rows_cell(rows, column_io_returned));
		event.filled = cell_known(rows_cell(rows, column_io_missed));
		queued = op >= 0 && schema_syscalls[op].queued;
	}
	if (!event.name)
		return 0;
	return enter(levels, queued ? CELL_NULL : tid, ts, &event);
}

static bool in_syscall(const struct level_thread *thread)
{
	for (uint32_t i = 0; thread && i < thread->depth; i++)
		if (level_frame_at(thread, i)->level == LEVEL_call)
			return true;
	return false;
}

/* What a fault inside a call filled is in the call's own row. */
static int take_fault(struct levels *levels, const struct rows *rows, uint64_t ts)
{
	int64_t tid = rows_cell(rows, column_fault_tid);
	struct level_thread *thread = levels_thread(levels, tid, ts);
	int64_t missed = rows_cell(rows, column_fault_missed);
	struct level_event event = { .ts = ts,
				     .dur = rows_cell(rows, column_fault_dur),
				     .bytes = in_syscall(thread) ? CELL_NULL : missed,
				     .blocked = CELL_NULL,
				     .name = "fault",
				     .name_size = 5,
				     .level = LEVEL_cache };

	return thread ? levels_enter(levels, thread, &event) : -ENOMEM;
}

/* The kernel's own writes name who dirtied the file, whatever that thread is doing now. */
static int take_block(struct levels *levels, const struct rows *rows, uint64_t ts)
{
	int64_t dur = rows_cell(rows, column_block_dur), tid = rows_cell(rows, column_block_tid);
	int op = rows_name(rows, column_block_op);
	bool inside = op == BLOCK_OP_R || rows_cell(rows, column_block_sync) == 1;
	struct level_event event = { .ts = ts,
				     .dur = dur,
				     .bytes = rows_cell(rows, column_block_bytes),
				     .blocked = CELL_NULL,
				     .level = LEVEL_block };
	char name[64];
	size_t size;
	const char *dev = rows_text(rows, column_block_dev, &size);

	if (!dev || op < 0)
		return 0;
	size = size < sizeof(name) - 2 ? size : sizeof(name) - 2;
	memcpy(name, dev, size);
	name[size] = ' ';
	name[size + 1] = *block_op_names.names[op];
	event.name = name;
	event.name_size = size + 2;
	if (dur != CELL_NULL)
		cell_add(&event.dur, (int64_t)cell_known(rows_cell(rows, column_block_queued)));
	return levels_request(levels, tid == CELL_NULL ? NULL : levels_thread(levels, tid, ts),
			      inside, &event);
}

static int take_row(struct levels *levels, unsigned table, const struct rows *rows, uint64_t ts)
{
	if (table == TABLE_call)
		return take_call(levels, rows, ts);
	if (table == TABLE_fault)
		return take_fault(levels, rows, ts);
	if (table == TABLE_block)
		return take_block(levels, rows, ts);
	for (size_t i = 0; i < sizeof(call_tables) / sizeof(*call_tables); i++)
		if (call_tables[i].table == table)
			return take_syscall(levels, &call_tables[i], rows, ts);
	return 0;
}

/* ---- the tree in the end ---- */

static void name_node(const struct levels *levels, struct level_node *node)
{
	size_t size;
	const char *text = strings_get(&levels->names, node->place, &size);

	node->level = (uint8_t)text[0];
	node->name = text + 2;
	node->name_size = (uint8_t)text[1];
	node->module = size > 2 + node->name_size ? node->name + node->name_size : NULL;
	node->module_size = size - 2 - node->name_size;
}

struct level_order {
	struct level_node *node;
	uint32_t number;
};

/* Inside one parent by time, then by calls, then as they were met. */
static int compare_nodes(const void *a, const void *b)
{
	const struct level_order *left = a, *right = b;
	const struct level_node *one = left->node, *other = right->node;

	if (one->parent != other->parent)
		return one->parent + 1 < other->parent + 1 ? -1 : 1;
	if (one->time_ns != other->time_ns)
		return one->time_ns > other->time_ns ? -1 : 1;
	if (one->calls != other->calls)
		return one->calls > other->calls ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

/* Puts what is inside `parent` behind it, each followed by its own. `first`: by parent + 1, where its nodes begin in `order`. */
static int place_nodes(struct levels *levels, const struct level_order *order,
		       const uint32_t *first, uint32_t parent, uint32_t placed)
{
	for (uint32_t i = first[parent + 1]; i < first[parent + 2]; i++) {
		struct level_node node = *order[i].node;
		uint32_t at = (uint32_t)(levels->memory.size / sizeof(node));

		node.parent = placed;
		node.place = i - first[parent + 1];
		node.growth = node.bytes_a_call = NAN;
		if (node.bytes != CELL_NULL)
			node.bytes_a_call = share_of((uint64_t)node.bytes, node.calls);
		if (placed != LEVELS_NO_PARENT) {
			const struct level_node *around =
				(struct level_node *)levels->memory.data + placed;

			if (node.bytes != CELL_NULL && around->bytes != CELL_NULL)
				node.growth =
					share_of((uint64_t)node.bytes, (uint64_t)around->bytes);
		}
		if (node.own_ns != CELL_NULL)
			levels->own_ns[node.level] += (uint64_t)node.own_ns;
		if (buf_append(&levels->memory, &node, sizeof(node)) ||
		    place_nodes(levels, order, first, order[i].number, at))
			return -ENOMEM;
	}
	return 0;
}

static int levels_finish(struct levels *levels)
{
	struct level_node *list = (struct level_node *)levels->list.data;
	uint32_t count = levels->tree.count;
	struct level_order *order = calloc(count + 1u, sizeof(*order));
	uint32_t *first = calloc(count + 2u, sizeof(*first));
	int err = order && first ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && !err; i++) {
		order[i] = (struct level_order){ &list[i], i };
		name_node(levels, &list[i]);
		first[list[i].parent + 2]++;
	}
	for (uint32_t i = 1; i < count + 2 && !err; i++)
		first[i] += first[i - 1];
	if (!err && count) {
		qsort(order, count, sizeof(*order), compare_nodes);
		err = place_nodes(levels, order, first, LEVELS_NO_PARENT, LEVELS_NO_PARENT);
	}
	free(order);
	free(first);
	levels->nodes = (struct level_node *)levels->memory.data;
	levels->count = levels->memory.size / sizeof(*levels->nodes);
	return err;
}

int levels_load(struct levels *levels, struct reader *reader, const struct span *window,
		struct error *e)
{
	static const uint64_t columns[TABLE_COUNT] = {
		[TABLE_call] = SCAN_COLUMN(call, ts) | SCAN_COLUMN(call, dur) |
			       SCAN_COLUMN(call, tid) | SCAN_COLUMN(call, func) |
			       SCAN_COLUMN(call, module) | SCAN_COLUMN(call, bytes),
		[TABLE_io] = SCAN_COLUMN(io, ts) | SCAN_COLUMN(io, dur) | SCAN_COLUMN(io, tid) |
			     SCAN_COLUMN(io, op) | SCAN_COLUMN(io, returned) |
			     SCAN_COLUMN(io, missed) | SCAN_COLUMN(io, blocked),
		[TABLE_fs] = SCAN_COLUMN(fs, ts) | SCAN_COLUMN(fs, dur) | SCAN_COLUMN(fs, tid) |
			     SCAN_COLUMN(fs, op) | SCAN_COLUMN(fs, blocked),
		[TABLE_mem] = SCAN_COLUMN(mem, ts) | SCAN_COLUMN(mem, dur) | SCAN_COLUMN(mem, tid) |
			      SCAN_COLUMN(mem, op),
		[TABLE_wait] = SCAN_COLUMN(wait, ts) | SCAN_COLUMN(wait, dur) |
			       SCAN_COLUMN(wait, tid) | SCAN_COLUMN(wait, op) |
			       SCAN_COLUMN(wait, blocked),
		[TABLE_fault] = SCAN_COLUMN(fault, ts) | SCAN_COLUMN(fault, dur) |
				SCAN_COLUMN(fault, tid) | SCAN_COLUMN(fault, missed),
		[TABLE_block] = SCAN_COLUMN(block, ts) | SCAN_COLUMN(block, dur) |
				SCAN_COLUMN(block, queued) | SCAN_COLUMN(block, tid) |
				SCAN_COLUMN(block, dev) | SCAN_COLUMN(block, op) |
				SCAN_COLUMN(block, sync) | SCAN_COLUMN(block, bytes),
	};
	struct merge merge = { 0 };
	uint32_t tables = 0;
	int err, more = 0;

	*levels = (struct levels){ 0 };
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		tables |= columns[i] ? 1u << i : 0;
	err = merge_open(&merge, reader, tables, columns, window->start, window->end, e);
	while (!err && (more = merge_next(&merge, e)) > 0)
		if (take_row(levels, merge.table, merge.rows, merge.ts))
			err = error_set(e, -ENOMEM, "no memory for the levels");
	merge_close(&merge);
	if (!err && more < 0)
		err = more;
	if (!err && (levels_close_all(levels) || levels_finish(levels)))
		err = error_set(e, -ENOMEM, "no memory for the levels");
	return err;
}

void levels_free(struct levels *levels)
{
	struct level_thread *threads = (struct level_thread *)levels->threads.data;

	for (size_t i = 0; i < levels->threads.size / sizeof(*threads); i++)
		buf_free(&threads[i].frames);
	buf_free(&levels->list);
	buf_free(&levels->memory);
	buf_free(&levels->threads);
	numbering_free(&levels->tree);
	numbering_free(&levels->by_tid);
	strings_free(&levels->names);
	*levels = (struct levels){ 0 };
}
