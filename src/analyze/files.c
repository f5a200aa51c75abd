/* Rows of io, fs, mem, fault and block into sums by operation, file and process; files_sum.c turns them
 * into the finished model.
 */
#include "analyze/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells.h"

int files_open(struct files *files, struct context *context)
{
	*files = (struct files){ .context = context };
	files->op_list.limit = files->file_list.limit = files->dir_list.limit = SIZE_MAX;
	files->process_list.limit = files->walks.limit = files->by_id.limit = SIZE_MAX;
	return 0;
}

/* ---- who and what a row is about ---- */

/* The operation's sums; operations of two tables are two although their names may be the same. */
static struct op_use *op_of(struct files *files, unsigned table, const struct rows *rows,
			    unsigned column)
{
	const char *name;
	struct op_use *op;
	uint32_t number;
	size_t size;
	char key[64];

	name = rows_text(rows, column, &size);
	if (!name) {
		name = "(unknown)";
		size = strlen(name);
	}
	if (size > sizeof(key) - 1)
		size = sizeof(key) - 1;
	key[0] = (char)table;
	memcpy(key + 1, name, size);
	if (strings_add(&files->op_names, key, size + 1, &number))
		return NULL;
	if (number * sizeof(*op) == files->op_list.size) {
		if (buf_append_zeros(&files->op_list, sizeof(*op)))
			return NULL;
		((struct op_use *)files->op_list.data)[number].table = schema_tables[table].name;
	}
	return (struct op_use *)files->op_list.data + number;
}

#define MOST_DIRECT 4000000 /* ids that are looked up without hashing; the recorder counts from 1 */

/* Where the place of a file stands that is found without hashing; NULL: not so. */
static uint32_t *place_by_id(struct files *files, int64_t file)
{
	if (file < 0 || file >= MOST_DIRECT)
		return NULL;
	return buf_element(&files->by_id, (size_t)file, sizeof(uint32_t));
}

struct file_use *files_of(struct files *files, int64_t file)
{
	uint32_t number, *place = place_by_id(files, file);
	struct file_use *use;
	int new;

	if (place && *place)
		return (struct file_use *)files->file_list.data + *place - 1;
	file = dims_file(files->context->dims, file);
	new = numbering_add(&files->by_file, (uint64_t)file, &number);
	if (new < 0 || (new &&buf_append_zeros(&files->file_list, sizeof(*use))))
		return NULL;
	use = (struct file_use *)files->file_list.data + number;
	if (new) {
		use->file = file;
		use->again_known = true;
	}
	if (place)
		*place = number + 1;
	return use;
}

static struct process_use *process_of(struct files *files, int64_t pid, uint64_t ts)
{
	struct process_use *use;
	uint32_t number, proc = PROC_NONE;
	int new;

	if (pid != CELL_NULL)
		proc = procs_find(files->context->procs, pid, ts);
	new = numbering_add(&files->by_pid, proc, &number);
	if (new < 0 || (new &&buf_append_zeros(&files->process_list, sizeof(*use))))
		return NULL;
	use = (struct process_use *)files->process_list.data + number;
	use->proc = proc;
	return use;
}

/* ---- io ---- */

/* One row of io, its cells as numbers. */
struct io_row {
	uint64_t ts;
	int64_t tid, pid, file, pos, requested, returned, dur, missed, blocked;
	char dir;
	bool direct;
	bool reads;
	uint64_t bytes, time;
};

static struct io_row read_io(const struct rows *rows)
{
	struct io_row io = { .ts = (uint64_t)rows_cell(rows, column_io_ts),
			     .tid = rows_cell(rows, column_io_tid),
			     .pid = rows_cell(rows, column_io_pid),
			     .file = rows_cell(rows, column_io_file),
			     .pos = rows_cell(rows, column_io_pos),
			     .requested = rows_cell(rows, column_io_requested),
			     .returned = rows_cell(rows, column_io_returned),
			     .dur = rows_cell(rows, column_io_dur),
			     .missed = rows_cell(rows, column_io_missed),
			     .blocked = rows_cell(rows, column_io_blocked),
			     .direct = rows_cell(rows, column_io_direct) == 1 };
	size_t size;
	const char *dir = rows_text(rows, column_io_dir, &size);

