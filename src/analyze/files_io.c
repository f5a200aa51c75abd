/* Rows of table io: sums by operation, file and process. */
#include <errno.h>

#include "analyze/files_load.h"
#include "analyze/io_row.h"

/* Whether the read goes on where the thread's last read of the file ended. */
static int take_walk(struct files *files, struct file_use *use, const struct io_row *io)
{
	uint64_t place = (uint64_t)(use - (struct file_use *)files->file_list.data), *last;
	bool fresh;

	if (io->pos == CELL_NULL || io->tid == CELL_NULL || io->returned <= 0)
		return 0;
	last = map_add(&files->walks, place << 32 | (uint32_t)io->tid, &fresh);
	if (!last)
		return -ENOMEM;
	if (!fresh) {
		use->compared++;
		use->sequential += *last == (uint64_t)io->pos;
	}
	*last = (uint64_t)io->pos + io->bytes;
	return 0;
}

static int take_read(struct files *files, struct file_use *use, const struct io_row *io)
{
	struct io_source source = io_row_source(io);
	uint64_t again;

	use->told_bytes += source.told;
	use->missed_bytes += source.missed;
	use->ahead_bytes += source.ahead;
	use->direct_bytes += source.direct;
	use->small_reads += io->bytes && io->bytes < FILES_SMALL;
	use->empty_reads += io->returned == 0;
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

static void take_traffic(struct traffic *traffic, const struct io_row *io)
{
	traffic->calls++;
	traffic->bytes += io->bytes;
	traffic->time_ns += io->time;
}

/* Reads jump from file to file: what is kept of one is mostly not in the CPU's cache, and on its way while the row is
 * counted elsewhere. */
static void fetch_file(const struct file_use *use)
{
	for (size_t at = 0; at < sizeof(*use); at += 64)
		__builtin_prefetch((const char *)use + at, 1);
}

static int take_by_file(struct files *files, struct file_use *use, const struct io_row *io)
{
	take_traffic(io->reads ? &use->read : &use->written, io);
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

	if (io->direction != DIRECTION_C || out == CELL_NULL)
		return 0;
	use = files_file(files, out);
	if (!use)
		return -ENOMEM;
	use->written.calls++;
	use->written.bytes += io->bytes;
	return 0;
}

static int take_by_process(struct files *files, const struct io_row *io)
{
	struct process_use *use = files_process(files, io->pid, io->ts);

	if (!use)
		return -ENOMEM;
	take_traffic(io->reads ? &use->read : &use->written, io);
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

int files_take_io(void *state, const struct rows *rows)
{
	struct files *files = state;
	struct io_row io = io_row_read(rows);
	struct figures *figures = segments_at(&files->context->segments, io.ts);
	struct file_use *use = NULL;

	if (!figures)
		return 0;
	if (io.file != CELL_NULL) {
		use = files_file(files, io.file);
		if (!use)
			return -ENOMEM;
		fetch_file(use);
	}
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
	if (take_by_op(files_op(files, TABLE_io, rows, column_io_op), &io) ||
	    take_by_process(files, &io) || (use && take_by_file(files, use, &io)))
		return -ENOMEM;
	return take_copy(files, rows, &io);
}
