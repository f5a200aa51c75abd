/* Lines of the classic layouts: their fields, and their order. A call's line is dated at its end, but rows come
 * by their start: a line waits in a heap until the rows have reached its time.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/escape.h"
#include "base/units.h"
#include "render/classic.h"

struct queued {
	uint64_t ts, number;
	char *text;
	size_t size;
};

static char *line_room(struct classic *c, size_t size)
{
	char *room = buf_reserve(&c->line, size + 1);

	if (!room)
		c->error = -ENOMEM;
	return room;
}

static void line_took(struct classic *c, char *end)
{
	*end++ = ' ';
	c->line.size = (size_t)((uint8_t *)end - c->line.data);
}

void field_uint(struct classic *c, uint64_t value)
{
	char *room = line_room(c, DIGITS_MAX);

	if (room)
		line_took(c, digits_put(room, value));
}

void field_cell(struct classic *c, int64_t cell)
{
	char *room = line_room(c, DIGITS_MAX + 1);

	if (!room)
		return;
	if (cell == CELL_NULL) {
		*room = '-';
		line_took(c, room + 1);
	} else {
		line_took(c, digits_put_signed(room, cell));
	}
}

void field_number(struct classic *c, int64_t cell)
{
	field_cell(c, cell == CELL_NULL ? EXPORT_NO_TASK : cell);
}

void field_pid(struct classic *c, const struct rows *rows, unsigned pid, unsigned host_pid)
{
	int64_t cell = rows_cell(rows, pid);

	field_number(c, cell == CELL_NULL ? rows_cell(rows, host_pid) : cell);
}

void field_hex(struct classic *c, int64_t cell)
{
	if (cell == CELL_NULL || (cell < 0 && cell >= -4095))
		field_cell(c, cell);
	else
		field_printf(c, "0x%llx", (unsigned long long)cell);
}

void field_text(struct classic *c, const char *bytes, size_t size)
{
	char *room;
	int err;

	if (!bytes) {
		bytes = "-";
		size = 1;
	} else if (!c->request->raw && size == 1 && *bytes == '-') {
		field_printf(c, "\\x2d"); /* a name, and not one that is unknown */
		return;
	} else if (!c->request->raw && !size) {
		bytes = "\"\"";
		size = 2;
	}
	if (!c->request->raw)
		err = escape_append(&c->line, ESCAPE_FIELD, bytes, size);
	else if (c->out->terminal)
		err = escape_append(&c->line, ESCAPE_TERMINAL, bytes, size);
	else
		err = buf_append(&c->line, bytes, size);
	if (err)
		c->error = -ENOMEM;
	room = line_room(c, 0);
	if (room)
		line_took(c, room);
}

void field_row_text(struct classic *c, const struct rows *rows, unsigned column)
{
	size_t size;
	const char *text = rows_text(rows, column, &size);

	field_text(c, text, size);
}

void field_comm(struct classic *c, int64_t tid, uint64_t ts)
{
	const char *comm = NULL;
	size_t size = 0;

	if (tid != CELL_NULL)
		comm = dims_comm(c->run->dims, tid, ts, &size);
	field_text(c, comm, size);
}

bool classic_local(struct classic *c, uint64_t ts, uint64_t *ns)
{
	uint64_t realtime;
	time_t second;

	if (dims_utc(c->run->dims, ts, &realtime))
		return false;
	*ns = realtime % NS_PER_SECOND;
	second = (time_t)(realtime / NS_PER_SECOND);
	if (!c->has_local || c->second != realtime / NS_PER_SECOND) {
		c->second = realtime / NS_PER_SECOND;
		c->has_local = localtime_r(&second, &c->local) != NULL;
	}
	return c->has_local;
}

void classic_clock(struct classic *c, uint64_t ts, char out[16])
{
	uint64_t ns;

	if (classic_local(c, ts, &ns))
		snprintf(out, 16, "%02d:%02d:%02d", c->local.tm_hour, c->local.tm_min,
			 c->local.tm_sec);
	else
		strcpy(out, "-");
}

static char *put_padded(char *at, unsigned value, unsigned digits)
{
	for (unsigned i = digits; i--; value /= 10)
		at[i] = (char)('0' + value % 10);
	return at + digits;
}

void field_time(struct classic *c, uint64_t ts)
{
	char *at = line_room(c, 40);
	uint64_t ns;

	if (!at)
		return;
	if (!classic_local(c, ts, &ns)) {
		field_text(c, NULL, 0);
		return;
	}
	at = put_padded(at, (unsigned)c->local.tm_year + 1900, 4);
	*at++ = '-';
	at = put_padded(at, (unsigned)c->local.tm_mon + 1, 2);
	*at++ = '-';
	at = put_padded(at, (unsigned)c->local.tm_mday, 2);
	*at++ = 'T';
	at = put_padded(at, (unsigned)c->local.tm_hour, 2);
	*at++ = ':';
	at = put_padded(at, (unsigned)c->local.tm_min, 2);
	*at++ = ':';
	at = put_padded(at, (unsigned)c->local.tm_sec, 2);
	*at++ = '.';
	line_took(c, put_padded(at, (unsigned)ns, 9));
}

void field_printf(struct classic *c, const char *format, ...)
{
	char text[256], *room;
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	room = line_room(c, (size_t)size);
	if (room) {
		memcpy(room, text, (size_t)size);
		line_took(c, room + size);
	}
}

/* ---- order ---- */

static bool comes_first(const struct queued *a, const struct queued *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->number < b->number;
}

static void queue_swap(struct queued *items, size_t a, size_t b)
{
	struct queued kept = items[a];

	items[a] = items[b];
	items[b] = kept;
}

static void queue_pop(struct classic *c)
{
	struct queued *items = (struct queued *)c->queue.data;
	size_t count = c->queue.size / sizeof(*items) - 1, at = 0;

	items[0] = items[count];
	c->queue.size -= sizeof(*items);
	for (;;) {
		size_t least = at, child = 2 * at + 1;

		for (unsigned side = 0; side < 2; side++, child++)
			if (child < count && comes_first(&items[child], &items[least]))
				least = child;
		if (least == at)
			return;
		queue_swap(items, at, least);
		at = least;
	}
}

static void line_end(struct classic *c)
{
	if (c->line.size)
		c->line.data[c->line.size - 1] = '\n';
}

void line_write(struct classic *c)
{
	line_end(c);
	output_append(c->out, c->line.data, c->line.size);
	c->line.size = 0;
}

void line_queue(struct classic *c, uint64_t ts)
{
	struct queued line = { .ts = ts, .number = c->arrived++, .size = c->line.size };
	struct queued *items;
	size_t at = c->queue.size / sizeof(line);

	line_end(c);
	line.text = malloc(line.size);
	if (!line.text || buf_append(&c->queue, &line, sizeof(line))) {
		free(line.text);
		c->error = -ENOMEM;
		return;
	}
	memcpy(line.text, c->line.data, line.size);
	c->line.size = 0;
	items = (struct queued *)c->queue.data;
	for (; at && comes_first(&items[at], &items[(at - 1) / 2]); at = (at - 1) / 2)
		queue_swap(items, at, (at - 1) / 2);
}

void lines_until(struct classic *c, uint64_t ts)
{
	while (c->queue.size) {
		struct queued *first = (struct queued *)c->queue.data;

		if (first->ts > ts)
			return;
		output_append(c->out, first->text, first->size);
		free(first->text);
		queue_pop(c);
	}
}
