/* Names and arguments of the Perfetto export. Names of events and of arguments, and the paths of files, are
 * interned: told once, then a small number. Which columns of a table become arguments follows from the
 * schema, so that a new column shows without a change here.
 */
#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "render/perfetto.h"
#include "store/paths.h"

/* Shown otherwise: as the slice's place, time, track and name, or by path. */
static bool argument_is_shown(const struct shown_column *column)
{
	static const char *const other[] = { "ts",   "dur",  "pid",   "tid", "comm",  "op",
					     "func", "name", "layer", "dev", "stream" };

	if (column->kind == SHOWN_CELL && column->type == TYPE_FILE)
		return true;
	for (unsigned i = 0; i < sizeof(other) / sizeof(*other); i++)
		if (!strcmp(column->name, other[i]))
			return true;
	return false;
}

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

static void plan_add(struct perfetto *p, struct arguments_plan *plan, unsigned table,
		     const struct shown_column *column, uint32_t *names)
{
	plan->items[plan->count++] = (struct argument){ .kind = (uint8_t)column->kind,
							.type = (uint8_t)column->type,
							.column = (uint8_t)column->column,
							.name = ++*names };
	interned_write(p, INTERNED_ARGUMENT_NAMES, *names, column->name, strlen(column->name));
	plan->wanted |= 1ull << column->column;
	if (column->kind == SHOWN_FS_PATH && table == TABLE_fs)
		plan->wanted |= PATHS_FS_COLUMNS;
}

/* Plans of all tables, and their categories: a table's number plus 1 is the iid of its name. */
int arguments_prepare(struct perfetto *p)
{
	uint32_t names = 0;

	for (unsigned table = 0; table < TABLE_COUNT; table++) {
		const struct schema_table *schema = &schema_tables[table];
		struct shown_column shown[SHOWN_MAX_COLUMNS];
		unsigned count = shown_columns(schema, shown);

		p->plans[table] = (struct arguments_plan){ 0 };
		for (unsigned i = 0; i < count; i++)
			if (!argument_is_shown(&shown[i]))
				plan_add(p, &p->plans[table], table, &shown[i], &names);
		interned_write(p, INTERNED_CATEGORIES, table + 1, schema->name,
			       strlen(schema->name));
	}
	return p->error;
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

uint32_t name_of_row(struct perfetto *p, const struct rows *rows, int column, const char *otherwise)
{
	const char *bytes = NULL;
	size_t size = 0;
	unsigned slot;

	if (column >= 0)
		bytes = rows_text(rows, (unsigned)column, &size);
	if (!bytes) {
		bytes = otherwise;
		size = strlen(otherwise);
	}
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

static bool argument_is_file(const struct argument *argument)
{
	return argument->kind == SHOWN_PATH || argument->kind == SHOWN_FS_PATH ||
	       argument->type == TYPE_PATH;
}

void arguments_intern(struct perfetto *p, const struct arguments_plan *plan,
		      const struct rows *rows)
{
	for (unsigned i = 0; i < plan->count; i++) {
		int64_t file;

		if (!argument_is_file(&plan->items[i]))
			continue;
		file = rows_cell(rows, plan->items[i].column);
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
static void argument_path(struct perfetto *p, uint8_t **at, const struct argument *argument,
			  const struct rows *rows)
{
	int64_t file = rows_cell(rows, argument->column);
	uint64_t iid = file == CELL_NULL ? 0 : path_iid(p, file);
	uint8_t *body;

	if (!iid) {
		if (argument->kind == SHOWN_FS_PATH)
			argument_fs_path(p, at, argument->name, rows);
		return;
	}
	body = proto_open(at, EVENT_ARGUMENT);
	proto_uint(at, ARGUMENT_NAME, argument->name);
	proto_uint(at, ARGUMENT_TEXT_IID, iid);
	proto_close(at, body);
}

static inline void argument_number(uint8_t **at, const struct argument *argument, int64_t cell)
{
	uint8_t *body = proto_open(at, EVENT_ARGUMENT);

	proto_uint(at, ARGUMENT_NAME, argument->name);
	switch (argument->type) {
	case TYPE_UINT: proto_uint(at, ARGUMENT_UINT, (uint64_t)cell); break;
	case TYPE_BOOL: proto_uint(at, ARGUMENT_BOOL, cell != 0); break;
	case TYPE_REAL: proto_fixed64(at, ARGUMENT_DOUBLE, (uint64_t)cell); break;
	default: proto_int(at, ARGUMENT_INT, cell); break;
	}
	/* No number takes more bytes than the one that holds its length can tell. */
	body[-1] = (uint8_t)(*at - body);
}

void arguments_write(struct perfetto *p, uint8_t **at, const struct arguments_plan *plan,
		     const struct rows *rows)
{
	for (unsigned i = 0; i < plan->count; i++) {
		const struct argument *argument = &plan->items[i];
		int64_t cell;
		const char *text;
		size_t size;

		if (argument_is_file(argument)) {
			argument_path(p, at, argument, rows);
			continue;
		}
		cell = rows_cell(rows, argument->column);
		if (cell == CELL_NULL)
			continue;
		if (argument->type == TYPE_TEXT || argument->type == TYPE_NAME) {
			text = rows_text(rows, argument->column, &size);
			if (text)
				argument_text(p, at, argument->name, text, size);
		} else {
			argument_number(at, argument, cell);
		}
	}
}
