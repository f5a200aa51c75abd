#include "render/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "schema/layers.h"
#include "schema/schema.h"

/* Perfetto's own viewers hold some five times the file in memory, a browser's 4 GiB at most. */
#define PERFETTO_MAX_BYTES ((uint64_t)512 << 20)

#define CLASSIC(name_, summary_)                                               \
	{                                                                      \
		.name = name_, .summary = summary_, .extension = name_ ".txt", \
		.write = classic_write_one                                     \
	}

const struct export_format export_formats[] = {
	{ .name = "perfetto",
	  .summary = "a trace for ui.perfetto.dev",
	  .extension = "pftrace",
	  .merges = true,
	  .max_bytes = PERFETTO_MAX_BYTES,
	  .write = perfetto_write },
	{ .name = "pfw",
	  .summary =
		  "JSON lines for DFAnalyzer, Dask and Perfetto; gzipped when the name ends in .gz",
	  .extension = "pfw.gz",
	  .write = pfw_write },
	{ .name = "csv",
	  .summary = "a folder with one CSV file a table",
	  .extension = "csv",
	  .folder = true,
	  .write = csv_write },
	{ .name = "parquet",
	  .summary = "a folder with one Parquet file a table; needs DuckDB's library",
	  .extension = "parquet",
	  .folder = true,
	  .write = parquet_write },
	{ .name = "classic",
	  .summary = "a folder with all of the classic layouts below",
	  .extension = "txt",
	  .folder = true,
	  .write = classic_write },
	{ .name = "trace_visuals",
	  .summary = "a folder with the files that discslab-dl-bench's trace_visuals reads",
	  .extension = "txt",
	  .folder = true,
	  .write = trace_visuals_write },
	CLASSIC("switches", "comm pid cpu nsecs of the thread that leaves, at each switch"),
	CLASSIC("bio", "requests to block devices"),
	CLASSIC("open", "opens, with the path as passed, and vfs_open where it was traced"),
	CLASSIC("vfs_rw", "read, pread64, write and pwrite64"),
	CLASSIC("read", "read and pread64"),
	CLASSIC("write", "write and pwrite64"),
	CLASSIC("close", "closes"),
	CLASSIC("create_del", "what makes and removes names"),
	CLASSIC("mmap", "mmap"),
	CLASSIC("munmap", "munmap"),
	CLASSIC("time_align", "boot time and local time, at each full second"),
	CLASSIC("pids", "the job's processes and threads as ps aux -T lists them"),
	CLASSIC("cpu", "as mpstat -P ALL 1 prints"),
	CLASSIC("gpu", "as nvidia-smi pmon -s um -o DT prints"),
	CLASSIC("dmon", "as nvidia-smi dmon -s pucmt -o DT prints"),
};

const size_t export_format_count = sizeof(export_formats) / sizeof(*export_formats);

const struct export_format *export_format_by_name(const char *name)
{
	for (size_t i = 0; i < export_format_count; i++)
		if (!strcmp(export_formats[i].name, name))
			return &export_formats[i];
	return NULL;
}

int export_settle(struct export_result *result, int err, const struct error *e)
{
	if (err != -EBADMSG)
		return err;
	snprintf(result->damage, sizeof(result->damage), "%.*s", (int)sizeof(result->damage) - 1,
		 e->text);
	return 0;
}

void export_empty_add(struct export_empty *empty, const char *name)
{
	size_t used = strlen(empty->names);

	snprintf(empty->names + used, sizeof(empty->names) - used, "%s%s", used ? ", " : "", name);
}

void export_empty_note(const struct export_empty *empty, const struct export_request *request)
{
	char text[sizeof(empty->names) + 32];

	if (!*empty->names || !request->note)
		return;
	snprintf(text, sizeof(text), "no %s in: %s", empty->what, empty->names);
	request->note(request->data, text);
}

int export_count_rows(const struct export_request *request, uint64_t *rows, struct error *e)
{
	*rows = 0;
	for (size_t run = 0; run < request->run_count; run++) {
		const struct export_run *one = &request->runs[run];
		struct chunk *chunks;
		size_t count;
		int err = reader_select(one->reader, TABLE_COUNT, one->from, one->to, &chunks,
					&count, e);

		if (err)
			return err;
		for (size_t i = 0; i < count; i++)
			if (request->tables >> chunks[i].table & 1)
				*rows += chunks[i].rows;
		free(chunks);
	}
	return 0;
}

int export_parse_layers(const char *list, uint32_t *tables, struct error *e)
{
	uint32_t wanted = LAYER_BIT(LAYER_none);
	char hint[512], name[64];

	for (unsigned layer = 0; layer < LAYER_COUNT; layer++)
		if (schema_layers[layer].when == WHEN_ALWAYS)
			wanted |= LAYER_BIT(layer);
	for (;;) {
		size_t length = strcspn(list, ",");
		unsigned layer = 0;

		snprintf(name, sizeof(name), "%.*s", (int)length, list);
		while (layer < LAYER_COUNT && strcmp(layer_names.names[layer], name))
			layer++;
		if (layer == LAYER_COUNT)
			return error_set(e, -EINVAL, "unknown layer '%s', %s", name,
					 suggest_names(hint, sizeof(hint), name, layer_names.names,
						       LAYER_COUNT));
		wanted |= LAYER_BIT(layer);
		if (!list[length])
			break;
		list += length + 1;
	}
	*tables = 0;
	for (unsigned table = 0; table < TABLE_COUNT; table++)
		if (wanted & LAYER_BIT(schema_tables[table].layer))
			*tables |= 1u << table;
	return 0;
}
