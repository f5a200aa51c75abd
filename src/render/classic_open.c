/* Opens, and the calls of the kernel's vfs_open() inside them where those were traced: FILE of an open is the path as
 * passed, of vfs_open the last name of the file that the open around it led to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/classic.h"
#include "render/event.h"
#include "store/merge.h"

/* The open that each thread was in last: tid -> place of one of these, plus 1. */
struct open_call {
	uint64_t end;
	int64_t file;
};

void fields_open(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_time(c, end);
	field_pid(c, rows, column_fs_pid, column_fs_host_pid);
	field_comm(c, rows_cell(rows, column_fs_tid), ts);
	field_row_text(c, rows, column_fs_op);
	field_uint(c, end - ts);
	field_row_text(c, rows, column_fs_arg_path);
}

static int remember(struct map *by_tid, struct buf *calls, const struct rows *rows, uint64_t end)
{
	int64_t tid = rows_cell(rows, column_fs_tid);
	struct open_call call = { .end = end, .file = rows_cell(rows, column_fs_file) };
	uint64_t *place;
	bool fresh;

	if (tid == CELL_NULL)
		return 0;
	place = map_add(by_tid, (uint64_t)tid, &fresh);
	if (!place || (fresh && buf_append(calls, &call, sizeof(call))))
		return -ENOMEM;
	if (fresh)
		*place = calls->size / sizeof(call);
	((struct open_call *)calls->data)[*place - 1] = call;
	return 0;
}

static void take_vfs_open(struct classic *c, const struct event_plan *plan, const struct rows *rows,
			  uint64_t ts, const struct open_call *around)
{
	uint64_t end = event_end(plan, rows, ts);
	const char *path = NULL, *name;
	size_t size = 0;

	if (end == EVENT_NO_END)
		return;
	if (around && end <= around->end && around->file != CELL_NULL)
		path = dims_path(c->run->dims, around->file, &size);
	name = path ? memrchr(path, '/', size) : NULL;
	if (name) {
		size -= (size_t)(name + 1 - path);
		path = name + 1;
	}
	c->line.size = 0;
	field_uint(c, end);
	field_time(c, end);
	field_pid(c, rows, column_call_pid, column_call_host_pid);
	field_comm(c, rows_cell(rows, column_call_tid), ts);
	field_row_text(c, rows, column_call_func);
	field_uint(c, end - ts);
	field_text(c, path, size);
	line_queue(c, end);
	c->rows++;
}

static bool is_vfs_open(const struct rows *rows)
{
	static const char name[] = "vfs_open";
	size_t size;
	const char *func = rows_text(rows, column_call_func, &size);

	return func && size == sizeof(name) - 1 && !memcmp(func, name, size);
}

int classic_open(struct classic *c, struct error *e)
{
	uint32_t tables = (1u << TABLE_fs | 1u << TABLE_call) & c->request->tables;
	struct event_plan fs, call;
	uint64_t wanted[TABLE_COUNT];
	struct map by_tid = { 0 };
	struct buf calls = { .limit = SIZE_MAX };
	struct merge merge;
	int err;

	event_plan_make(&fs, TABLE_fs);
	event_plan_make(&call, TABLE_call);
	memset(wanted, 0xff, sizeof(wanted));
	err = merge_open(&merge, c->run->reader, tables, wanted, c->run->from, c->run->to, e);
	while (!err && (err = merge_next(&merge, e)) > 0) {
		err = 0;
		lines_until(c, merge.ts);
		if (merge.table == TABLE_fs && classic_takes(c->layout, column_fs_op, merge.rows)) {
			classic_take_row(c, &fs, merge.rows, merge.ts);
			if (tables >> TABLE_call & 1 &&
			    remember(&by_tid, &calls, merge.rows,
				     event_end(&fs, merge.rows, merge.ts)))
				c->error = -ENOMEM;
		} else if (merge.table == TABLE_call && is_vfs_open(merge.rows)) {
			int64_t tid = rows_cell(merge.rows, column_call_tid);
			uint64_t *place =
				tid == CELL_NULL ? NULL : map_find(&by_tid, (uint64_t)tid);

			take_vfs_open(c, &call, merge.rows, merge.ts,
				      place ? (struct open_call *)calls.data + *place - 1 : NULL);
		}
		if (!classic_next(c))
			break;
	}
	classic_end(c);
	merge_close(&merge);
	map_free(&by_tid);
	buf_free(&calls);
	return err;
}
