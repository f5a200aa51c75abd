/* The Perfetto export's own parts, which share one struct: perfetto.c reads the rows, the others write what
 * becomes of them. One thread runs it all; perfetto.c frees.
 *
 * A trace is a run of packets. Everything of one run of strata is on one packet sequence, so that names are
 * interned once; tracks have small numbers that count up over all runs.
 */
#ifndef STRATA_RENDER_PERFETTO_H
#define STRATA_RENDER_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/strings.h"
#include "render/event.h"
#include "render/export.h"
#include "render/output.h"
#include "render/proto.h"

/* Field numbers, by message, of Perfetto's protos/perfetto/trace. */
enum {
	TRACE_PACKET = 1,

	PACKET_FTRACE_EVENTS = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_MACHINE = 98,

	INTERNED_CATEGORIES = 1,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ARGUMENT_NAMES = 3,
	INTERNED_ARGUMENT_TEXTS = 29,
	INTERNED_IID = 1,
	INTERNED_TEXT = 2,

	EVENT_CATEGORY = 3,
	EVENT_ARGUMENT = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_COUNTER = 30,
	EVENT_COUNTER_DOUBLE = 44,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,

	EVENT_TYPE_BEGIN = 1,
	EVENT_TYPE_END = 2,
	EVENT_TYPE_INSTANT = 3,
	EVENT_TYPE_COUNTER = 4,

	ARGUMENT_NAME = 1,
	ARGUMENT_BOOL = 2,
	ARGUMENT_UINT = 3,
	ARGUMENT_INT = 4,
	ARGUMENT_DOUBLE = 5,
	ARGUMENT_TEXT = 6,
	ARGUMENT_TEXT_IID = 17,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_PROCESS_PID = 1,
	TRACK_PROCESS_NAME = 6,
	TRACK_THREAD_PID = 1,
	TRACK_THREAD_TID = 2,
	TRACK_THREAD_NAME = 5,
	TRACK_COUNTER_UNIT = 6,
};

/* Longer texts are cut, at a character: no path or argument that Linux takes is. */
#define PERFETTO_MAX_TEXT  16384u
#define PERFETTO_MAX_DEPTH 16 /* of slices on a thread; deeper ones go to lanes */

/* Of slices: a table's number plus 1, and this one. */
#define PERFETTO_WHY (TABLE_COUNT + 1)

/* Room that any packet with all columns of a row fits in. */
#define PERFETTO_ROOM ((size_t)(SHOWN_MAX_COLUMNS + 2) * (PERFETTO_MAX_TEXT + 64))

/* Tracks on which slices may overlap: each goes on the first that is free. */
struct lanes {
	uint64_t parent;  /* track, 0: none */
	const char *name; /* the schema's, or owned by lane_list below */
	struct buf items; /* struct lane */
};

struct lane {
	uint64_t track;
	uint64_t end; /* of its last slice; UINT64_MAX: unfinished */
};

struct table_lanes {
	const struct schema_table *table;
	struct lanes lanes;
};

struct perfetto_thread {
	int64_t tid;
	const struct thread_row *row; /* that holds now; NULL: unknown */
	uint64_t row_from, row_until;
	uint64_t track, process; /* 0: not told of yet */
	uint64_t ends[PERFETTO_MAX_DEPTH];
	unsigned depth;
	struct lanes async;
	struct buf apart; /* struct table_lanes: tables whose spans lie apart from its calls */

	/* Of its last stay on a CPU. */
	uint32_t cpu;
	uint64_t stay_end;
	uint8_t end_state; /* a letter, 0: unknown */
	bool stayed;
};

/* A slice to write: what perfetto_slice() needs of a row. */
struct slice {
	uint64_t track, ts, end; /* end UINT64_MAX: unfinished */
	uint64_t flow, flow_end; /* number of the arrow that starts or ends here, 0: none */
	uint32_t name, category;
	bool instant;
};

/* How rows of a table are written. */
struct perfetto_table {
	struct event_plan plan;
	uint32_t names[SHOWN_MAX_COLUMNS]; /* iids of its arguments' names; 0: the track tells it */
};

struct sched_cpu;
struct flows;
struct why_spans;

struct perfetto {
	const struct export_request *request;
	const struct export_run *run;
	struct output out;
	uint64_t shift; /* added to every ts: to UTC when runs are merged */
	uint32_t machine, sequence;
	uint64_t next_track; /* goes on from run to run, as next_flow does */
	uint64_t next_flow;
	int64_t last_launch; /* correlation of the gpu_op before */
	int error;	     /* -ENOMEM, for good */

	struct strings names; /* of events; the number plus 1 is the iid */
	struct strings texts; /* keys of tracks */
	struct map files;     /* file id -> iid of its path, 0: no path */
	struct map threads;   /* tid -> struct perfetto_thread * */
	struct map processes; /* pid -> track, 0: told of no more */
	struct map groups;    /* number in texts -> struct lanes * or first counter track */
	struct buf lane_list; /* struct lanes *, those in groups */
	struct perfetto_table tables[TABLE_COUNT];
	struct buf scratch; /* of paths */
	char *escaped;	    /* PERFETTO_MAX_TEXT bytes */

