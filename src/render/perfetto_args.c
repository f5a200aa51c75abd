/* Names and arguments of the Perfetto export. Names of events and of arguments, and the paths of files, are
 * interned: told once, then a small number.
 */
#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "render/perfetto.h"
#include "store/paths.h"

static void interned_write(struct perfetto *p, unsigned field, uint64_t iid, const char *text,
			   size_t size)
{
	uint8_t *packet, *data, *entry;
	uint8_t *at = packet_begin(p, &packet);

	data = proto_open(&at, PACKET_INTERNED_DATA);
	entry = proto_open(&at, field);
	proto_uint(&at, INTERNED_IID, iid);
	proto_bytes(&at, INTERNED_TEXT, text, size);
	proto_close(&at, entry);
	proto_close(&at, data);
	packet_end(p, at, packet);
}

/* What a track of its own tells of a span is no argument. */
static bool is_argument(const struct event_plan *plan, const struct event_argument *argument)
{
	return argument->role != ROLE_KEY || plan->calls;
}

void arguments_prepare(struct perfetto *p)
{
	uint32_t names = 0;

	for (unsigned table = 0; table < TABLE_COUNT; table++) {
		struct event_plan *plan = &p->tables[table].plan;
		const char *category = schema_tables[table].name;

		event_plan_make(plan, table);
		if (plan->class != EVENT_SPAN)
			continue;
		interned_write(p, INTERNED_CATEGORIES, table + 1, category, strlen(category));
		for (unsigned i = 0; i < plan->argument_count; i++) {
			const char *name = plan->arguments[i].name;

			p->tables[table].names[i] = 0;
			if (!is_argument(plan, &plan->arguments[i]))
				continue;
			p->tables[table].names[i] = ++names;
			interned_write(p, INTERNED_ARGUMENT_NAMES, names, name, strlen(name));
		}
	}
	interned_write(p, INTERNED_CATEGORIES, PERFETTO_WHY, "why", strlen("why"));
}

const char *text_escape(struct perfetto *p, const char *bytes, size_t *size)
{
	struct escape_text text = { bytes, *size };
	char *end;

	if (*size <= PERFETTO_MAX_TEXT && escape_is_plain(ESCAPE_SHOWN, bytes, *size))
		return bytes;
	end = escape_some(ESCAPE_SHOWN, &text, p->escaped, PERFETTO_MAX_TEXT);
	*size = (size_t)(end - p->escaped);
	return p->escaped;
}

uint32_t name_intern(struct perfetto *p, const char *bytes, size_t size)
{
	uint32_t number, before = p->names.count;
	const char *text;

	if (size > PERFETTO_MAX_TEXT)
		size = PERFETTO_MAX_TEXT;
	if (strings_add(&p->names, bytes, size, &number)) {
		p->error = -ENOMEM;
		return 0;
	}
	if (p->names.count != before) {
		text = text_escape(p, bytes, &size);
		interned_write(p, INTERNED_EVENT_NAMES, number + 1, text, size);
	}
	return number + 1;
}

uint32_t name_of_event(struct perfetto *p, const struct event_row *event)
{
	const char *bytes = event->name;
	size_t size = event->name_size;
	unsigned slot;

	if (!size || size > sizeof(p->name_cache->bytes))
		return name_intern(p, bytes, size);
	slot = ((unsigned char)bytes[0] * 7u + (unsigned char)bytes[size - 1] * 3u +
		(unsigned char)bytes[size / 2] + (unsigned)size * 5u) %
	       64;
	if (p->name_cache[slot].size != size || memcmp(p->name_cache[slot].bytes, bytes, size)) {
		p->name_cache[slot].iid = name_intern(p, bytes, size);
		p->name_cache[slot].size = (uint8_t)size;
		memcpy(p->name_cache[slot].bytes, bytes, size);
	}
	return p->name_cache[slot].iid;
}

