/* The native Perfetto trace: reads the rows of all tables in one order of time and gives each to the part
 * that writes it. Memory is bounded by what is under way at a time, by the threads and by the names, not by the
 * number of rows; but for the ledger, which is made of all rows of sched.
 */
#include "render/perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "store/merge.h"

enum {
	SNAPSHOT_CLOCK = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	CLOCK_ID_REALTIME = 1,
	CLOCK_ID_MONOTONIC = 3,
	CLOCK_ID_BOOTTIME = 6,

	SYSTEM_UTSNAME = 1,
	UTSNAME_SYSNAME = 1,
	UTSNAME_RELEASE = 3,
	UTSNAME_MACHINE = 4,

	SEQUENCE_CLEARED = 1,
};

uint8_t *packet_begin(struct perfetto *p, uint8_t **body)
{
	uint8_t *at = output_room(&p->out, PERFETTO_ROOM);

	*body = proto_open(&at, TRACE_PACKET);
	proto_uint(&at, PACKET_SEQUENCE, p->sequence);
	if (p->machine)
		proto_uint(&at, PACKET_MACHINE, p->machine);
	return at;
}

void packet_end(struct perfetto *p, uint8_t *at, uint8_t *body)
{
	proto_close(&at, body);
	output_advance(&p->out, at);
}