	io.dir = dir && size ? *dir : 0;
	io.reads = io.dir == 'R' || io.dir == 'C';
	io.bytes = cell_known(io.returned);
	io.time = cell_known(io.dur);
	return io;
}

/* Whether the read goes on where the thread's last read of the file ended. */
static int take_walk(struct files *files, struct file_use *use, const struct io_row *io)
{
	uint64_t place = (uint64_t)(use - (struct file_use *)files->file_list.data), *last;
	uint32_t number;
	int new;

	if (io->pos == CELL_NULL || io->tid == CELL_NULL || io->returned <= 0)
		return 0;
	new = numbering_add(&files->by_walk, place << 32 | (uint32_t)io->tid, &number);
	if (new < 0 || (new &&buf_append_zeros(&files->walks, sizeof(*last))))
		return -ENOMEM;
	last = (uint64_t *)files->walks.data + number;
	if (!new) {
		use->compared++;
		use->sequential += *last == (uint64_t)io->pos;
	}
	*last = (uint64_t)io->pos + io->bytes;
	return 0;
}

static int take_read(struct files *files, struct file_use *use, const struct io_row *io)
{
	uint64_t missed = cell_known(io->missed), again;

	use->told_bytes += io->missed == CELL_NULL ? 0 : io->bytes;
	use->small_reads += io->bytes && io->bytes < FILES_SMALL;
	use->empty_reads += io->returned == 0;
	if (io->direct && io->missed != CELL_NULL)
		use->direct_bytes += io->bytes;
	else
		use->missed_bytes += missed < io->bytes ? missed : io->bytes;
	use->ahead_bytes += missed > io->bytes ? missed - io->bytes : 0;
	if (io->pos != CELL_NULL && io->bytes) {
		if (extents_add(&use->extents, (uint64_t)io->pos, (uint64_t)io->pos + io->bytes,
				&again))
			return -ENOMEM;
		use->again_bytes += again;
		if (use->extents.gave_up)
			use->again_known = false;
	}
	return take_walk(files, use, io);
}

static void add_traffic(struct traffic *traffic, const struct io_row *io)
{
	traffic->calls++;
	traffic->bytes += io->bytes;
	traffic->time_ns += io->time;
}

static int take_by_file(struct files *files, const struct io_row *io)
{
	struct file_use *use;

	if (io->file == CELL_NULL)
		return 0;
	use = files_of(files, io->file);
	if (!use)
		return -ENOMEM;
	add_traffic(io->reads ? &use->read : &use->written, io);
	use->blocked_ns += cell_known(io->blocked);
	if ((io->dur != CELL_NULL && hist_add(&use->latency, io->time)) ||
	    (io->returned >= 0 && hist_add(&use->size, io->bytes)))
		return -ENOMEM;
	return io->reads ? take_read(files, use, io) : 0;
}

/* The other end of a copy: written, with no time of its own. */
static int take_copy(struct files *files, const struct rows *rows, const struct io_row *io)
{
	int64_t out = rows_cell(rows, column_io_out_file);
	struct file_use *use;

	if (io->dir != 'C' || out == CELL_NULL)
		return 0;
	use = files_of(files, out);
	if (!use)
		return -ENOMEM;
	use->written.calls++;
	use->written.bytes += io->bytes;
	return 0;
}

static int take_by_process(struct files *files, const struct io_row *io)
{
	struct process_use *use = process_of(files, io->pid, io->ts);
	enum role role = ROLE_OTHER;

	if (!use)
		return -ENOMEM;
	if (use->proc != PROC_NONE)
		role = files->context->roles.of[use->proc];
	add_traffic(io->reads ? &use->read : &use->written, io);
	add_traffic(io->reads ? &files->role_read[role] : &files->role_written[role], io);
	use->blocked_ns += cell_known(io->blocked);
	use->small_reads += io->reads && io->bytes && io->bytes < FILES_SMALL;
	if ((io->dur != CELL_NULL && hist_add(&use->latency, io->time)) ||
	    (io->returned >= 0 && hist_add(&use->size, io->bytes)))
		return -ENOMEM;
	return 0;
}