/* The iid of a file's path, interned when first met; 0: it has none. */
static uint64_t path_iid(struct perfetto *p, int64_t file)
{
	bool fresh;
	uint64_t *iid = map_add(&p->files, (uint64_t)file, &fresh);
	const char *path;
	size_t size;

	if (!iid) {
		p->error = -ENOMEM;
		return 0;
	}
	if (!fresh)
		return *iid;
	path = dims_path(p->run->dims, file, &size);
	if (path) {
		*iid = p->files.count;
		path = text_escape(p, path, &size);
		interned_write(p, INTERNED_ARGUMENT_TEXTS, *iid, path, size);
	}
	return *iid;
}

void arguments_intern(struct perfetto *p, const struct event_row *event)
{
	const struct event_plan *plan = event->plan;

	for (unsigned i = 0; i < plan->argument_count; i++) {
		int64_t file;

		if (!event_argument_is_path(&plan->arguments[i]))
			continue;
		file = rows_cell(event->rows, plan->arguments[i].column);
		if (file != CELL_NULL)
			path_iid(p, file);
	}
}

static void argument_text(struct perfetto *p, uint8_t **at, uint32_t name, const char *bytes,
			  size_t size)
{
	uint8_t *argument = proto_open(at, EVENT_ARGUMENT);

	proto_uint(at, ARGUMENT_NAME, name);
	bytes = text_escape(p, bytes, &size);
	proto_bytes(at, ARGUMENT_TEXT, bytes, size);
	proto_close(at, argument);
}

static void argument_fs_path(struct perfetto *p, uint8_t **at, uint32_t name,
			     const struct rows *rows)
{
	struct dims_text path;

	if (path_of_fs_row(p->run->dims, rows, &p->scratch, &path))
		p->error = -ENOMEM;
	else if (path.bytes)
		argument_text(p, at, name, path.bytes, path.size);
}

/* By the file's path where it has one, else, in table fs, by what the call was given. */
static void argument_path(struct perfetto *p, uint8_t **at, uint32_t name,
			  const struct event_argument *argument, const struct rows *rows)
{
	int64_t file = rows_cell(rows, argument->column);
	uint64_t iid = file == CELL_NULL ? 0 : path_iid(p, file);
	uint8_t *body;

	if (!iid) {
		if (argument->kind == SHOWN_FS_PATH)
			argument_fs_path(p, at, name, rows);
		return;
	}
	body = proto_open(at, EVENT_ARGUMENT);
	proto_uint(at, ARGUMENT_NAME, name);
	proto_uint(at, ARGUMENT_TEXT_IID, iid);
	proto_close(at, body);
}

static inline void argument_number(uint8_t **at, uint32_t name, unsigned type, int64_t cell)
{
	uint8_t *body = proto_open(at, EVENT_ARGUMENT);

	proto_uint(at, ARGUMENT_NAME, name);
	switch (type) {
	case TYPE_UINT: proto_uint(at, ARGUMENT_UINT, (uint64_t)cell); break;
	case TYPE_BOOL: proto_uint(at, ARGUMENT_BOOL, cell != 0); break;
	case TYPE_REAL: proto_fixed64(at, ARGUMENT_DOUBLE, (uint64_t)cell); break;
	default: proto_int(at, ARGUMENT_INT, cell); break;
	}
	/* No number takes more bytes than the one that holds its length can tell. */
	body[-1] = (uint8_t)(*at - body);
}

static void argument_cell(struct perfetto *p, uint8_t **at, uint32_t name,
			  const struct event_argument *argument, const struct rows *rows)
{
	int64_t cell = rows_cell(rows, argument->column);
	const char *text;
	size_t size;

	if (cell == CELL_NULL)
		return;
	if (argument->type != TYPE_TEXT && argument->type != TYPE_NAME) {
		argument_number(at, name, argument->type, cell);
		return;
	}
	text = rows_text(rows, argument->column, &size);
	if (text)
		argument_text(p, at, name, text, size);
}

void arguments_write(struct perfetto *p, uint8_t **at, const struct event_row *event)
{
	const struct event_plan *plan = event->plan;
	const uint32_t *names = p->tables[plan->schema - schema_tables].names;

	for (unsigned i = 0; i < plan->argument_count; i++) {
		const struct event_argument *argument = &plan->arguments[i];

		if (!names[i])
			continue;
		if (event_argument_is_path(argument))
			argument_path(p, at, names[i], argument, event->rows);
		else
			argument_cell(p, at, names[i], argument, event->rows);
	}
}