static void write_clear(struct perfetto *p)
{
	uint8_t *packet, *at = packet_begin(p, &packet);

	proto_uint(&at, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	packet_end(p, at, packet);
}

/* The kernel's release tells how task states are numbered. */
static void write_system(struct perfetto *p)
{
	const char *kernel = dims_run(p->run->dims, "kernel");
	const char *machine = dims_run(p->run->dims, "machine");
	const char *release = kernel ? strchr(kernel, ' ') : NULL;
	uint8_t *packet, *system, *utsname, *at = packet_begin(p, &packet);

	packet_time(p, &at, p->run->span.start);
	system = proto_open(&at, PACKET_SYSTEM_INFO);
	utsname = proto_open(&at, SYSTEM_UTSNAME);
	proto_string(&at, UTSNAME_SYSNAME, "Linux");
	proto_string(&at, UTSNAME_RELEASE, release ? release + 1 : "5.15.0");
	if (machine)
		proto_string(&at, UTSNAME_MACHINE, machine);
	proto_close(&at, utsname);
	proto_close(&at, system);
	packet_end(p, at, packet);
}

static void clock_write(uint8_t **at, unsigned id, uint64_t ts)
{
	uint8_t *clock = proto_open(at, SNAPSHOT_CLOCK);

	proto_uint(at, CLOCK_ID, id);
	proto_uint(at, CLOCK_TIMESTAMP, ts);
	proto_close(at, clock);
}

static void write_snapshot(struct perfetto *p, uint64_t ts, uint64_t realtime, int64_t monotonic)
{
	uint8_t *packet, *snapshot, *at = packet_begin(p, &packet);

	snapshot = proto_open(&at, PACKET_CLOCK_SNAPSHOT);
	clock_write(&at, CLOCK_ID_BOOTTIME, ts + p->shift);
	clock_write(&at, CLOCK_ID_REALTIME, realtime);
	/* The clocks of several machines cannot be told as one. */
	if (!p->shift && monotonic != CELL_NULL)
		clock_write(&at, CLOCK_ID_MONOTONIC, (uint64_t)monotonic);
	proto_uint(&at, SNAPSHOT_PRIMARY, CLOCK_ID_BOOTTIME);
	proto_close(&at, snapshot);
	packet_end(p, at, packet);
}

static void take_clock(struct perfetto *p, const struct rows *rows, uint64_t ts)
{
	int64_t realtime = rows_cell(rows, column_clock_realtime);

	if (realtime != CELL_NULL && !p->shift)
		write_snapshot(p, ts, (uint64_t)realtime, rows_cell(rows, column_clock_monotonic));
}

static void take_row(struct perfetto *p, const struct merge *merge)
{
	struct event_row event;

	if (p->flows)
		flows_advance(p, merge->ts);
	why_advance(p, merge->ts);
	switch (merge->table) {
	case TABLE_sched: sched_take(p, merge->rows, merge->ts); return;
	case TABLE_clock: take_clock(p, merge->rows, merge->ts); return;
	case TABLE_io: throughput_take(p, merge->rows, merge->ts); break;
	default: break;
	}
	event_read(&event, &p->tables[merge->table].plan, merge->rows, merge->ts);
	if (event.plan->class == EVENT_SPAN)
		slices_take(p, &event);
	else
		counters_take(p, &event);
}

/* A cap that the size passes ends the export; it says how far it would have reached. */
static int too_large(const struct perfetto *p, uint64_t ts, struct error *e)
{
	const struct export_run *run = p->run;
	uint64_t from = run->from > run->span.start ? run->from : run->span.start;
	/* What ends the trace takes a little more. */
	double fits = ts > from ? (double)(ts - from) * 0.98 : 0;
	char cap[32];

	units_format_bytes(cap, sizeof(cap), p->out.limit);
	return error_set(
		e, -EFBIG,
		"the export passes the limit of %s (--max-size) at %.3f s of '%s': choose a "
		"window (--from %.3f --to %.3f fits), fewer layers (-e), or a larger --max-size",
		cap, (double)(ts - run->span.start) / 1e9, run->path,
		(double)(from - run->span.start) / 1e9,
		((double)(from - run->span.start) + fits) / 1e9);
}

static int write_rows(struct perfetto *p, struct export_result *result, struct error *e)
{
	uint32_t tables = 1u << TABLE_sched | 1u << TABLE_clock;
	uint64_t wanted[TABLE_COUNT];
	uint64_t reported = result->rows;
	struct merge merge;
	int err;

	for (unsigned table = 0; table < TABLE_COUNT; table++) {
		wanted[table] = tables >> table & 1 ? ~0ull : p->tables[table].plan.wanted;
		if (p->tables[table].plan.class != EVENT_OTHER)
			tables |= 1u << table;
	}
	err = merge_open(&merge, p->run->reader, p->request->tables & tables, wanted, p->run->from,
			 p->run->to, e);
	while (!err && (err = merge_next(&merge, e)) > 0) {
		take_row(p, &merge);
		err = p->error ? error_set(e, p->error, "out of memory") : 0;
		if (++result->rows - reported == EXPORT_PROGRESS_ROWS) {
			export_progress(p->request, EXPORT_PROGRESS_ROWS);
			reported = result->rows;
		}
		if (output_past_limit(&p->out))
			err = too_large(p, merge.ts, e);
		else if (p->out.error)
			break; /* told when the output is closed */
	}
	export_progress(p->request, result->rows - reported);
	merge_close(&merge);
	return export_settle(result, err, e);
}

static bool has_rows(const struct export_run *run, unsigned table)
{
	struct chunk *chunks;
	struct error e;
	size_t count;

	if (reader_select(run->reader, table, run->from, run->to, &chunks, &count, &e))
		return false;
	free(chunks);
	return count;
}

/* From boot time to UTC: at the first reading of the clocks, whose offset then holds for the run. */
static int find_shift(struct perfetto *p, struct error *e)
{
	uint64_t realtime;

	if (dims_utc(p->run->dims, p->run->span.start, &realtime))
		return error_set(e, -ENODATA,
				 "'%s' has no reading of the clocks to merge it with other runs by",
				 p->run->path);
	p->shift = realtime - p->run->span.start;
	return 0;
}

static int write_run(struct perfetto *p, struct export_result *result, struct error *e)
{
	uint64_t realtime;
	int err = 0;

	if (p->request->run_count > 1)
		err = find_shift(p, e);
	if (err)
		return err;
	write_clear(p);
	write_system(p);
	if (!dims_utc(p->run->dims, p->run->span.start, &realtime))
		write_snapshot(p, p->run->span.start, realtime, CELL_NULL);
	arguments_prepare(p);
	if (p->request->tables >> TABLE_block & 1 && has_rows(p->run, TABLE_block))
		err = flows_open(p);
	if (err)
		return error_set(e, err, "out of memory");
	p->throughput.start = 0;
	why_open(p);
	err = write_rows(p, result, e);
	if (!err && result->rows)
		why_advance(p, UINT64_MAX);
	flows_close(p);
	throughput_end(p);
	sched_end(p);
	return err;
}

/* What one run leaves and the next must not see. */
static void run_free(struct perfetto *p)
{
	flows_close(p);
	why_close(p);
	sched_end(p);
	tracks_free(p);
	strings_free(&p->names);
	strings_free(&p->texts);
	map_free(&p->files);
	buf_free(&p->scratch);
	memset(p->name_cache, 0, sizeof(p->name_cache));
	memset(&p->throughput, 0, sizeof(p->throughput));
}

int perfetto_write(const struct export_request *request, struct export_result *result,
		   struct error *e)
{
	struct perfetto *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return error_set(e, -ENOMEM, "out of memory");
	p->request = request;
	p->next_track = p->next_flow = 1;
	p->out.file.fd = -1;
	p->escaped = malloc(PERFETTO_MAX_TEXT);
	err = p->escaped ? output_open(&p->out, request->output, false, &request->inputs, e)
			 : error_set(e, -ENOMEM, "out of memory");
	p->out.limit = request->max_bytes;
	for (size_t i = 0; i < request->run_count && !err; i++) {
		p->run = &request->runs[i];
		p->sequence = (uint32_t)i + 1;
		p->machine = i ? (uint32_t)i + 1 : 0;
		err = write_run(p, result, e);
		run_free(p);
	}
	if (!err)
		err = output_commit(&p->out, e);
	result->bytes = p->out.total;
	output_free(&p->out);
	free(p->escaped);
	free(p);
	return err;
}
