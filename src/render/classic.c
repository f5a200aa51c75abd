/* The driver of the classic layouts: reads the rows of each, and writes one file or a folder of them. */
#include "render/classic.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "render/event.h"
#include "render/folder.h"

/* Whether the layout takes the row; `op` is the column that tells the call. */
static bool is_of(const struct classic_layout *layout, unsigned op, const struct rows *rows)
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

static void take_row(struct classic *c, const struct classic_layout *layout,
		     const struct event_plan *plan, const struct rows *rows)
{
	int64_t ts = rows_cell(rows, 0);
	uint64_t end;

	if (ts == CELL_NULL)
		return;
	lines_until(c, (uint64_t)ts);
	end = event_end(plan, rows, (uint64_t)ts);
	if (end == EVENT_NO_END || !is_of(layout, (unsigned)plan->label, rows))
		return;
	c->line.size = 0;
	field_uint(c, end);
	layout->fields(c, rows, (uint64_t)ts, end);
	if (!c->line.size)
		return;
	line_queue(c, end);
	c->rows++;
}

static int write_calls(struct classic *c, const struct classic_layout *layout, struct error *e)
{
	struct event_plan plan;
	struct rows *rows = NULL;
	uint64_t seen = 0;
	int err =
		rows_open(&rows, c->run->reader, layout->table, ~0ull, c->run->from, c->run->to, e);

	event_plan_make(&plan, layout->table);
	while (!err && (err = rows_next(rows, e)) > 0) {
		take_row(c, layout, &plan, rows);
		err = c->error ? error_set(e, c->error, "out of memory") : 0;
		if (!(++seen % EXPORT_PROGRESS_ROWS))
			export_progress(c->request, EXPORT_PROGRESS_ROWS);
		if (c->out->error)
			break; /* told when the output is finished */
	}
	export_progress(c->request, seen % EXPORT_PROGRESS_ROWS);
	lines_until(c, UINT64_MAX);
	rows_close(rows);
	return err;
}

static int write_layout(const struct export_request *request, const struct classic_layout *layout,
			struct output *out, struct export_result *result, struct error *e)
{
	struct classic c = { .request = request, .run = &request->runs[0], .out = out };
	int err;

	if (layout->header) {
		output_append(out, layout->header, strlen(layout->header));
		output_append(out, "\n", 1);
	}
	if (layout->write)
		err = layout->write(&c, e);
	else
		err = write_calls(&c, layout, e);
	err = export_settle(result, err, e);
	if (!err && c.error)
		err = error_set(e, c.error, "out of memory");
	result->rows += c.rows;
	buf_free(&c.line);
	buf_free(&c.queue);
	buf_free(&c.scratch);
	return err;
}

static void note_empty(char *text, size_t size, const char *name)
{
	snprintf(text + strlen(text), size - strlen(text), "%s%s",
		 *text ? ", " : "no lines in: ", name);
}

int classic_write(const struct export_request *request, struct export_result *result,
		  struct error *e)
{
	char empty[512] = "";
	struct folder folder;
	int err = folder_open(&folder, request, e);

	for (size_t i = 0; i < classic_layout_count && !err; i++) {
		struct output *out;
		uint64_t before = result->rows;

		if (!(request->tables >> classic_layouts[i].table & 1))
			continue;
		out = folder_add(&folder, classic_layouts[i].name, e);
		if (!out) {
			err = -EIO;
			break;
		}
		err = write_layout(request, &classic_layouts[i], out, result, e);
		if (!err)
			err = folder_finish(&folder, out, e);
		if (result->rows == before)
			note_empty(empty, sizeof(empty), classic_layouts[i].name);
	}
	if (!err)
		err = folder_commit(&folder, e);
	result->bytes = folder.total;
	folder_free(&folder);
	if (!err && *empty && request->note)
		request->note(request->data, empty);
	return err;
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
