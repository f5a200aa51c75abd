#include "store/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/strings.h"
#include "store/rows.h"

struct threads {
	struct strings comms;
	struct buf
		rows; /* struct thread_row; while loading in order of time, then of (tid, first_ts) */
};

static struct thread_row *row_at(const struct threads *threads, size_t i)
{
	return (struct thread_row *)threads->rows.data + i;
}

/* The row that still holds for a tid, or NULL. While loading, `newest` has the place of each tid's newest row. */
static struct thread_row *newest_open(const struct map *newest, const struct threads *threads,
				      int64_t tid)
{
	const uint64_t *place = map_find(newest, (uint64_t)tid);
	struct thread_row *row = place ? row_at(threads, *place) : NULL;

	return row && row->last_ts == CELL_NULL ? row : NULL;
}

static void thread_end(const struct map *newest, struct threads *threads, int64_t tid, int64_t ts)
{
	struct thread_row *row = newest_open(newest, threads, tid);

	if (row)
		row->last_ts = ts;
}

/* Begins a name, unless it is the one that the thread has. Until all are loaded, comm_size holds the
 * name's number in comms: the bytes move as the set grows. */
static int thread_begin(struct map *newest, struct threads *threads, const struct rows *rows,
			bool new)
{
	struct thread_row row = { .tid = rows_cell(rows, column_process_tid),
				  .pid = rows_cell(rows, column_process_pid),
				  .first_ts = rows_cell(rows, column_process_ts),
				  .last_ts = CELL_NULL };
	struct thread_row *open = newest_open(newest, threads, row.tid);
	uint64_t *place;
	uint32_t number;
	const char *comm;
	size_t size;

	comm = rows_text(rows, column_process_comm, &size);
	if (strings_add(&threads->comms, comm ? comm : "", comm ? size : 0, &number))
		return -ENOMEM;
	row.comm_size = number;
	if (open && !new && open->comm_size == number && open->pid == row.pid)
		return 0;
	thread_end(newest, threads, row.tid, row.first_ts);
	if (buf_append(&threads->rows, &row, sizeof(row)))
		return -ENOMEM;
	place = map_add(newest, (uint64_t)row.tid, NULL);
	if (!place)
		return -ENOMEM;
	*place = threads_count(threads) - 1;
	return 0;
}

static int thread_take(struct map *newest, struct threads *threads, const struct rows *rows)
{
	int64_t tid = rows_cell(rows, column_process_tid), ts = rows_cell(rows, column_process_ts);
	int64_t old_tid = rows_cell(rows, column_process_old_tid);
	int event = rows_name(rows, column_process_event);

	if (tid == CELL_NULL || event < 0)
		return 0;
	if (old_tid != CELL_NULL)
		thread_end(newest, threads, old_tid, ts);
	if (event == EVENT_EXIT) {
		/* One that ended before the recording had told of it is known by its exit alone. */
		bool known = newest_open(newest, threads, tid) ||
			     rows_cell(rows, column_process_comm) == CELL_NULL;
		int err = known ? 0 : thread_begin(newest, threads, rows, true);

		thread_end(newest, threads, tid, ts);
		return err;
	}
	return thread_begin(newest, threads, rows, event == EVENT_FORK);
}

/* Adds a thread that no row of table process tells of. */
static int thread_add(struct threads *threads, int64_t tid, const char *comm)
{
	struct thread_row row = { .tid = tid, .pid = CELL_NULL, .last_ts = CELL_NULL };
	uint32_t number;

	if (strings_add(&threads->comms, comm, strlen(comm), &number))
		return -ENOMEM;
	row.comm_size = number;
	return buf_append(&threads->rows, &row, sizeof(row));
}

static int threads_add_own(struct threads *threads, const char *recorder)
{
	int err = thread_add(threads, 0, "swapper");

	while (!err && recorder && *recorder) {
		char *end;
		long tid = strtol(recorder, &end, 10);

		if (end == recorder || tid <= 0)
			break;
		err = thread_add(threads, tid, "strata");
		recorder = *end == ',' ? end + 1 : end;
	}
	return err;
}

static int compare_rows(const void *a, const void *b)
{
	const struct thread_row *left = a, *right = b;

	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	if (left->first_ts != right->first_ts)
		return left->first_ts < right->first_ts ? -1 : 1;
	/* One that ended at once comes before the one that followed it. */
	if (left->last_ts != right->last_ts)
		return left->last_ts == CELL_NULL || (right->last_ts != CELL_NULL &&
						      left->last_ts > right->last_ts)
			       ? 1
			       : -1;
	return 0;
}

static void threads_settle(struct threads *threads)
{
	for (size_t i = 0; i < threads_count(threads); i++) {
		struct thread_row *row = row_at(threads, i);

		row->comm = strings_get(&threads->comms, (uint32_t)row->comm_size, &row->comm_size);
	}
	if (threads_count(threads))
		qsort(threads->rows.data, threads_count(threads), sizeof(struct thread_row),
		      compare_rows);
}

int threads_open(struct threads **out, struct reader *reader, const char *recorder, struct error *e)
{
	static const uint64_t wanted = 1u << column_process_ts | 1u << column_process_event |
				       1u << column_process_pid | 1u << column_process_tid |
				       1u << column_process_comm | 1u << column_process_old_tid;
	struct threads *threads = calloc(1, sizeof(*threads));
	struct map newest = { 0 };
	struct rows *rows = NULL;
	int err, more = 0;

	*out = threads;
	if (!threads)
		return error_set(e, -ENOMEM, "out of memory");
	threads->rows.limit = SIZE_MAX;
	err = rows_open(&rows, reader, TABLE_process, wanted, 0, UINT64_MAX, e);
	while (!err && (more = rows_next(rows, e)) > 0)
		if (thread_take(&newest, threads, rows))
			err = error_set(e, -ENOMEM, "no memory for table 'thread'");
	if (!err)
		err = more;
	if (!err && threads_add_own(threads, recorder))
		err = error_set(e, -ENOMEM, "no memory for table 'thread'");
	rows_close(rows);
	map_free(&newest);
	if (err) {
		threads_close(threads);
		*out = NULL;
		return err;
	}
	threads_settle(threads);
	return 0;
}

void threads_close(struct threads *threads)
{
	if (!threads)
		return;
	strings_free(&threads->comms);
	buf_free(&threads->rows);
	free(threads);
}

size_t threads_count(const struct threads *threads)
{
	return threads->rows.size / sizeof(struct thread_row);
}

const struct thread_row *threads_row(const struct threads *threads, size_t i)
{
	return row_at(threads, i);
}

const struct thread_row *threads_find(const struct threads *threads, int64_t tid, uint64_t ts)
{
	size_t low = 0, high = threads_count(threads);

	/* The first row of this tid that begins later, among rows ordered by (tid, first_ts). */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct thread_row *row = row_at(threads, middle);

		if (row->tid < tid || (row->tid == tid && (uint64_t)row->first_ts <= ts))
			low = middle + 1;
		else
			high = middle;
	}
	if (low && row_at(threads, low - 1)->tid == tid)
		return row_at(threads, low - 1);
	if (low < threads_count(threads) && row_at(threads, low)->tid == tid)
		return row_at(threads, low);
	return NULL;
}
