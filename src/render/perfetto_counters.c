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

/* Room for a series' name: what it is about, whose it is, and the column. */
#define SERIES_SIZE (EVENT_KEYS_SIZE + 256)

/* What tells one series of a table from another, as a text. */
static void series_name(const struct event_row *event, char out[SERIES_SIZE])
{
	bool by_thread = event->plan->tid >= 0;
	int64_t whose = by_thread ? event->tid : event->pid;
	char keys[EVENT_KEYS_SIZE];
	int used = 0;

	event_describe_keys(event, keys);
	*out = 0;
	if (event->plan->label >= 0)
		used = snprintf(out, SERIES_SIZE, "%.*s", (int)event->name_size, event->name);
	if (*keys && used < SERIES_SIZE)
		used += snprintf(out + used, SERIES_SIZE - (size_t)used, "%s%s", used ? " " : "",
				 keys);
	if (whose != CELL_NULL && used < SERIES_SIZE)
		snprintf(out + used, SERIES_SIZE - (size_t)used, "%s%s %" PRId64, used ? " " : "",
			 by_thread ? "tid" : "pid", whose);
}

/* A counter track for each number among the arguments. */
static void series_describe(struct perfetto *p, const struct event_plan *plan, const char *series,
			    uint64_t first)
{
	uint64_t parent = track_group(p, schema_title(plan->schema));
	char name[SERIES_SIZE + 64];

	for (unsigned i = 0; i < plan->argument_count; i++) {
		const struct event_argument *argument = &plan->arguments[i];

		if (!event_argument_is_number(argument) || argument->role == ROLE_KEY)
			continue;
		snprintf(name, sizeof(name), "%s%s%s", series, *series ? " " : "", argument->name);
		track_add_counter(p, first + argument->column, parent, name,
				  plan->schema->columns[argument->column].unit);
	}
}

/* The first of the series' tracks, one for each column; 0: no memory. */
static uint64_t series_find(struct perfetto *p, const struct event_row *event)
{
	const struct schema_table *schema = event->plan->schema;
	char series[SERIES_SIZE], key[SERIES_SIZE + 64];
	uint64_t *value, first;
	bool fresh;
	int size;

	series_name(event, series);
	size = snprintf(key, sizeof(key), "%s\n%s", schema_title(schema), series);
	value = track_key(p, key, (size_t)size, &fresh);
	if (!value)
		return 0;
	if (!fresh)
		return *value;
	*value = first = p->next_track;
	p->next_track += schema->column_count;
	series_describe(p, event->plan, series, first);
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

void counters_take(struct perfetto *p, const struct event_row *event)
{
	const struct event_plan *plan = event->plan;
	uint64_t first = series_find(p, event);

	for (unsigned i = 0; first && i < plan->argument_count; i++) {
		const struct event_argument *argument = &plan->arguments[i];
		int64_t cell = rows_cell(event->rows, argument->column);

		if (cell == CELL_NULL || !event_argument_is_number(argument) ||
		    argument->role == ROLE_KEY)
			continue;
		counter_write(p, first + argument->column, event->ts, argument->type == TYPE_REAL,
			      cell);
	}
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
	int dir = rows_name(rows, column_io_dir);

	throughput_advance(p, ts);
	if (returned == CELL_NULL || returned < 0)
		return;
	if (dir == DIRECTION_R || dir == DIRECTION_C)
		p->throughput.bytes[0] += (uint64_t)returned;
	if (dir == DIRECTION_W || dir == DIRECTION_C)
		p->throughput.bytes[1] += (uint64_t)returned;
}

void throughput_end(struct perfetto *p)
{
	throughput_advance(p, p->throughput.start + 2 * THROUGHPUT_NS);
}