static int take_by_op(struct op_use *op, const struct io_row *io)
{
	if (!op)
		return -ENOMEM;
	op->calls++;
	op->bytes += io->bytes;
	op->time_ns += io->time;
	op->blocked_ns += cell_known(io->blocked);
	op->errors += io->returned != CELL_NULL && io->returned < 0;
	op->unfinished += io->dur == CELL_NULL;
	if ((io->dur != CELL_NULL && hist_add(&op->latency, io->time)) ||
	    (io->returned >= 0 && hist_add(&op->size, io->bytes)))
		return -ENOMEM;
	return 0;
}

static int files_take_io(void *state, const struct rows *rows)
{
	struct files *files = state;
	struct io_row io = read_io(rows);
	struct figures *figures = segments_at(&files->context->segments, io.ts);

	if (!figures)
		return 0;
	files->has_io = true;
	if (io.reads) {
		figures->reads++;
		figures->read_bytes += io.bytes;
		figures->read_ns += io.time;
		figures->missed_bytes += cell_known(io.missed);
	} else {
		figures->writes++;
		figures->write_bytes += io.bytes;
		figures->write_ns += io.time;
	}
	if (take_by_op(op_of(files, TABLE_io, rows, column_io_op), &io) ||
	    take_by_file(files, &io) || take_copy(files, rows, &io))
		return -ENOMEM;
	return take_by_process(files, &io);
}

/* ---- fs ---- */

enum fs_family { FS_OTHER, FS_OPEN, FS_STAT, FS_CLOSE, FS_SYNC };

static enum fs_family family_of(const char *name, size_t size)
{
	if ((size >= 4 && !memcmp(name, "open", 4)) || (size == 5 && !memcmp(name, "creat", 5)))
		return FS_OPEN;
	if (memmem(name, size, "stat", 4) || memmem(name, size, "access", 6))
		return FS_STAT;
	if (size >= 5 && !memcmp(name, "close", 5))
		return FS_CLOSE;
	return memmem(name, size, "sync", 4) ? FS_SYNC : FS_OTHER;
}

static void take_family(struct files *files, struct figures *figures, struct process_use *process,
			enum fs_family family, bool failed, uint64_t time)
{
	switch (family) {
	case FS_OPEN:
		figures->opens++;
		process->opens++;
		files->opens++;
		files->failed_opens += failed;
		break;
	case FS_STAT:
		figures->stats++;
		process->stats++;
		files->stats++;
		files->failed_stats += failed;
		break;
	case FS_CLOSE: files->closes++; break;
	case FS_SYNC:
		files->syncs++;
		files->sync_ns += time;
		break;
	default: break;
	}
}

static int take_fs_file(struct files *files, int64_t file, enum fs_family family)
{
	struct file_use *use;

	if (file == CELL_NULL || (family != FS_OPEN && family != FS_STAT))
		return 0;
	use = files_of(files, file);
	if (!use)
		return -ENOMEM;
	use->opens += family == FS_OPEN;
	use->stats += family == FS_STAT;
	return 0;
}

static int files_take_fs(void *state, const struct rows *rows)
{
	struct files *files = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_fs_ts);
	int64_t dur = rows_cell(rows, column_fs_dur),
		returned = rows_cell(rows, column_fs_returned);
	struct figures *figures = segments_at(&files->context->segments, ts);
	bool failed = returned != CELL_NULL && returned < 0;
	struct process_use *process;
	enum fs_family family;
	struct op_use *op;
	const char *name;
	size_t size;

	if (!figures)
		return 0;
	files->has_fs = true;
	name = rows_text(rows, column_fs_op, &size);
	family = name ? family_of(name, size) : FS_OTHER;
	op = op_of(files, TABLE_fs, rows, column_fs_op);
	process = process_of(files, rows_cell(rows, column_fs_pid), ts);
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
	if (process->proc != PROC_NONE)
		files->role_metadata_ns[files->context->roles.of[process->proc]] += cell_known(dur);
	take_family(files, figures, process, family, failed, cell_known(dur));
	return take_fs_file(files, rows_cell(rows, column_fs_file), family);
}

/* ---- mem, fault, block ---- */

