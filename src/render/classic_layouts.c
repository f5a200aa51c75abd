/* What each classic layout takes, and how its line is put together, column for column. */
#include "render/classic.h"

#include <fcntl.h>

static void field_path(struct classic *c, int64_t file)
{
	const char *path = NULL;
	size_t size = 0;

	if (file != CELL_NULL)
		path = dims_path(c->run->dims, file, &size);
	field_text(c, path, size);
}

static void fields_bio(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	int64_t done = rows_cell(rows, column_block_done_pid);
	int op = rows_name(rows, column_block_op);

	field_time(c, end);
	field_pid(c, rows, column_block_pid, column_block_host_pid);
	field_comm(c, rows_cell(rows, column_block_tid), ts);
	field_number(c, done);
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

static void fields_vfs_rw(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_time(c, end);
	field_pid(c, rows, column_io_pid, column_io_host_pid);
	field_comm(c, rows_cell(rows, column_io_tid), ts);
	field_row_text(c, rows, column_io_dir);
	field_uint(c, end - ts);
	field_cell(c, rows_cell(rows, column_io_requested));
	field_cell(c, rows_cell(rows, column_io_returned));
	field_path(c, rows_cell(rows, column_io_file));
}

static void fields_data(struct classic *c, const struct rows *rows, unsigned size, uint64_t length)
{
	field_pid(c, rows, column_io_pid, column_io_host_pid);
	field_cell(c, rows_cell(rows, column_io_pos));
	field_cell(c, rows_cell(rows, size));
	field_uint(c, length);
	field_path(c, rows_cell(rows, column_io_file));
}

static void fields_read(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	fields_data(c, rows, column_io_returned, end - ts);
}

static void fields_write(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	fields_data(c, rows, column_io_requested, end - ts);
}

static void fields_close(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_pid(c, rows, column_fs_pid, column_fs_host_pid);
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
	field_pid(c, rows, column_fs_pid, column_fs_host_pid);
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
	field_pid(c, rows, column_mem_pid, column_mem_host_pid);
	field_cell(c, rows_cell(rows, column_mem_fd));
	field_hex(c, rows_cell(rows, column_mem_returned));
	field_uint(c, end - ts);
	field_path(c, rows_cell(rows, column_mem_file));
}

static void fields_munmap(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_pid(c, rows, column_mem_pid, column_mem_host_pid);
	field_hex(c, rows_cell(rows, column_mem_addr));
	field_cell(c, rows_cell(rows, column_mem_length));
	field_uint(c, end - ts);
}

#define OF(family) (1u << FAMILY_##family)

const struct classic_layout classic_layouts[] = {
	{ .name = "switches",
	  .probes = 1,
	  .table = TABLE_sched,
	  .fields = fields_switches,
	  .write = classic_switches },
	{ .name = "bio",
	  .probes = 5,
	  .header = "TIMESTAMP TIME PID COMM DONEPID DONECOMM DISK T SECTOR BYTES LAT",
	  .table = TABLE_block,
	  .fields = fields_bio },
	{ .name = "open",
	  .probes = 6,
	  .header = "TIMESTAMP TIME PID COMM FUNC LAT FILE",
	  .table = TABLE_fs,
	  .families = OF(open),
	  .fields = fields_open,
	  .write = classic_open },
	{ .name = "vfs_rw",
	  .probes = 6,
	  .header = "TIMESTAMP TIME PID COMM R/W LAT REQUESTED RETURNED FILE",
	  .table = TABLE_io,
	  .families = OF(read) | OF(write),
	  .direct = true,
	  .fields = fields_vfs_rw },
	{ .name = "read",
	  .probes = 7,
	  .header = "TIMESTAMP PID OFFSET RET LAT FILENAME",
	  .table = TABLE_io,
	  .families = OF(read),
	  .direct = true,
	  .fields = fields_read },
	{ .name = "write",
	  .probes = 7,
	  .header = "TIMESTAMP PID OFFSET SIZE LAT FILENAME",
	  .table = TABLE_io,
	  .families = OF(write),
	  .direct = true,
	  .fields = fields_write },
	{ .name = "close",
	  .probes = 5,
	  .header = "TIMESTAMP PID FD LAT FILENAME",
	  .table = TABLE_fs,
	  .families = OF(close),
	  .fields = fields_close },
	{ .name = "create_del",
	  .probes = 12,
	  .header = "TIMESTAMP PID FUNCTION MODE LAT FILENAME",
	  .table = TABLE_fs,
	  .families = OF(open) | OF(make) | OF(delete),
	  .fields = fields_create_del },
	{ .name = "mmap",
	  .probes = 4,
	  .header = "TIMESTAMP PID FD ADDRESS LAT FILENAME",
	  .table = TABLE_mem,
	  .call = SYSCALL_mmap,
	  .fields = fields_mmap },
	{ .name = "munmap",
	  .probes = 4,
	  .header = "TIMESTAMP PID ADDRESS LEN LAT",
	  .table = TABLE_mem,
	  .call = SYSCALL_munmap,
	  .fields = fields_munmap },
	{ .name = "time_align",
	  .probes = 2,
	  .header = "TIMESTAMP HH:MM:SS",
	  .table = TABLE_clock,
	  .write = classic_time_align },
	{ .name = "pids", .table = TABLE_process, .write = classic_pids },
	{ .name = "cpu", .table = TABLE_cpu, .write = classic_cpu },
	{ .name = "gpu", .table = TABLE_gpu_process, .write = classic_gpu },
	{ .name = "dmon", .table = TABLE_gpu, .write = classic_dmon },
};

const size_t classic_layout_count = sizeof(classic_layouts) / sizeof(*classic_layouts);
