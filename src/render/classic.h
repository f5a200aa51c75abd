/* The classic text layouts: what their files share. classic.c is the driver, classic_layouts.c says what the columns of
 * each are; classic_lines.c puts lines together and in order; classic_cpu.c, classic_gpu.c and classic_pids.c write
 * what looks like mpstat, nvidia-smi pmon and ps.
 */
#ifndef STRATA_RENDER_CLASSIC_H
#define STRATA_RENDER_CLASSIC_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"
#include "render/export.h"
#include "render/output.h"
#include "store/rows.h"

struct classic {
	const struct export_request *request;
	const struct export_run *run;
	struct output *out;
	uint64_t rows;	  /* written */
	struct buf line;  /* under way */
	struct buf queue; /* heap of lines by time and order of arrival */
	uint64_t arrived;
	struct buf scratch;
	int error; /* -ENOMEM, for good */

	/* The second whose local time is known. */
	uint64_t second;
	struct tm local;
	bool has_local;
};

struct classic_layout {
	const char *name;
	const char *header; /* NULL: none */
	unsigned table;
	/* Of the table's rows, only calls of these families (one bit each), or this one; none: all rows. */
	uint32_t families;
	enum syscall call;
	bool direct; /* and no operation that was handed over in a queue */
	/* Puts the fields after TIMESTAMP together, or empties the line. NULL: the layout has a writer of its own. */
	void (*fields)(struct classic *c, const struct rows *rows, uint64_t ts, uint64_t end);
	int (*write)(struct classic *c, struct error *e);
};

extern const struct classic_layout classic_layouts[];
extern const size_t classic_layout_count;

/* ---- classic_lines.c: fields are followed by a space, and the last one by the end of the line ---- */

void field_uint(struct classic *c, uint64_t value);
void field_cell(struct classic *c, int64_t cell); /* null: - */
void field_hex(struct classic *c, int64_t cell); /* an address; a negative one is an error number */
void field_text(struct classic *c, const char *bytes, size_t size); /* NULL: - */
void field_time(struct classic *c, uint64_t ts); /* YYYY-MM-DDTHH:MM:SS.nnnnnnnnn */
void field_printf(struct classic *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the line and holds it until no line that is still to come can be earlier. */
void line_queue(struct classic *c, uint64_t ts);
void line_write(struct classic *c);		  /* ends and writes it at once */
void lines_until(struct classic *c, uint64_t ts); /* writes the lines up to that time */
bool classic_local(struct classic *c, uint64_t ts,
		   uint64_t *ns); /* fills c->local; false: no clock */

/* ---- the layouts that are no plain list of calls ---- */

int classic_cpu(struct classic *c, struct error *e);
int classic_gpu(struct classic *c, struct error *e);
int classic_pids(struct classic *c, struct error *e);

#endif
