/* What each classic layout takes, and how its line is put together, column for column. */
#include "render/classic.h"

#include <fcntl.h>

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
	int op = rows_name(rows, column_block_op);

	field_time(c, end);
	field_cell(c, rows_cell(rows, column_block_pid));
	field_comm(c, rows_cell(rows, column_block_tid), ts);
	field_cell(c, done);
	field_comm(c, done, end);
	field_row_text(c, rows, column_block_dev);
	if (op == BLOCK_OP_R || op == BLOCK_OP_W)
		field_uint(c, op == BLOCK_OP_W);
	else
		field_row_text(c, rows, column_block_op);
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
static bool may_create(const struct rows *rows)
{
	const struct syscall_info *call = &schema_syscalls[rows_name(rows, column_fs_op)];
	int64_t flags = rows_cell(rows, column_fs_flags);

	if (call->family != FAMILY_open || call->trait == TRAIT_CREATES)
		return true;
	return rows_cell(rows, column_fs_mode) != CELL_NULL && flags != CELL_NULL &&
	       flags & O_CREAT;
}

static void fields_create_del(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	int64_t mode = rows_cell(rows, column_fs_mode);

	if (!may_create(rows)) {
		c->line.size = 0;
		return;
	}
	field_cell(c, rows_cell(rows, column_fs_pid));
	field_row_text(c, rows, column_fs_op);
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

#define OF(family) (1u << FAMILY_##family)

const struct classic_layout classic_layouts[] = {
	{ .name = "switches", .table = TABLE_sched, .fields = fields_switches },
	{ .name = "bio",
	  .header = "TIMESTAMP TIME PID COMM DONEPID DONECOMM DISK T SECTOR BYTES LAT",
	  .table = TABLE_block,
	  .fields = fields_bio },
	{ .name = "open",
	  .header = "TIMESTAMP TIME PID COMM FUNC LAT FILE",
	  .table = TABLE_fs,
	  .families = OF(open),
	  .fields = fields_open },
	{ .name = "vfs_rw",
	  .header = "TIMESTAMP TIME PID COMM R/W LAT REQUESTED RETURNED FILE",
	  .table = TABLE_io,
	  .families = OF(read) | OF(write),
	  .direct = true,
	  .fields = fields_vfs_rw },
	{ .name = "read",
	  .header = "TIMESTAMP PID OFFSET RET LAT FILENAME",
	  .table = TABLE_io,
	  .families = OF(read),
	  .direct = true,
	  .fields = fields_read },
	{ .name = "write",
	  .header = "TIMESTAMP PID OFFSET SIZE LAT FILENAME",
	  .table = TABLE_io,
	  .families = OF(write),
	  .direct = true,
	  .fields = fields_write },
	{ .name = "close",
	  .header = "TIMESTAMP PID FD LAT FILENAME",
	  .table = TABLE_fs,
	  .families = OF(close),
	  .fields = fields_close },
	{ .name = "create_del",
	  .header = "TIMESTAMP PID FUNCTION MODE LAT FILENAME",
	  .table = TABLE_fs,
	  .families = OF(open) | OF(make) | OF(delete),
	  .fields = fields_create_del },
	{ .name = "mmap",
	  .header = "TIMESTAMP PID FD ADDRESS LAT FILENAME",
	  .table = TABLE_mem,
	  .call = SYSCALL_mmap,
	  .fields = fields_mmap },
	{ .name = "munmap",
	  .header = "TIMESTAMP PID ADDRESS LEN LAT",
	  .table = TABLE_mem,
	  .call = SYSCALL_munmap,
	  .fields = fields_munmap },
	{ .name = "time_align",
	  .header = "TIMESTAMP HH:MM:SS",
	  .table = TABLE_clock,
	  .fields = fields_time_align },
	{ .name = "pids", .table = TABLE_process, .write = classic_pids },
	{ .name = "cpu", .table = TABLE_cpu, .write = classic_cpu },
	{ .name = "gpu", .table = TABLE_gpu_process, .write = classic_gpu },
};

const size_t classic_layout_count = sizeof(classic_layouts) / sizeof(*classic_layouts);
