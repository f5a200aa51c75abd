/* The driver of the classic layouts: reads the rows of each, and writes one file or a folder of them. */
#include "render/classic.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "render/folder.h"

bool classic_takes(const struct classic_layout *layout, unsigned op, const struct rows *rows)
{
	int call;

	if (!layout->families && !layout->call)
		return true;
	call = rows_name(rows, op);
	if (call < 0)
		return false;
	if (layout->call)
		return call == (int)layout->call;
	return layout->families >> schema_syscalls[call].family & 1 &&
	       !(layout->direct && schema_syscalls[call].queued);
}

void classic_take_row(struct classic *c, const struct event_plan *plan, const struct rows *rows,
		      uint64_t ts)
{
	uint64_t end = event_end(plan, rows, ts);

	if (end == EVENT_NO_END)
		return;
	c->line.size = 0;
	field_uint(c, end);
	c->layout->fields(c, rows, ts, end);
	if (!c->line.size)
		return;
	line_queue(c, end);
	c->rows++;
}

/* What stops it is told when the layout, or the output, is finished. */
bool classic_next(struct classic *c)
{
	if (!(++c->seen % EXPORT_PROGRESS_ROWS))
		export_progress(c->request, EXPORT_PROGRESS_ROWS);
	return !c->error && !c->out->error;
}

void classic_end(struct classic *c)
{
	export_progress(c->request, c->seen % EXPORT_PROGRESS_ROWS);
	lines_until(c, UINT64_MAX);
}

int classic_write_calls(struct classic *c, struct error *e)
{
	const struct classic_layout *layout = c->layout;
	struct event_plan plan;
	struct rows *rows = NULL;
	int err =
		rows_open(&rows, c->run->reader, layout->table, ~0ull, c->run->from, c->run->to, e);

	event_plan_make(&plan, layout->table);
	while (!err && (err = rows_next(rows, e)) > 0) {
		int64_t ts = rows_cell(rows, 0);

		if (ts != CELL_NULL)
			lines_until(c, (uint64_t)ts);
		if (ts != CELL_NULL && classic_takes(layout, (unsigned)plan.label, rows))
			classic_take_row(c, &plan, rows, (uint64_t)ts);
		err = 0;
		if (!classic_next(c))
			break;
	}
	classic_end(c);
	rows_close(rows);
	return err;
}

static int write_layout(const struct export_request *request, const struct classic_layout *layout,
			struct output *out, struct export_result *result, struct error *e)
{
	struct classic c = {
		.request = request, .run = &request->runs[0], .layout = layout, .out = out
	};
	char banner[64];
	int err;

	if (layout->probes) {
		snprintf(banner, sizeof(banner), "Attaching %u probe%s...\n", layout->probes,
			 layout->probes == 1 ? "" : "s");
		output_append(out, banner, strlen(banner));
	}
	if (layout->header) {
		output_append(out, layout->header, strlen(layout->header));
		output_append(out, "\n", 1);
	}
	if (layout->write)
		err = layout->write(&c, e);
	else
		err = classic_write_calls(&c, e);
	err = export_settle(result, err, e);
	if (!err && c.error)
		err = error_set(e, c.error, "out of memory");
	result->rows += c.rows;
	buf_free(&c.line);
	buf_free(&c.queue);
	buf_free(&c.scratch);
	map_free(&c.ends);
	return err;
}

int classic_write_folder(const struct export_request *request, const struct classic_layout *layouts,
			 size_t count, struct export_result *result, struct error *e)
{
	struct export_empty empty = { .what = "lines" };
	struct folder folder;
	int err = folder_open(&folder, request, e);

	for (size_t i = 0; i < count && !err; i++) {
		struct output *out;
		uint64_t before = result->rows;

		if (!(request->tables >> layouts[i].table & 1))
			continue;
		out = folder_add(&folder, layouts[i].name, e);
		if (!out) {
			err = -EIO;
			break;
		}
		err = write_layout(request, &layouts[i], out, result, e);
		if (!err)
			err = folder_finish(&folder, out, e);
		if (result->rows == before)
			export_empty_add(&empty, layouts[i].name);
	}
	err = folder_close(&folder, err, &result->bytes, e);
	if (!err)
		export_empty_note(&empty, request);
	return err;
}

int classic_write(const struct export_request *request, struct export_result *result,
		  struct error *e)
{
	return classic_write_folder(request, classic_layouts, classic_layout_count, result, e);
}

int classic_write_one(const struct export_request *request, struct export_result *result,
		      struct error *e)
{
	const struct classic_layout *layout = classic_layouts;
	struct output out;
	int err;

	while (strcmp(layout->name, request->format->name))
		layout++;
	err = output_open(&out, request->output, false, &request->inputs, e);
	if (err)
		return err;
	out.limit = request->max_bytes;
	err = write_layout(request, layout, &out, result, e);
	if (!err)
		err = output_commit(&out, e);
	result->bytes = out.total;
	output_free(&out);
	return err;
}
