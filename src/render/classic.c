/* The classic layouts of calls, column for column: a table of what each takes and how its line is put together,
 * and the driver that all layouts share.
 */
#include "render/classic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/folder.h"

struct layout {
	const char *name;
	const char *header; /* NULL: none */
	unsigned table;
	const char *ops; /* of these calls, each between spaces; NULL: of all rows */
	/* Puts the fields after TIMESTAMP together. NULL: the layout has a writer of its own. */
	void (*fields)(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end);
	int (*write)(struct classic *c, struct error *e);
};

static void field_row_text(struct classic *c, const struct rows *rows, unsigned column)
{
	size_t size;
	const char *text = rows_text(rows, column, &size);

	field_text(c, text, size);
}

static void field_comm(struct classic *c, int64_t tid, uint64_t ts)
{
	const char *comm = NULL;
	size_t size = 0;

	if (tid != CELL_NULL)
		comm = dims_comm(c->run->dims, tid, ts, &size);
	field_text(c, comm, size);
}

static void field_path(struct classic *c, int64_t file)
{
	const char *path = NULL;
	size_t size = 0;

	if (file != CELL_NULL)
		path = dims_path(c->run->dims, file, &size);
	field_text(c, path, size);
}

/* The last name that the thread had in a stay: it may have begun another program meanwhile, or ended. */
static const struct thread_row *name_at_end(const struct classic *c, int64_t tid, uint64_t ts,
					    uint64_t end)
{
	const struct threads *threads = dims_threads(c->run->dims);
	const struct thread_row *row = threads_find(threads, tid, ts);
	const struct thread_row *after = threads_row(threads, 0) + threads_count(threads);

	while (row && row + 1 < after && row[1].tid == tid && row[1].pid == row->pid &&
	       (uint64_t)row[1].first_ts <= end)
		row++;
	return row;
}

/* comm pid cpu nsecs of the thread that leaves. Each CPU's idle thread has a name of its own. */
static void fields_switches(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	int64_t tid = rows_cell(rows, column_sched_tid), cpu = rows_cell(rows, column_sched_cpu);
	const struct thread_row *row = NULL;

	c->line.size = 0;
	if (tid != CELL_NULL)
		row = name_at_end(c, tid, ts, end);
	if (tid == 0)
		field_printf(c, "swapper/%lld", (long long)cpu);
	else
		field_text(c, row ? row->comm : NULL, row ? row->comm_size : 0);
	field_cell(c, rows_cell(rows, column_sched_pid));
	field_cell(c, cpu);
	field_uint(c, end);
}

static void fields_bio(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	int64_t done = rows_cell(rows, column_block_done_pid);
	const char *op;
	size_t size;

	field_time(c, end);
	field_cell(c, rows_cell(rows, column_block_pid));
	field_comm(c, rows_cell(rows, column_block_tid), ts);
	field_cell(c, done);
	field_comm(c, done, end);
	field_row_text(c, rows, column_block_dev);
	op = rows_text(rows, column_block_op, &size);
	if (op && size == 1 && (*op == 'R' || *op == 'W'))
		field_uint(c, *op == 'W');
	else
		field_text(c, op, size);
	field_cell(c, rows_cell(rows, column_block_sector));
	field_cell(c, rows_cell(rows, column_block_bytes));
	field_uint(c, end - ts);
}

static void fields_open(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_time(c, end);
	field_cell(c, rows_cell(rows, column_fs_pid));
	field_comm(c, rows_cell(rows, column_fs_tid), ts);
	field_row_text(c, rows, column_fs_op);
	field_uint(c, end - ts);
	field_row_text(c, rows, column_fs_arg_path);
}

static void fields_vfs_rw(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_time(c, end);
	field_cell(c, rows_cell(rows, column_io_pid));
	field_comm(c, rows_cell(rows, column_io_tid), ts);
	field_row_text(c, rows, column_io_dir);
	field_uint(c, end - ts);
	field_cell(c, rows_cell(rows, column_io_requested));
	field_cell(c, rows_cell(rows, column_io_returned));
	field_path(c, rows_cell(rows, column_io_file));
}

static void fields_read(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_cell(c, rows_cell(rows, column_io_pid));
	field_cell(c, rows_cell(rows, column_io_pos));
	field_cell(c, rows_cell(rows, column_io_returned));
	field_uint(c, end - ts);
	field_path(c, rows_cell(rows, column_io_file));
}