static int files_take_mem(void *state, const struct rows *rows)
{
	struct files *files = state;
	int64_t dur = rows_cell(rows, column_mem_dur), file = rows_cell(rows, column_mem_file);
	int64_t returned = rows_cell(rows, column_mem_returned);
	struct file_use *use;
	struct op_use *op;

	if (!context_inside(files->context, (uint64_t)rows_cell(rows, column_mem_ts)))
		return 0;
	op = op_of(files, TABLE_mem, rows, column_mem_op);
	if (!op || (dur != CELL_NULL && hist_add(&op->latency, cell_known(dur))))
		return -ENOMEM;
	op->calls++;
	/* Addresses are no errors: the kernel's errors are the last 4095 numbers. */
	op->errors += returned != CELL_NULL && returned < 0 && returned >= -4095;
	op->unfinished += dur == CELL_NULL;
	op->time_ns += cell_known(dur);
	if (file == CELL_NULL)
		return 0;
	use = files_of(files, file);
	if (!use)
		return -ENOMEM;
	use->maps++;
	return 0;
}

static int files_take_fault(void *state, const struct rows *rows)
{
	struct files *files = state;
	int64_t file = rows_cell(rows, column_fault_file);
	struct file_use *use;

	if (file == CELL_NULL ||
	    !context_inside(files->context, (uint64_t)rows_cell(rows, column_fault_ts)))
		return 0;
	use = files_of(files, file);
	if (!use)
		return -ENOMEM;
	use->faults++;
	use->major_faults += rows_cell(rows, column_fault_major) == 1;
	return 0;
}

static int files_take_block(void *state, const struct rows *rows)
{
	struct files *files = state;
	uint64_t ts = (uint64_t)rows_cell(rows, column_block_ts);
	uint64_t bytes = cell_known(rows_cell(rows, column_block_bytes));
	uint64_t time = cell_known(rows_cell(rows, column_block_dur));
	int64_t file = rows_cell(rows, column_block_file);
	struct figures *figures = segments_at(&files->context->segments, ts);
	struct file_use *use;
	const char *op;
	size_t size;

	op = rows_text(rows, column_block_op, &size);
	if (!figures || !op || size != 1)
		return 0;
	files->has_block = true;
	figures->device_read_bytes += *op == 'R' ? bytes : 0;
	figures->device_write_bytes += *op == 'W' ? bytes : 0;
	figures->device_ns += time;
	if (file == CELL_NULL)
		return 0;
	use = files_of(files, file);
	if (!use)
		return -ENOMEM;
	use->device_read_bytes += *op == 'R' ? bytes : 0;
	use->device_write_bytes += *op == 'W' ? bytes : 0;
	use->device_ns += time;
	use->device_requests++;
	return 0;
}

size_t files_sinks(struct files *files, struct scan_sink *sinks)
{
	size_t count = 0;

	sinks[count++] = (struct scan_sink){ TABLE_io, ~0ull, files_take_io, files };
	sinks[count++] =
		(struct scan_sink){ TABLE_fs,
				    SCAN_COLUMN(fs, ts) | SCAN_COLUMN(fs, dur) |
					    SCAN_COLUMN(fs, pid) | SCAN_COLUMN(fs, op) |
					    SCAN_COLUMN(fs, file) | SCAN_COLUMN(fs, returned) |
					    SCAN_COLUMN(fs, blocked),
				    files_take_fs, files };
	sinks[count++] = (struct scan_sink){ TABLE_mem,
					     SCAN_COLUMN(mem, ts) | SCAN_COLUMN(mem, dur) |
						     SCAN_COLUMN(mem, op) | SCAN_COLUMN(mem, file) |
						     SCAN_COLUMN(mem, returned),
					     files_take_mem, files };
	sinks[count++] = (struct scan_sink){ TABLE_fault,
					     SCAN_COLUMN(fault, ts) | SCAN_COLUMN(fault, file) |
						     SCAN_COLUMN(fault, major),
					     files_take_fault, files };
	sinks[count++] =
		(struct scan_sink){ TABLE_block,
				    SCAN_COLUMN(block, ts) | SCAN_COLUMN(block, dur) |
					    SCAN_COLUMN(block, op) | SCAN_COLUMN(block, bytes) |
					    SCAN_COLUMN(block, file),
				    files_take_block, files };
	return count;
}
