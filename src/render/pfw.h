/* The .pfw export's own parts: pfw.c reads the rows, pfw_names.c tells what hashes and threads are called, pfw_events.c
 * writes events and counters, pfw_counters.c the counters of another dialect.
 */
#ifndef STRATA_RENDER_PFW_H
#define STRATA_RENDER_PFW_H

#include <stdint.h>

#include "base/map.h"
#include "base/strings.h"
#include "render/event.h"
#include "render/export.h"
#include "render/pfw_lanes.h"
#include "render/pfw_line.h"

/* Calls of one interval, counted. */
struct pfw_counters {
	struct strings keys; /* struct counted_key each */
	struct buf sums;     /* struct counted_sum: by the numbers of the keys */
	struct strings names;
	uint64_t since; /* ts of the interval */
};

struct pfw {
	const struct export_request *request;
	const struct export_run *run;
	struct output out;
	uint64_t shift; /* from boot time to UTC */
	uint64_t next_id;
	char host[17]; /* hash, in hexadecimal */
	struct pfw_lanes lanes;
	struct map files;  /* file id -> hash of its path, 0: none */
	struct map hashes; /* told of */
	struct event_plan plans[TABLE_COUNT];
	const char *names[TABLE_COUNT][SHOWN_MAX_COLUMNS]; /* of their arguments here */
	struct pfw_counters counters;			   /* with the request's counter_interval */
	struct buf scratch;
	int error; /* -ENOMEM, for good */
};

/* Begins an object with what all have. */
void pfw_begin_line(struct pfw *w, struct pfw_line *line, const char *name, size_t size,
		    const char *category);
void pfw_put_thread(struct pfw_line *line, uint64_t pid, uint64_t tid);

/* ---- pfw_names.c: dictionary rows, each told before the first row that needs it ---- */

void pfw_name_host(struct pfw *w);
void pfw_name_thread(struct pfw *w, uint64_t pid, int64_t tid, uint64_t ts);
/* The hash of the path that the argument names; 0: none. */
uint64_t pfw_hash_path(struct pfw *w, const struct event_argument *argument,
		       const struct rows *rows);

/* ---- pfw_events.c ---- */

/* Makes the plans of all tables. */
void pfw_prepare(struct pfw *w);
void pfw_take_span(struct pfw *w, const struct event_row *event);
void pfw_take_sample(struct pfw *w, const struct event_row *event);

/* ---- pfw_counters.c ---- */

/* A row of io, fs, mem, call or counter. */
void pfw_counters_take(struct pfw *w, const struct event_row *row);
void pfw_counters_flush(struct pfw *w);
void pfw_counters_free(struct pfw_counters *counters);

#endif