	struct {
		uint32_t iid;
		uint8_t size;
		char bytes[43];
	} name_cache[64];

	struct sched_cpu *cpus;
	uint32_t cpu_count;
	struct flows *flows;
	struct why_spans *why;
	struct {
		uint64_t start, bytes[2]; /* of the interval under way */
		uint64_t tracks[2];
		bool shown[2];
	} throughput; /* of reads and of writes */
};

/* ---- perfetto.c: packets ---- */

uint8_t *packet_begin(struct perfetto *p, uint8_t **body);
void packet_end(struct perfetto *p, uint8_t *at, uint8_t *body);
static inline void packet_time(const struct perfetto *p, uint8_t **at, uint64_t ts)
{
	proto_uint(at, PACKET_TIMESTAMP, ts + p->shift);
}

/* ---- perfetto_args.c: names and arguments ---- */

/* Makes the plans of all tables and tells the names of their arguments. */
void arguments_prepare(struct perfetto *p);
uint32_t name_intern(struct perfetto *p, const char *bytes, size_t size);
uint32_t name_of_event(struct perfetto *p, const struct event_row *event);
void arguments_write(struct perfetto *p, uint8_t **at, const struct event_row *event);
/* Interns, in packets of their own, the paths that the event's arguments name. */
void arguments_intern(struct perfetto *p, const struct event_row *event);
/* The text with bytes that are not UTF-8 as \xNN, as `strata dump` shows it, cut at PERFETTO_MAX_TEXT. */
const char *text_escape(struct perfetto *p, const char *bytes, size_t *size);

/* ---- perfetto_tracks.c: where a slice goes ---- */

struct perfetto_thread *thread_at(struct perfetto *p, int64_t tid, uint64_t ts);
uint64_t thread_track(struct perfetto *p, struct perfetto_thread *thread);
uint64_t process_track(struct perfetto *p, int64_t pid, uint64_t ts);
/* The track for a call of a thread: the thread's own where it nests, else a lane. */
uint64_t thread_place(struct perfetto *p, struct perfetto_thread *thread, uint64_t ts,
		      uint64_t end);
uint64_t lanes_place(struct perfetto *p, struct lanes *lanes, uint64_t ts, uint64_t end);
/* The lanes of a thread for the spans of a table. */
struct lanes *lanes_of_thread(struct perfetto *p, struct perfetto_thread *thread,
			      const struct schema_table *table);
/* The lanes of a group under a parent group, both by name; made when first asked for. */
struct lanes *lanes_find(struct perfetto *p, const char *group, const char *name);
/* What is kept under a name: 0 and fresh when first asked for; NULL: no memory. Holds until the next call. */
uint64_t *track_key(struct perfetto *p, const char *key, size_t size, bool *fresh);
uint64_t track_group(struct perfetto *p, const char *name);
uint64_t track_add(struct perfetto *p, uint64_t parent, const char *name);
void track_add_counter(struct perfetto *p, uint64_t track, uint64_t parent, const char *name,
		       const char *unit);
void tracks_free(struct perfetto *p);

/* ---- perfetto_slices.c: rows as slices ---- */

/* With the event's arguments; NULL: none. */
void slice_begin(struct perfetto *p, const struct slice *slice, const struct event_row *event);
void slice_end(struct perfetto *p, uint64_t track, uint64_t end);
void slices_take(struct perfetto *p, const struct event_row *event);

/* ---- perfetto_counters.c ---- */

void counters_take(struct perfetto *p, const struct event_row *event);
void throughput_take(struct perfetto *p, const struct rows *rows, uint64_t ts);
void throughput_end(struct perfetto *p);

/* ---- perfetto_sched.c: CPUs and thread states ---- */

void sched_take(struct perfetto *p, const struct rows *rows, uint64_t ts);
void sched_thread_ended(struct perfetto *p, const struct perfetto_thread *thread);
void sched_end(struct perfetto *p); /* and frees */

/* ---- perfetto_flows.c: from a request to the call that waited for it ---- */

struct flow_call {
	uint64_t ts, end, track;
	int64_t tid, file;
};

struct flow_request {
	uint64_t end, flow;
	int64_t tid, file;
	bool sync;
};

int flows_open(struct perfetto *p);
/* Both are kept until the time passes their end. */
void flows_add_call(struct perfetto *p, const struct flow_call *call);
void flows_add_request(struct perfetto *p, const struct flow_request *request);
void flows_advance(struct perfetto *p, uint64_t ts);
void flows_close(struct perfetto *p);

/* ---- perfetto_why.c: the ledger of the focus thread ---- */

/* Where the run cannot be judged, the other two do nothing. */
void why_open(struct perfetto *p);
void why_advance(struct perfetto *p, uint64_t ts);
void why_close(struct perfetto *p);

#endif
