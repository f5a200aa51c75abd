/* Events as JSON lines, the .pfw files that DFTracer writes: one object a line, without commas between, whole
 * microseconds. Perfetto, DFAnalyzer and anything that reads JSON lines take it; docs/exports.md has the fields.
 */
#include "render/pfw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/merge.h"

void pfw_begin_line(struct pfw *w, struct pfw_line *line, const char *name, size_t size,
		    const char *category)
{
	line_open(line, &w->out);
	line_literal(line, "{\"id\":");
	line_uint(line, w->next_id++);
	line_literal(line, ",\"name\":");
	line_text(line, name, size);
	line_literal(line, ",\"cat\":\"");
	line_literal(line, category);
	line_literal(line, "\"");
}

void pfw_put_thread(struct pfw_line *line, uint64_t pid, uint64_t tid)
{
	line_literal(line, ",\"pid\":");
	line_uint(line, pid);
	line_literal(line, ",\"tid\":");
	line_uint(line, tid);
}

/* Calls, one by one or counted. */
#define COUNTED_TABLES \
	(1u << TABLE_io | 1u << TABLE_fs | 1u << TABLE_mem | 1u << TABLE_call | 1u << TABLE_counter)

static void take_row(struct pfw *w, const struct merge *merge)
{
	struct event_row event;

	event_read(&event, &w->plans[merge->table], merge->rows, merge->ts);
	if (w->request->counter_interval)
		pfw_counters_take(w, &event);
	else if (event.plan->class == EVENT_SPAN)
		pfw_take_span(w, &event);
	else
		pfw_take_sample(w, &event);
}

static int write_rows(struct pfw *w, struct export_result *result, struct error *e)
{
	uint64_t wanted[TABLE_COUNT];
	uint32_t tables = 0;
	struct merge merge;
	int err;

	for (unsigned table = 0; table < TABLE_COUNT; table++) {
		wanted[table] = w->plans[table].wanted;
		if (w->plans[table].class != EVENT_OTHER && schema_tables[table].label)
			tables |= 1u << table;
	}
	if (w->request->counter_interval)
		tables &= COUNTED_TABLES;
	err = merge_open(&merge, w->run->reader, tables & w->request->tables, wanted, w->run->from,
			 w->run->to, e);
	while (!err && (err = merge_next(&merge, e)) > 0) {
		take_row(w, &merge);
		err = w->error ? error_set(e, w->error, "out of memory") : 0;
		if (!(++result->rows % EXPORT_PROGRESS_ROWS))
			export_progress(w->request, EXPORT_PROGRESS_ROWS);
		if (w->out.error)
			break; /* told when the output is finished */
	}
	pfw_counters_flush(w);
	export_progress(w->request, result->rows % EXPORT_PROGRESS_ROWS);
	merge_close(&merge);
	return export_settle(result, err, e);
}

static void pfw_begin(struct pfw *w)
{
	uint64_t realtime;

	if (!dims_utc(w->run->dims, w->run->span.start, &realtime))
		w->shift = realtime - w->run->span.start;
	pfw_prepare(w);
	pfw_lanes_open(&w->lanes);
	output_append(&w->out, "[\n", 2);
	pfw_name_host(w);
}

static void pfw_free(struct pfw *w)
{
	pfw_lanes_close(&w->lanes);
	pfw_counters_free(&w->counters);
	map_free(&w->files);
	map_free(&w->hashes);
	buf_free(&w->scratch);
}

int pfw_write(const struct export_request *request, struct export_result *result, struct error *e)
{
	size_t length = strlen(request->output);
	bool gzip = length > 3 && !strcmp(request->output + length - 3, ".gz");
	struct pfw *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return error_set(e, -ENOMEM, "out of memory");
	w->request = request;
	w->run = &request->runs[0];
	err = output_open(&w->out, request->output, gzip, &request->inputs, e);
	if (!err) {
		w->out.limit = request->max_bytes;
		pfw_begin(w);
		err = write_rows(w, result, e);
		output_append(&w->out, "]\n", 2);
		if (!err)
			err = output_commit(&w->out, e);
		result->bytes = w->out.total;
		output_free(&w->out);
	}
	pfw_free(w);
	free(w);
	return err;
}
