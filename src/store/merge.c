/* See merge.h. One stream mostly gives many rows in a row, so the least ts of the others is kept and
 * looked for anew only when the current stream passes it.
 */
#include "store/merge.h"

#include <string.h>

static int stream_next(struct merge_stream *stream, struct error *e)
{
	int more = rows_next(stream->rows, e);
	int64_t ts;

	if (more > 0) {
		ts = rows_cell(stream->rows, 0);
		stream->ts = ts == CELL_NULL ? 0 : (uint64_t)ts;
	} else {
		stream->ts = UINT64_MAX;
	}
	return more < 0 ? more : 0;
}

static void merge_choose(struct merge *merge)
{
	unsigned best = 0, second = 0;
	uint64_t other = UINT64_MAX;

	for (unsigned i = 1; i < merge->count; i++)
		if (merge->streams[i].ts < merge->streams[best].ts)
			best = i;
	for (unsigned i = 0; i < merge->count; i++)
		if (i != best && merge->streams[i].ts < other) {
			other = merge->streams[i].ts;
			second = i;
		}
	merge->current = best;
	merge->other = second;
	merge->other_ts = other;
}

int merge_open(struct merge *merge, struct reader *reader, uint32_t tables,
	       const uint64_t wanted[TABLE_COUNT], uint64_t from, uint64_t to, struct error *e)
{
	int err;

	memset(merge, 0, sizeof(*merge));
	for (unsigned table = 0; table < TABLE_COUNT; table++) {
		struct merge_stream *stream = &merge->streams[merge->count];

		if (!(tables >> table & 1) || !schema_is_timed(&schema_tables[table]))
			continue;
		err = rows_open(&stream->rows, reader, table, wanted[table] | 1, from, to, e);
		if (err)
			return err;
		stream->table = table;
		merge->count++;
		err = stream_next(stream, e);
		if (err)
			return err;
	}
	if (merge->count)
		merge_choose(merge);
	return 0;
}

int merge_next(struct merge *merge, struct error *e)
{
	struct merge_stream *stream = &merge->streams[merge->current];
	int err;

	if (!merge->count)
		return 0;
	if (merge->started) {
		err = stream_next(stream, e);
		if (err)
			return err;
		if (stream->ts > merge->other_ts ||
		    (stream->ts == merge->other_ts && merge->other < merge->current)) {
			merge_choose(merge);
			stream = &merge->streams[merge->current];
		}
	}
	merge->started = 1;
	merge->table = stream->table;
	merge->rows = stream->rows;
	merge->ts = stream->ts;
	return stream->ts != UINT64_MAX;
}

void merge_close(struct merge *merge)
{
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		rows_close(merge->streams[i].rows);
	memset(merge, 0, sizeof(*merge));
}
