/* What a trace holds, as one struct: the model behind `strata info`. Texts belong to the dims and
 * the reader, which must outlive it; summary_free() releases the rest.
 */
#ifndef STRATA_ANALYZE_SUMMARY_H
#define STRATA_ANALYZE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "schema/layers.h"
#include "schema/schema.h"
#include "store/dims.h"
#include "store/reader.h"
#include "store/times.h"

struct summary_table {
	uint64_t rows;
	uint64_t bytes;		     /* in the file */
	double bytes_a_row;	     /* NAN without rows */
	uint64_t first_ts, last_end; /* of its rows; 0 without time or rows */
	bool timed;		     /* it has rows, and they have a time */
};

/* What this recording cannot tell: a layer, or a part of one, as in `io.missed`. */
struct summary_absence {
	const char *what, *why;
};

struct summary_loss {
	char layer[32];
	char reason[64];
	uint64_t count;
};

/* How the wall clock moved against boot time between the first and the last reading. */
struct summary_clock {
	uint64_t readings;
	uint64_t steps;	  /* how often it was set, ... */
	int64_t step_ns;  /* ... and by how much in all */
	int64_t drift_ns; /* without that */
	double drift_ppm;
};

/* The time in which nothing was lost. Holes that overlap count once. */
struct summary_coverage {
	uint64_t holes;
	uint64_t hole_ns, longest_ns;
	double share;	/* 0 to 1, of the recording's length */
	double percent; /* the same rounded down to hundredths: a hole never shows as 100 */
};

/* When the job had switched the recording off: what happened then is not known. */
struct summary_off {
	uint64_t windows;
	uint64_t ns;
	uint64_t last_ts; /* of a window: each layer tells of it */
};

/* What reads and writes of block devices moved, and of which files. */
struct summary_block {
	uint64_t bytes;
	uint64_t file_bytes; /* whose file is known */
	double percent;	     /* that is of them, rounded down to hundredths; NAN: no bytes */
};

/* How whole the file is. */
enum summary_state {
	SUMMARY_COMPLETE,
	SUMMARY_DAMAGED,
	SUMMARY_LIVE,
	SUMMARY_KILLED,
	SUMMARY_UNWRITTEN, /* its recorder could write no more, and said so */
};

/* A fact that is a number. */
struct summary_number {
	bool known;
	uint64_t value; /* 0 when not known */
};

struct summary {
	const char *path;
	uint64_t bytes;
	uint32_t format;
	bool complete;
	bool live;	    /* still being recorded */
	const char *damage; /* NULL: none */
	enum summary_state state;

	/* Facts that the recorder stated; NULL or not known where it did not. */
	const char *version, *host, *kernel, *machine, *user, *cwd;
	const char *command, *target, *pids;
	const char *stop_reason; /* of a trace that could not be written to its end, why */
	const char *only_comm, *only_cgroup, *only_path; /* what was asked to be kept alone */
	const char *exit_status;			 /* as stated: 0, signal 9 */
	struct summary_number exit_code, exit_signal;	 /* one of them at most is known */
	struct summary_number segment, dropped_segments,
		dropped_rows; /* of a recording in many files: which this is, what went before it */
	struct summary_number cpus, buffer_bytes;
	struct summary_number cpu_ns,
		start_cpu_ns; /* the recorder's; what of it before the start */
	struct dims_text *layers;
	size_t layer_count;
	struct summary_absence *absent;
	size_t absent_count;

	struct span span;
	bool has_utc;
	uint64_t start_utc, end_utc;

	uint64_t rows;	    /* of all tables */
	double bytes_a_row; /* of the file; NAN without rows */
	struct summary_table tables[TABLE_COUNT];
	uint64_t unwritten; /* rows that the recorder could not write */
	uint64_t lost;
	struct summary_loss *losses;
	size_t loss_count;
	struct summary_clock clock;
	struct summary_coverage coverage;
	struct summary_off off;
	struct summary_block block;
	char failure[192]; /* stop_reason may be this */
};

/* Checks every chunk of the file on the way. */
int summary_load(struct summary *summary, const char *path, struct reader *reader,
		 const struct dims *dims, struct error *e);
/* Damage is found as the file is read: what reads on after summary_load() asks again. */
void summary_take_damage(struct summary *summary, const struct reader *reader);
void summary_free(struct summary *summary);

#endif
