#include "store/sink.h"

#include "base/clock.h"
#include "store/kept.h"

void sink_init(struct sink *sink, struct writer *writer)
{
	*sink = (struct sink){ .writer = writer };
}

void sink_free(struct sink *sink)
{
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		builder_close(sink->builders[i]);
	buf_free(&sink->chunk);
}

static void sink_write(struct sink *sink, enum table_id table)
{
	struct builder *builder = sink->builders[table];
	uint32_t rows = builder->rows;
	int err = sink->failed;

	sink->chunk.size = 0;
	sink->since[table] = 0;
	if (!err && sink->kept)
		err = kept_tell(sink->kept, builder, &sink->chunk, &sink->error);
	if (!err)
		err = builder_encode(builder, &sink->chunk, &sink->error);
	if (!err)
		err = writer_append(sink->writer, &sink->chunk, &sink->error);
	if (err) {
		sink->failed = err;
		sink->dropped[table] += rows;
	}
}

struct builder *sink_table(struct sink *sink, enum table_id table)
{
	if (sink->failed)
		return NULL;
	if (!sink->builders[table])
		sink->failed =
			builder_open(&sink->builders[table], &schema_tables[table], &sink->error);
	return sink->failed ? NULL : sink->builders[table];
}

void sink_end_row(struct sink *sink, enum table_id table)
{
	if (sink->kept && (table == TABLE_file || table == TABLE_process))
		kept_learn(sink->kept, sink->builders[table]);
	sink_end_known_row(sink, table);
}

void sink_end_known_row(struct sink *sink, enum table_id table)
{
	struct builder *builder = sink->builders[table];

	if (!builder->rows)
		sink->since[table] = clock_monotonic();
	builder_end_row(builder);
	if (builder_full(builder))
		sink_write(sink, table);
}

void sink_drop(struct sink *sink, enum table_id table)
{
	sink->dropped[table]++;
}

void sink_flush(struct sink *sink, uint64_t age)
{
	uint64_t now = clock_monotonic();

	for (unsigned i = 0; i < TABLE_COUNT; i++)
		if (sink->since[i] && now - sink->since[i] >= age)
			sink_write(sink, i);
}
