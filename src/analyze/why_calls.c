#include "analyze/why_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scan.h"
#include "store/merge.h"

/* Which columns of a table say what a call is; -1: it has none such. */
struct call_table {
	unsigned table;
	int tid, dur, name, file, returned, blocked, timeout;
};

#define HAS(table, column) column_##table##_##column

static const struct call_table call_tables[] = {
	{ TABLE_io, HAS(io, tid), HAS(io, dur), HAS(io, op), HAS(io, file), HAS(io, returned),
	  HAS(io, blocked), -1 },
	{ TABLE_fs, HAS(fs, tid), HAS(fs, dur), HAS(fs, op), HAS(fs, file), HAS(fs, returned),
	  HAS(fs, blocked), -1 },
	{ TABLE_mem, HAS(mem, tid), HAS(mem, dur), HAS(mem, op), HAS(mem, file), HAS(mem, returned),
	  -1, -1 },
	{ TABLE_wait, HAS(wait, tid), HAS(wait, dur), HAS(wait, op), HAS(wait, file),
	  HAS(wait, returned), HAS(wait, blocked), HAS(wait, timeout) },
	{ TABLE_fault, HAS(fault, tid), HAS(fault, dur), -1, HAS(fault, file), -1, -1, -1 },
	{ TABLE_stall, HAS(stall, tid), HAS(stall, dur), HAS(stall, kind), HAS(stall, file), -1, -1,
	  -1 },
};

#define CALL_TABLES (sizeof(call_tables) / sizeof(*call_tables))

static int64_t cell_of(const struct rows *rows, int column)
{
	return column < 0 ? CELL_NULL : rows_cell(rows, (unsigned)column);
}

static bool inside_call(unsigned table)
{
	return table == TABLE_fault || table == TABLE_stall;
}

/* Whether the operation was handed over in a queue: then the thread was not in it. */
static bool is_queued(const struct rows *rows, const struct call_table *table)
{
	int op = table->table == TABLE_io || table->table == TABLE_fs
			 ? rows_name(rows, (unsigned)table->name)
			 : -1;

	return op >= 0 && schema_syscalls[op].queued;
}

static bool is_kept(const struct rows *rows, const struct call_table *table, uint32_t thread,
		    uint32_t focus)
{
	int64_t blocked = cell_of(rows, table->blocked);

	if (is_queued(rows, table))
		return false;
	return thread == focus || table->table == TABLE_wait || inside_call(table->table) ||
	       (blocked != CELL_NULL && blocked > 0);
}

static int take_call(struct why_calls *calls, const struct stays *stays, uint32_t focus,
		     const struct call_table *table, const struct rows *rows, uint64_t ts)
{
	int64_t tid = cell_of(rows, table->tid), dur = cell_of(rows, table->dur);
	struct why_call call = { .ts = ts, .table = (uint8_t)table->table };
	struct buf *list = inside_call(table->table) ? &calls->stalls : &calls->calls;
	const char *name = "fault";
	size_t size = 5;

	if (tid == CELL_NULL || (dur == CELL_NULL && inside_call(table->table)))
		return 0;
	call.thread = stays_thread(stays, tid);
	if (call.thread == STAY_NONE || !is_kept(rows, table, call.thread, focus))
		return 0;
	call.end = dur == CELL_NULL || ts + (uint64_t)dur < ts ? UINT64_MAX : ts + (uint64_t)dur;
	call.file = cell_of(rows, table->file);
	call.returned = cell_of(rows, table->returned);
	call.timed = cell_of(rows, table->timeout) != CELL_NULL;
	if (table->table == TABLE_stall)
		call.kind = (int8_t)rows_name(rows, column_stall_kind);
	if (table->name >= 0)
		name = rows_text(rows, (unsigned)table->name, &size);
	if (!name)
		return 0;
	if (strings_add(&calls->names, name, size, &call.name))
		return -ENOMEM;
	return buf_append(list, &call, sizeof(call));
}

static int take_block(struct why_calls *calls, const struct stays *stays, const struct rows *rows,
		      uint64_t ts)
{
	int64_t tid = rows_cell(rows, column_block_tid), dur = rows_cell(rows, column_block_dur);
	int64_t queued = rows_cell(rows, column_block_queued);
	struct why_block block = { .ts = ts, .file = rows_cell(rows, column_block_file) };
	const char *dev;
	size_t size;

	dev = rows_text(rows, column_block_dev, &size);
	if (dur == CELL_NULL || !dev)
		return 0;
	block.thread = tid == CELL_NULL ? STAY_NONE : stays_thread(stays, tid);
	block.end = ts + (uint64_t)dur + (queued == CELL_NULL ? 0 : (uint64_t)queued);
	if (strings_add(&calls->names, dev, size, &block.dev) ||
	    buf_append(&calls->blocks, &block, sizeof(block)))
		return -ENOMEM;
	return block.file == CELL_NULL ? 0 : buf_append(&calls->fills, &block, sizeof(block));
}

/* ---- order ---- */

static int compare_calls(const void *a, const void *b)
{
	const struct why_call *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return left->ts < right->ts ? -1 : left->ts > right->ts;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct why_block *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return left->end < right->end ? -1 : left->end > right->end;
}

static int compare_fills(const void *a, const void *b)
{
	const struct why_block *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return left->end < right->end ? -1 : left->end > right->end;
}

static void sort(struct buf *list, size_t size, int (*compare)(const void *, const void *))
{
	if (list->size)
		qsort(list->data, list->size / size, size, compare);
}

