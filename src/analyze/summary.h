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
	uint64_t first_ts, last_end; /* of its rows; 0 without time or rows */
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
	int64_t drift_ns;
	double drift_ppm;
};

/* The time in which nothing was lost. Holes that overlap count once. */
struct summary_coverage {
	uint64_t holes;
	uint64_t hole_ns, longest_ns;
	double share; /* 0 to 1, of the recording's length */
};

/* What reads and writes of block devices moved, and of which files. */
struct summary_block {
	uint64_t bytes;
	uint64_t file_bytes; /* whose file is known */
};

struct summary {
	const char *path;
	uint64_t bytes;
	uint32_t format;
	bool complete;
	bool live;	    /* still being recorded */
	const char *damage; /* NULL: none */

	/* Facts that the recorder stated; NULL where it did not. */
	const char *version, *host, *kernel, *machine, *cpus, *user, *cwd;
	const char *command, *target, *pids, *exit_status, *stop_reason;
	const char *only_comm, *only_cgroup, *only_path; /* what was asked to be kept alone */
	const char *layers;				 /* separated by commas */
	struct summary_absence *absent;
	size_t absent_count;
	const char *buffer_bytes;
	const char *cpu_ns,
		*start_cpu_ns; /* of the recorder, and how much of it before the start */

	struct span span;
	bool has_utc;
	uint64_t start_utc, end_utc;

	uint64_t rows; /* of all tables */
	struct summary_table tables[TABLE_COUNT];
	uint64_t lost;
	struct summary_loss *losses;
	size_t loss_count;
	struct summary_clock clock;
	struct summary_coverage coverage;
	struct summary_block block;
};

/* Checks every chunk of the file on the way. */
int summary_load(struct summary *summary, const char *path, struct reader *reader,
		 const struct dims *dims, struct error *e);
void summary_free(struct summary *summary);

#endif
