/* Counters of the Perfetto export: what the samplers measured, the counters of aggregate recordings, and the
 * job's throughput, which is summed from its calls.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/perfetto.h"

/* Intervals of the throughput: fine enough to see a batch, coarse enough to draw a day. */
#define THROUGHPUT_NS 100000000u

#define KEY_COUNT 4

struct counter_layout {
	const char *table;
	const char *group;
	const char *keys[KEY_COUNT]; /* columns that tell one series from another */
};

static const struct counter_layout layouts[] = {
	{ "cpu", "CPU usage", { "cpu" } },
	{ "disk", "Disk usage", { "dev" } },
	{ "job", "Job", { 0 } },
	{ "gpu", "GPU usage", { "gpu" } },
	{ "gpu_process", "GPU usage of processes", { "gpu", "pid" } },
	{ "counter", "Functions", { "func", "module", "tid" } },
};

/* NULL: the table holds no counters. */
static const struct counter_layout *layout_of(unsigned table)
{
	for (unsigned i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (!strcmp(layouts[i].table, schema_tables[table].name))
			return &layouts[i];
	return NULL;
}

static bool is_key(const struct counter_layout *layout, const char *name)
{
	for (unsigned i = 0; i < KEY_COUNT && layout->keys[i]; i++)
		if (!strcmp(layout->keys[i], name))
			return true;
	return false;
}

/* A column that is counted: a number that is neither time nor key. */
static bool is_counted(const struct counter_layout *layout, unsigned table, unsigned column)
{
	const struct schema_column *schema = &schema_tables[table].columns[column];

	if (schema->type != TYPE_UINT && schema->type != TYPE_INT && schema->type != TYPE_REAL)
		return false;
	return strcmp(schema->name, "ts") && strcmp(schema->name, "dur") &&
	       strcmp(schema->name, "pid") && strcmp(schema->name, "tid") &&
	       !is_key(layout, schema->name);
}

uint64_t counters_wanted(unsigned table)
{
	return layout_of(table) ? ~0ull : 0;
}

static void key_add(char *key, size_t size, const struct rows *rows, unsigned table,
		    const char *name)
{
	int column = schema_column_by_name(&schema_tables[table], name);
	int64_t cell = rows_cell(rows, (unsigned)column);
	size_t used = strlen(key), length;
	const char *text;

	text = rows_text(rows, (unsigned)column, &length);
	if (schema_tables[table].columns[column].type == TYPE_TEXT)
		snprintf(key + used, size - used, "%s%.*s", used ? " " : "", text ? (int)length : 1,
			 text ? text : "-");
	else if (!strcmp(name, "cpu") && cell == -1)
		snprintf(key + used, size - used, "all CPUs");
	else
		snprintf(key + used, size - used, "%s%s %" PRId64, used ? " " : "", name, cell);
}

static void series_describe(struct perfetto *p, const struct counter_layout *layout, unsigned table,
			    const char *key, uint64_t first)
{
	const struct schema_table *schema = &schema_tables[table];
	uint64_t parent = track_group(p, layout->group);
	char name[300];

	for (unsigned c = 0; c < schema->column_count; c++) {
		if (!is_counted(layout, table, c))
			continue;
		snprintf(name, sizeof(name), "%s%s%s", key, *key ? " " : "",
			 schema->columns[c].name);
		track_add_counter(p, first + c, parent, name, schema->columns[c].unit);
	}
}

/* The first of the series' tracks, one for each column; 0: no memory. */
static uint64_t series_find(struct perfetto *p, const struct counter_layout *layout, unsigned table,
			    const struct rows *rows)
{
	char key[200] = "", name[300];
	uint64_t *value, first;
	bool fresh;
	int size;

	for (unsigned i = 0; i < KEY_COUNT && layout->keys[i]; i++)
		key_add(key, sizeof(key), rows, table, layout->keys[i]);
	size = snprintf(name, sizeof(name), "%s\n%s", layout->group, key);
	value = track_key(p, name, (size_t)size, &fresh);
	if (!value)
		return 0;
	if (!fresh)
		return *value;
	*value = first = p->next_track;
	p->next_track += schema_tables[table].column_count;
	series_describe(p, layout, table, key, first);
	return first;
}

static void counter_write(struct perfetto *p, uint64_t track, uint64_t ts, bool real, int64_t cell)
{
	uint8_t *packet, *event, *at = packet_begin(p, &packet);

	packet_time(p, &at, ts);
	event = proto_open(&at, PACKET_TRACK_EVENT);
	proto_uint(&at, EVENT_TYPE, EVENT_TYPE_COUNTER);
	proto_uint(&at, EVENT_TRACK, track);
	if (real)
		proto_fixed64(&at, EVENT_COUNTER_DOUBLE, (uint64_t)cell);
	else
		proto_int(&at, EVENT_COUNTER, cell);
	proto_close(&at, event);
	packet_end(p, at, packet);
}

bool counters_take(struct perfetto *p, unsigned table, const struct rows *rows, uint64_t ts)
{
	const struct schema_table *schema = &schema_tables[table];
	const struct counter_layout *layout = layout_of(table);
	uint64_t first;

	if (!layout)
		return false;
	first = series_find(p, layout, table, rows);
	for (unsigned c = 0; first && c < schema->column_count; c++) {
		int64_t cell = rows_cell(rows, c);

		if (cell != CELL_NULL && is_counted(layout, table, c))
			counter_write(p, first + c, ts, schema->columns[c].type == TYPE_REAL, cell);
	}
	return true;
}

/* ---- throughput ---- */

static void throughput_write(struct perfetto *p)
{
	static const char *const names[] = { "read", "written" };

	for (unsigned way = 0; way < 2; way++) {
		uint64_t rate = p->throughput.bytes[way] * (NS_PER_SECOND / THROUGHPUT_NS);
		uint64_t track;

		/* A rate of 0 is worth saying once. */
		if (!rate && !p->throughput.shown[way])
			continue;
		if (!p->throughput.tracks[way]) {
			track = p->throughput.tracks[way] = p->next_track++;
			track_add_counter(p, track, track_group(p, "Throughput of calls"),
					  names[way], "bytes/s");
		}
		counter_write(p, p->throughput.tracks[way], p->throughput.start, false,
			      (int64_t)rate);
		p->throughput.shown[way] = rate != 0;
		p->throughput.bytes[way] = 0;
	}
}

/* Ends the interval under way if ts lies past it, and says so where nothing followed it. */
static void throughput_advance(struct perfetto *p, uint64_t ts)
{
	uint64_t start = ts - ts % THROUGHPUT_NS;

	if (start <= p->throughput.start)
		return;
	throughput_write(p);
	p->throughput.start += THROUGHPUT_NS;
	if (p->throughput.start < start)
		throughput_write(p);
	p->throughput.start = start;
}

void throughput_take(struct perfetto *p, const struct rows *rows, uint64_t ts)
{
	int64_t returned = rows_cell(rows, column_io_returned);
	const char *dir;
	size_t size;

	throughput_advance(p, ts);
	dir = rows_text(rows, column_io_dir, &size);
	if (returned == CELL_NULL || returned < 0 || !dir || !size)
		return;
	if (*dir == 'R' || *dir == 'C')
		p->throughput.bytes[0] += (uint64_t)returned;
	if (*dir == 'W' || *dir == 'C')
		p->throughput.bytes[1] += (uint64_t)returned;
}

void throughput_end(struct perfetto *p)
{
	throughput_advance(p, p->throughput.start + 2 * THROUGHPUT_NS);
}
