/* One row of table io with its cells as numbers, for the models that count reads and writes. */
#ifndef STRATA_ANALYZE_IO_ROW_H
#define STRATA_ANALYZE_IO_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells.h"
#include "analyze/scan.h"

/* A copy between files counts as a read of the one, and as a write of the other. */
static inline bool direction_reads(int direction)
{
	return direction == DIRECTION_R || direction == DIRECTION_C;
}

struct io_row {
	uint64_t ts;
	int64_t tid, pid, file, pos, returned, dur, missed, blocked;
	int direction; /* enum direction; -1: not known */
	bool direct;
	bool reads;
	uint64_t bytes, time; /* returned and dur as amounts: 0 where there is none */
};

#define IO_ROW_COLUMNS                                                                \
	(SCAN_COLUMN(io, ts) | SCAN_COLUMN(io, dur) | SCAN_COLUMN(io, pid) |          \
	 SCAN_COLUMN(io, tid) | SCAN_COLUMN(io, dir) | SCAN_COLUMN(io, file) |        \
	 SCAN_COLUMN(io, pos) | SCAN_COLUMN(io, returned) | SCAN_COLUMN(io, missed) | \
	 SCAN_COLUMN(io, blocked) | SCAN_COLUMN(io, direct))

static inline struct io_row io_row_read(const struct rows *rows)
{
	struct io_row io = { .ts = (uint64_t)rows_cell(rows, column_io_ts),
			     .tid = rows_cell(rows, column_io_tid),
			     .pid = rows_cell(rows, column_io_pid),
			     .file = rows_cell(rows, column_io_file),
			     .pos = rows_cell(rows, column_io_pos),
			     .returned = rows_cell(rows, column_io_returned),
			     .dur = rows_cell(rows, column_io_dur),
			     .missed = rows_cell(rows, column_io_missed),
			     .blocked = rows_cell(rows, column_io_blocked),
			     .direction = rows_name(rows, column_io_dir),
			     .direct = rows_cell(rows, column_io_direct) == 1 };

	io.reads = direction_reads(io.direction);
	io.bytes = cell_known(io.returned);
	io.time = cell_known(io.dur);
	return io;
}

/* Where the bytes of a read came from. What is told and neither missed nor direct was in the page cache. */
struct io_source {
	uint64_t told;	 /* of calls of which it is known */
	uint64_t missed; /* filled into the page cache while the call ran: it waited for them */
	uint64_t ahead;	 /* filled beyond what it returned: readahead */
	uint64_t direct; /* past the page cache */
};

static inline struct io_source io_row_source(const struct io_row *io)
{
	uint64_t missed = cell_known(io->missed);
	struct io_source source = { 0 };

	if (io->missed == CELL_NULL)
		return source;
	source.told = io->bytes;
	if (io->direct)
		source.direct = io->bytes;
	else
		source.missed = missed < io->bytes ? missed : io->bytes;
	source.ahead = missed > io->bytes ? missed - io->bytes : 0;
	return source;
}

#endif
