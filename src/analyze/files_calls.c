/* Rows of the tables fs, mem, fault and block: sums by operation, file and process. */
#include <errno.h>

#include "analyze/cells.h"
#include "analyze/files_load.h"

/* ---- fs ---- */

static void take_family(struct files *files, struct figures *figures, struct process_use *process,
			enum syscall_family family, bool failed, uint64_t time)
{
	switch (family) {
	case FAMILY_open:
		figures->opens++;
		process->opens++;
		files->opens++;
		files->failed_opens += failed;
		break;
	case FAMILY_stat:
		figures->stats++;
		process->stats++;
		files->stats++;
		files->failed_stats += failed;
		break;
	case FAMILY_close: files->closes++; break;
	case FAMILY_sync:
		files->syncs++;
		files->sync_ns += time;
		break;
	default: break;
	}
}

static int take_fs_file(struct files *files, int64_t file, enum syscall_family family)
{
	struct file_use *use;

	if (file == CELL_NULL || (family != FAMILY_open && family != FAMILY_stat))
		return 0;
	use = files_file(files, file);
	if (!use)
		return -ENOMEM;
	use->opens += family == FAMILY_open;
	use->stats += family == FAMILY_stat;
	return 0;
}

int files_take_fs(void *state, const struct rows *rows)
{
	struct files *files = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_fs_ts);
	int64_t dur = rows_cell(rows, column_fs_dur),
		returned = rows_cell(rows, column_fs_returned);
	struct figures *figures = segments_at(&files->context->segments, ts);
	bool failed = returned != CELL_NULL && returned < 0;
	struct process_use *process;
	enum syscall_family family;
	struct op_use *op;
	int call;

	if (!figures)
		return 0;
	files->has_fs = true;
	call = rows_name(rows, column_fs_op);
	family = call < 0 ? FAMILY_none : schema_syscalls[call].family;
	op = files_op(files, TABLE_fs, rows, column_fs_op);
	process = files_process(files, rows_cell(rows, column_fs_pid), ts);
	if (!op || !process || (dur != CELL_NULL && hist_add(&op->latency, cell_known(dur))))
		return -ENOMEM;
	op->calls++;
	op->errors += failed;
	op->unfinished += dur == CELL_NULL;
	op->time_ns += cell_known(dur);
	op->blocked_ns += cell_known(rows_cell(rows, column_fs_blocked));
	figures->metadata_ns += cell_known(dur);
	files->metadata_ns += cell_known(dur);
	files->metadata_calls++;
	process->metadata_calls++;
	process->metadata_ns += cell_known(dur);
	take_family(files, figures, process, family, failed, cell_known(dur));
	return take_fs_file(files, rows_cell(rows, column_fs_file), family);
}

/* ---- mem, fault, block ---- */

int files_take_mem(void *state, const struct rows *rows)
{
	struct files *files = state;
	int64_t dur = rows_cell(rows, column_mem_dur), file = rows_cell(rows, column_mem_file);
	int64_t returned = rows_cell(rows, column_mem_returned);
	struct file_use *use;
	struct op_use *op;

	if (!context_inside(files->context, (uint64_t)rows_cell(rows, column_mem_ts)))
		return 0;
	op = files_op(files, TABLE_mem, rows, column_mem_op);
	if (!op || (dur != CELL_NULL && hist_add(&op->latency, cell_known(dur))))
		return -ENOMEM;
	op->calls++;
	/* Addresses are no errors: the kernel's errors are the last 4095 numbers. */
	op->errors += returned != CELL_NULL && returned < 0 && returned >= -4095;
	op->unfinished += dur == CELL_NULL;
	op->time_ns += cell_known(dur);
	if (file == CELL_NULL)
		return 0;
	use = files_file(files, file);
	if (!use)
		return -ENOMEM;
	use->maps++;
	return 0;
}

int files_take_fault(void *state, const struct rows *rows)
{
	struct files *files = state;
	int64_t file = rows_cell(rows, column_fault_file);
	struct file_use *use;

	if (file == CELL_NULL ||
	    !context_inside(files->context, (uint64_t)rows_cell(rows, column_fault_ts)))
		return 0;
	use = files_file(files, file);
	if (!use)
		return -ENOMEM;
	use->faults++;
	use->major_faults += rows_cell(rows, column_fault_major) == 1;
	return 0;
}

int files_take_block(void *state, const struct rows *rows)
{
	struct files *files = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_block_ts);
	uint64_t bytes = cell_known(rows_cell(rows, column_block_bytes));
	uint64_t time = cell_known(rows_cell(rows, column_block_dur));
	int64_t file = rows_cell(rows, column_block_file);
	struct figures *figures = segments_at(&files->context->segments, ts);
	int op = rows_name(rows, column_block_op);
	struct file_use *use;

	if (!figures || op < 0)
		return 0;
	files->has_block = true;
	figures->device_read_bytes += op == BLOCK_OP_R ? bytes : 0;
	figures->device_write_bytes += op == BLOCK_OP_W ? bytes : 0;
	figures->device_ns += time;
	if (file == CELL_NULL)
		return 0;
	use = files_file(files, file);
	if (!use)
		return -ENOMEM;
	use->device_read_bytes += op == BLOCK_OP_R ? bytes : 0;
	use->device_write_bytes += op == BLOCK_OP_W ? bytes : 0;
	use->device_ns += time;
	use->device_requests++;
	return 0;
}
