/* The classic text layouts: what their files share. classic.c is the driver, classic_layouts.c says what the columns of
 * each are, trace_visuals.c those of the files that the scripts of that name read; classic_lines.c puts lines together and
 * in order. What is no plain list of calls has a file of its own: classic_open.c, classic_switches.c, classic_time.c, and
 * classic_cpu.c, classic_gpu.c, classic_dmon.c and classic_pids.c for what looks like mpstat, nvidia-smi pmon and dmon, and ps.
 */
#ifndef STRATA_RENDER_CLASSIC_H
#define STRATA_RENDER_CLASSIC_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"
#include "base/map.h"
#include "render/event.h"
#include "render/export.h"
#include "render/output.h"
#include "store/rows.h"

struct classic {
	const struct export_request *request;
	const struct export_run *run;
	const struct classic_layout *layout;
	struct output *out;
	uint64_t rows;	  /* written */
	uint64_t seen;	  /* rows read */
	struct buf line;  /* under way */
	struct buf queue; /* heap of lines by time and order of arrival */
	uint64_t arrived;
	struct buf scratch;
	int error; /* -ENOMEM, for good */

	/* The second whose local time is known. */
	uint64_t second;
	struct tm local;
	bool has_local;

	/* Switches: whether gaps are filled, when the last stay of each CPU ended, and the last of all. */
	bool fill;
	struct map ends;
	uint64_t latest;
};

struct classic_layout {
	const char *name;
	unsigned
		probes; /* bpftrace's banner tells of so many, which scripts pass over; 0: it was no bpftrace */
	const char *header; /* NULL: none */
	unsigned table;
	/* Of the table's rows, only calls of these families (one bit each), or this one; none: all rows. */
	uint32_t families;
	enum syscall call;
	bool direct; /* and no operation that was handed over in a queue */
	/* Puts the fields after TIMESTAMP together, or empties the line. NULL: the layout has a writer of its own. */
	void (*fields)(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end);
	int (*write)(struct classic *c, struct error *e);
	bool summed; /* cpu: only all CPUs together. gpu: only the columns that pmon had first */
};

extern const struct classic_layout classic_layouts[];
extern const size_t classic_layout_count;

/* ---- classic_lines.c: fields are followed by a space, and the last one by the end of the line ---- */

void field_uint(struct classic *c, uint64_t value);
void field_cell(struct classic *c, int64_t cell);   /* null: - */
void field_number(struct classic *c, int64_t cell); /* null: EXPORT_NO_TASK */
/* The process by strata's number, else by the machine's, else EXPORT_NO_TASK. */
void field_pid(struct classic *c, const struct rows *rows, unsigned pid, unsigned host_pid);
void field_hex(struct classic *c, int64_t cell); /* an address; a negative one is an error number */
void field_text(struct classic *c, const char *bytes, size_t size); /* NULL: - */
void field_comm(struct classic *c, int64_t tid, uint64_t ts); /* the thread's name at that time */
void field_row_text(struct classic *c, const struct rows *rows, unsigned column);
void field_time(struct classic *c, uint64_t ts); /* YYYY-MM-DDTHH:MM:SS.nnnnnnnnn */
void field_printf(struct classic *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the line and holds it until no line that is still to come can be earlier. */
void line_queue(struct classic *c, uint64_t ts);
void line_write(struct classic *c);		  /* ends and writes it at once */
void lines_until(struct classic *c, uint64_t ts); /* writes the lines up to that time */
bool classic_local(struct classic *c, uint64_t ts,
		   uint64_t *ns); /* fills c->local; false: no clock */

/* HH:MM:SS in local time, or -. */
void classic_clock(struct classic *c, uint64_t ts, char out[16]);

/* ---- classic.c ---- */

/* Whether the layout takes the row of a call; `op` is the column that tells which one. */
bool classic_takes(const struct classic_layout *layout, unsigned op, const struct rows *rows);

/* Queues the line of a row whose time ended, without asking whether the layout takes it. */
void classic_take_row(struct classic *c, const struct event_plan *plan, const struct rows *rows,
		      uint64_t ts);

/* After each row that was read: tells of progress, and whether it makes sense to go on; then after the last. */
bool classic_next(struct classic *c);
void classic_end(struct classic *c);

/* All rows of the layout's table that it takes, by its `fields`. */
int classic_write_calls(struct classic *c, struct error *e);

/* Writes these layouts into a folder, each as a file. */
int classic_write_folder(const struct export_request *request, const struct classic_layout *layouts,
			 size_t count, struct export_result *result, struct error *e);

/* ---- the layouts that are no plain list of calls ---- */

void fields_switches(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end);
int classic_switches(struct classic *c, struct error *e);
void fields_open(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end);
int classic_open(struct classic *c, struct error *e);
int classic_time_align(struct classic *c, struct error *e);
int classic_cpu(struct classic *c, struct error *e);
int classic_gpu(struct classic *c, struct error *e);
int classic_dmon(struct classic *c, struct error *e);
int classic_pids(struct classic *c, struct error *e);

#endif