static void fields_write(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_cell(c, rows_cell(rows, column_io_pid));
	field_cell(c, rows_cell(rows, column_io_pos));
	field_cell(c, rows_cell(rows, column_io_requested));
	field_uint(c, end - ts);
	field_path(c, rows_cell(rows, column_io_file));
}

static void fields_close(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_cell(c, rows_cell(rows, column_fs_pid));
	field_cell(c, rows_cell(rows, column_fs_fd));
	field_uint(c, end - ts);
	field_path(c, rows_cell(rows, column_fs_file));
}

/* An open is here when it may create. */
static void fields_create_del(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	int64_t mode = rows_cell(rows, column_fs_mode), flags = rows_cell(rows, column_fs_flags);
	const char *op;
	size_t size;

	op = rows_text(rows, column_fs_op, &size);
	if (size >= 4 && !memcmp(op, "open", 4) &&
	    (mode == CELL_NULL || flags == CELL_NULL || !(flags & O_CREAT))) {
		c->line.size = 0;
		return;
	}
	field_cell(c, rows_cell(rows, column_fs_pid));
	field_text(c, op, size);
	if (mode == CELL_NULL)
		field_text(c, NULL, 0);
	else
		field_printf(c, "0%llo", (unsigned long long)mode);
	field_uint(c, end - ts);
	field_row_text(c, rows, column_fs_arg_path);
}

static void fields_mmap(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_cell(c, rows_cell(rows, column_mem_pid));
	field_cell(c, rows_cell(rows, column_mem_fd));
	field_hex(c, rows_cell(rows, column_mem_returned));
	field_uint(c, end - ts);
	field_path(c, rows_cell(rows, column_mem_file));
}

static void fields_munmap(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_cell(c, rows_cell(rows, column_mem_pid));
	field_hex(c, rows_cell(rows, column_mem_addr));
	field_cell(c, rows_cell(rows, column_mem_length));
	field_uint(c, end - ts);
}

static void fields_time_align(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	uint64_t ns;

	(void)rows;
	(void)end;
	if (classic_local(c, ts, &ns))
		field_printf(c, "%02d:%02d:%02d", c->local.tm_hour, c->local.tm_min,
			     c->local.tm_sec);
	else
		field_text(c, NULL, 0);
}

static const struct layout layouts[] = {
	{ "switches", NULL, TABLE_sched, NULL, fields_switches, NULL },
	{ "bio", "TIMESTAMP TIME PID COMM DONEPID DONECOMM DISK T SECTOR BYTES LAT", TABLE_block,
	  NULL, fields_bio, NULL },
	{ "open", "TIMESTAMP TIME PID COMM FUNC LAT FILE", TABLE_fs, " open openat openat2 creat ",
	  fields_open, NULL },
	{ "vfs_rw", "TIMESTAMP TIME PID COMM R/W LAT REQUESTED RETURNED FILE", TABLE_io,
	  " read pread64 write pwrite64 ", fields_vfs_rw, NULL },
	{ "read", "TIMESTAMP PID OFFSET RET LAT FILENAME", TABLE_io, " read pread64 ", fields_read,
	  NULL },
	{ "write", "TIMESTAMP PID OFFSET SIZE LAT FILENAME", TABLE_io, " write pwrite64 ",
	  fields_write, NULL },
	{ "close", "TIMESTAMP PID FD LAT FILENAME", TABLE_fs, " close ", fields_close, NULL },
	{ "create_del", "TIMESTAMP PID FUNCTION MODE LAT FILENAME", TABLE_fs,
	  " creat mknod mknodat mkdir mkdirat open openat openat2 unlink unlinkat rmdir ",
	  fields_create_del, NULL },
	{ "mmap", "TIMESTAMP PID FD ADDRESS LAT FILENAME", TABLE_mem, " mmap ", fields_mmap, NULL },
	{ "munmap", "TIMESTAMP PID ADDRESS LEN LAT", TABLE_mem, " munmap ", fields_munmap, NULL },
	{ "time_align", "TIMESTAMP HH:MM:SS", TABLE_clock, NULL, fields_time_align, NULL },
	{ "pids", NULL, TABLE_process, NULL, NULL, classic_pids },
	{ "cpu", NULL, TABLE_cpu, NULL, NULL, classic_cpu },
	{ "gpu", NULL, TABLE_gpu_process, NULL, NULL, classic_gpu },
};

#define LAYOUT_COUNT (sizeof(layouts) / sizeof(*layouts))

