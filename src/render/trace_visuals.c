/* The files that the scripts of trace_visuals read, under the names and in the columns that they expect. The scripts know
 * lines by patterns, and pass over silently what does not fit one: so names are a file's last part alone, of the
 * characters that the patterns have, and numbers are always numbers.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "render/classic.h"

/* Beside letters, digits and _. */
#define OF_COMM "-.+:/"
#define OF_FILE "-.[]"

/* A name, with _xNN for each byte that a pattern would not take; an empty one is no field at all. */
static void field_name(struct classic *c, const char *bytes, size_t size, const char *others)
{
	c->scratch.size = 0;
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		bool kept = byte < 0x80 && (isalnum(byte) || byte == '_' || strchr(others, byte));

		if (!byte || !kept ? buf_printf(&c->scratch, "_x%02x", byte)
				   : buf_append(&c->scratch, &byte, 1))
			c->error = -ENOMEM;
	}
	if (c->scratch.size)
		field_text(c, (const char *)c->scratch.data, c->scratch.size);
}

static void field_thread(struct classic *c, int64_t tid, uint64_t ts)
{
	const char *comm = NULL;
	size_t size = 0;

	if (tid != CELL_NULL)
		comm = dims_comm(c->run->dims, tid, ts, &size);
	if (comm && size)
		field_name(c, comm, size, OF_COMM);
	else
		field_text(c, NULL, 0);
}

/* The name of a file in its directory, as the kernel's dentry has it: what stands in brackets of anonymous ones, nothing of
 * pipes and sockets. */
static void field_last_name(struct classic *c, int64_t file)
{
	const struct file_row *row = file == CELL_NULL ? NULL : dims_find_file(c->run->dims, file);
	const char *path, *at;
	size_t size;

	if (!row || !row->path.bytes || file_row_is(row, FILE_KIND_PIPE) ||
	    file_row_is(row, FILE_KIND_SOCKET))
		return;
	path = row->path.bytes;
	size = row->path.size;
	at = memrchr(path, '/', size);
	if (!at && size && path[size - 1] == ']') {
		at = memrchr(path, '[', size);
		at = at ? at - 1 : NULL;
	}
	if (at) {
		size -= (size_t)(at + 1 - path);
		path = at + 1;
	}
	field_name(c, path, size, OF_FILE);
}

/* The kernel's position is 0 of what cannot seek; one that is not known is no position a file can have. */
static void field_position(struct classic *c, int64_t pos, int64_t file)
{
	const struct file_row *row = file == CELL_NULL ? NULL : dims_find_file(c->run->dims, file);

	if (pos != CELL_NULL)
		field_cell(c, pos);
	else if (row && file_row_is(row, FILE_KIND_FILE))
		field_uint(c, UINT64_MAX);
	else
		field_uint(c, 0);
}

static void fields_bio(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	int64_t sector = rows_cell(rows, column_block_sector);
	int64_t bytes = rows_cell(rows, column_block_bytes);
	int64_t dur = rows_cell(rows, column_block_dur);
	int op = rows_name(rows, column_block_op);

	(void)end;
	if (op != BLOCK_OP_R && op != BLOCK_OP_W) {
		c->line.size = 0;
		return;
	}
	field_pid(c, rows, column_block_pid, column_block_host_pid);
	field_thread(c, rows_cell(rows, column_block_tid), ts);
	field_row_text(c, rows, column_block_dev);
	field_row_text(c, rows, column_block_op);
	field_cell(c, bytes == CELL_NULL ? 0 : bytes);
	field_cell(c, sector == CELL_NULL ? 0 : sector);
	field_cell(c, dur);
}

static void fields_openat(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	field_pid(c, rows, column_fs_pid, column_fs_host_pid);
	field_thread(c, rows_cell(rows, column_fs_tid), ts);
	field_uint(c, end - ts);
	field_row_text(c, rows, column_fs_arg_path);
	field_last_name(c, rows_cell(rows, column_fs_file));
}

static void fields_data(struct classic *c, const struct rows *rows, uint64_t length, bool sign)
{
	int64_t returned = rows_cell(rows, column_io_returned);
	int64_t file = rows_cell(rows, column_io_file);

	field_pid(c, rows, column_io_pid, column_io_host_pid);
	field_position(c, rows_cell(rows, column_io_pos), file);
	if (returned == CELL_NULL)
		field_uint(c, 0);
	else if (sign)
		field_cell(c, returned);
	else
		field_uint(c, (uint64_t)returned);
	field_uint(c, length);
	field_last_name(c, file);
}

/* RET of a read that failed is unsigned, as it was printed then: the scripts leave out what is that large. */
static void fields_read(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	fields_data(c, rows, end - ts, false);
}

/* Of a write that failed it was signed, and fits no pattern. */
static void fields_write(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end)
{
	fields_data(c, rows, end - ts, true);
}

static const struct classic_layout layouts[] = {
	{ .name = "trace_bio.out",
	  .probes = 5,
	  .header = "TIMESTAMP PID COMM DISK T BYTES SECTOR LAT",
	  .table = TABLE_block,
	  .fields = fields_bio },
	{ .name = "trace_openat.out",
	  .probes = 5,
	  .header = "TIMESTAMP PID COMM LAT FULLPATH FILENAME",
	  .table = TABLE_fs,
	  .call = SYSCALL_openat,
	  .fields = fields_openat },
	{ .name = "trace_read.out",
	  .probes = 7,
	  .header = "TIMESTAMP PID OFFSET RET LAT FILENAME",
	  .table = TABLE_io,
	  .families = 1u << FAMILY_read,
	  .direct = true,
	  .fields = fields_read },
	{ .name = "trace_write.out",
	  .probes = 7,
	  .header = "TIMESTAMP PID OFFSET RET LAT FILENAME",
	  .table = TABLE_io,
	  .families = 1u << FAMILY_write,
	  .direct = true,
	  .fields = fields_write },
	{ .name = "trace_time_align.out",
	  .probes = 2,
	  .header = "TIMESTAMP HH:MM:SS",
	  .table = TABLE_clock,
	  .write = classic_time_align },
	{ .name = "cpu.out", .table = TABLE_cpu, .summed = true, .write = classic_cpu },
	{ .name = "gpu.out", .table = TABLE_gpu_process, .summed = true, .write = classic_gpu },
};

int trace_visuals_write(const struct export_request *request, struct export_result *result,
			struct error *e)
{
	return classic_write_folder(request, layouts, sizeof(layouts) / sizeof(*layouts), result,
				    e);
}