static const struct call_table *table_of(unsigned table)
{
	for (size_t i = 0; i < CALL_TABLES; i++)
		if (call_tables[i].table == table)
			return &call_tables[i];
	return NULL;
}

static uint32_t choose_columns(uint64_t wanted[TABLE_COUNT])
{
	uint32_t tables = 1u << TABLE_block;

	wanted[TABLE_block] = SCAN_COLUMN(block, ts) | SCAN_COLUMN(block, dur) |
			      SCAN_COLUMN(block, queued) | SCAN_COLUMN(block, tid) |
			      SCAN_COLUMN(block, dev) | SCAN_COLUMN(block, file);
	for (size_t i = 0; i < CALL_TABLES; i++) {
		const struct call_table *table = &call_tables[i];
		const int columns[] = {
			0,	     table->tid,      table->dur,     table->name,
			table->file, table->returned, table->blocked, table->timeout
		};

		tables |= 1u << table->table;
		for (size_t k = 0; k < sizeof(columns) / sizeof(*columns); k++)
			if (columns[k] >= 0)
				wanted[table->table] |= 1ull << columns[k];
	}
	return tables;
}

int why_calls_load(struct why_calls *calls, struct reader *reader, const struct stays *stays,
		   uint32_t focus, struct error *e)
{
	uint64_t wanted[TABLE_COUNT] = { 0 };
	uint32_t tables = choose_columns(wanted);
	struct merge merge;
	int err, more = 0;

	*calls = (struct why_calls){ 0 };
	calls->calls.limit = calls->stalls.limit = SIZE_MAX;
	calls->blocks.limit = calls->fills.limit = SIZE_MAX;
	err = merge_open(&merge, reader, tables, wanted, 0, UINT64_MAX, e);
	while (!err && (more = merge_next(&merge, e)) > 0)
		if (merge.table == TABLE_block
			    ? take_block(calls, stays, merge.rows, merge.ts)
			    : take_call(calls, stays, focus, table_of(merge.table), merge.rows,
					merge.ts))
			err = error_set(e, -ENOMEM, "no memory for the calls that slept");
	merge_close(&merge);
	sort(&calls->calls, sizeof(struct why_call), compare_calls);
	sort(&calls->stalls, sizeof(struct why_call), compare_calls);
	sort(&calls->blocks, sizeof(struct why_block), compare_blocks);
	sort(&calls->fills, sizeof(struct why_block), compare_fills);
	return err ? err : more;
}

void why_calls_free(struct why_calls *calls)
{
	buf_free(&calls->calls);
	buf_free(&calls->stalls);
	buf_free(&calls->blocks);
	buf_free(&calls->fills);
	strings_free(&calls->names);
	*calls = (struct why_calls){ 0 };
}

/* ---- asking ---- */

/* How many elements of a sorted list come before or with the key. */
static size_t count_upto(const struct buf *list, size_t size, const void *key,
			 int (*compare)(const void *, const void *))
{
	size_t low = 0, high = list->size / size;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(list->data + middle * size, key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct why_call *call_before(const struct buf *list, uint32_t thread, uint64_t ts,
					  size_t *next)
{
	struct why_call key = { .thread = thread, .ts = ts };
	const struct why_call *calls = (const struct why_call *)list->data;

	*next = count_upto(list, sizeof(key), &key, compare_calls);
	return *next && calls[*next - 1].thread == thread ? &calls[*next - 1] : NULL;
}

const struct why_call *why_call_at(const struct buf *list, uint32_t thread, uint64_t ts)
{
	size_t next;
	const struct why_call *call = call_before(list, thread, ts, &next);

	return call && call->end > ts ? call : NULL;
}

const struct why_call *why_call_next(const struct buf *list, uint32_t thread, uint64_t ts)
{
	const struct why_call *calls = (const struct why_call *)list->data;
	size_t next;

	if (ts)
		call_before(list, thread, ts - 1, &next);
	else
		next = 0;
	return next < list->size / sizeof(*calls) && calls[next].thread == thread ? &calls[next]
										  : NULL;
}

/* Among those of one key, which lie around `next`, the first that is done after `to`. */
static const struct why_block *block_among(const struct buf *list, size_t next, uint64_t from,
					   uint64_t to,
					   bool (*same)(const struct why_block *,
							const struct why_block *),
					   const struct why_block *key)
{
	const struct why_block *blocks = (const struct why_block *)list->data;

	if (next && same(&blocks[next - 1], key) && blocks[next - 1].end > from)
		return &blocks[next - 1];
	if (next < list->size / sizeof(*blocks) && same(&blocks[next], key) && blocks[next].ts < to)
		return &blocks[next];
	return NULL;
}

static bool same_thread(const struct why_block *a, const struct why_block *b)
{
	return a->thread == b->thread;
}

static bool same_file(const struct why_block *a, const struct why_block *b)
{
	return a->file == b->file;
}

const struct why_block *why_block_of(const struct why_calls *calls, uint32_t thread, uint64_t from,
				     uint64_t to)
{
	struct why_block key = { .thread = thread, .end = to };
	size_t next = count_upto(&calls->blocks, sizeof(key), &key, compare_blocks);

	return block_among(&calls->blocks, next, from, to, same_thread, &key);
}

const struct why_block *why_block_for(const struct why_calls *calls, int64_t file, uint64_t from,
				      uint64_t to)
{
	struct why_block key = { .file = file, .end = to };
	size_t next = count_upto(&calls->fills, sizeof(key), &key, compare_fills);

	return block_among(&calls->fills, next, from, to, same_file, &key);
}