static bool is_of(const struct layout *layout, const struct rows *rows)
{
	int column = schema_column_by_name(&schema_tables[layout->table], "op");
	char name[64] = " ";
	const char *op;
	size_t size;

	if (!layout->ops)
		return true;
	op = rows_text(rows, (unsigned)column, &size);
	if (!op || size > sizeof(name) - 3)
		return false;
	memcpy(name + 1, op, size);
	memcpy(name + 1 + size, " ", 2);
	return strstr(layout->ops, name);
}

static void take_row(struct classic *c, const struct layout *layout, const struct rows *rows)
{
	const struct schema_table *schema = &schema_tables[layout->table];
	bool lasts = !strcmp(schema->columns[1].name, "dur");
	int64_t ts = rows_cell(rows, 0), dur = lasts ? rows_cell(rows, 1) : 0, queued = 0;
	uint64_t end;

	if (ts == CELL_NULL)
		return;
	lines_until(c, (uint64_t)ts);
	if (dur == CELL_NULL || !is_of(layout, rows))
		return;
	if (layout->table == TABLE_block)
		queued = rows_cell(rows, column_block_queued);
	end = (uint64_t)ts + (uint64_t)dur + (queued == CELL_NULL ? 0 : (uint64_t)queued);
	c->line.size = 0;
	field_uint(c, end);
	layout->fields(c, rows, (uint64_t)ts, end);
	if (!c->line.size)
		return;
	line_queue(c, end);
	c->rows++;
}

static int write_calls(struct classic *c, const struct layout *layout, struct error *e)
{
	struct rows *rows = NULL;
	uint64_t seen = 0;
	int err =
		rows_open(&rows, c->run->reader, layout->table, ~0ull, c->run->from, c->run->to, e);

	while (!err && (err = rows_next(rows, e)) > 0) {
		take_row(c, layout, rows);
		err = c->error ? error_set(e, c->error, "out of memory") : 0;
		if (!(++seen % EXPORT_PROGRESS_ROWS))
			export_progress(c->request, EXPORT_PROGRESS_ROWS);
		if (c->out->error)
			break; /* told when the output is finished */
	}
	export_progress(c->request, seen % EXPORT_PROGRESS_ROWS);
	lines_until(c, UINT64_MAX);
	rows_close(rows);
	return err;
}

static int write_layout(const struct export_request *request, const struct layout *layout,
			struct output *out, struct export_result *result, struct error *e)
{
	struct classic c = { .request = request, .run = &request->runs[0], .out = out };
	int err;

	if (layout->header) {
		output_append(out, layout->header, strlen(layout->header));
		output_append(out, "\n", 1);
	}
	if (layout->write)
		err = layout->write(&c, e);
	else
		err = write_calls(&c, layout, e);
	err = export_settle(result, err, e);
	if (!err && c.error)
		err = error_set(e, c.error, "out of memory");
	result->rows += c.rows;
	buf_free(&c.line);
	buf_free(&c.queue);
	buf_free(&c.scratch);
	return err;
}

static void note_empty(char *text, size_t size, const char *name)
{
	snprintf(text + strlen(text), size - strlen(text), "%s%s",
		 *text ? ", " : "no lines in: ", name);
}

int classic_write(const struct export_request *request, struct export_result *result,
		  struct error *e)
{
	char empty[512] = "";
	struct folder folder;
	int err = folder_open(&folder, request->output, request->max_bytes, e);

	for (size_t i = 0; i < LAYOUT_COUNT && !err; i++) {
		struct output *out;
		uint64_t before = result->rows;

		if (!(request->tables >> layouts[i].table & 1))
			continue;
		out = folder_add(&folder, layouts[i].name, e);
		if (!out) {
			err = -EIO;
			break;
		}
		err = write_layout(request, &layouts[i], out, result, e);
		if (!err)
			err = folder_finish(&folder, out, e);
		if (result->rows == before)
			note_empty(empty, sizeof(empty), layouts[i].name);
	}
	if (!err)
		err = folder_commit(&folder, e);
	result->bytes = folder.total;
	folder_free(&folder);
	if (!err && *empty && request->note)
		request->note(request->data, empty);
	return err;
}

int classic_write_one(const struct export_request *request, struct export_result *result,
		      struct error *e)
{
	const struct layout *layout = layouts;
	struct output out;
	int err;

	while (strcmp(layout->name, request->format->name))
		layout++;
	err = output_open(&out, request->output, false, e);
	if (err)
		return err;
	out.limit = request->max_bytes;
	err = write_layout(request, layout, &out, result, e);
	if (!err)
		err = output_commit(&out, e);
	result->bytes = out.total;
	output_free(&out);
	return err;
}
