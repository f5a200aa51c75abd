/* A recording in many files, the oldest of which are dropped: run.strata becomes run.000001.strata, run.000002.strata, ...,
 * each a trace by itself. All of them together stay below a size, or reach back for a time.
 *
 *     current ──▶ closing, for a moment: names may still come ──▶ closed ──▶ dropped
 *
 * The session's thread calls these.
 */
#ifndef STRATA_CAPTURE_SERIES_H
#define STRATA_CAPTURE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/output.h"
#include "store/kept.h"
#include "store/writer.h"

#define SERIES_LEAST_BYTES ((uint64_t)1 << 20)
#define SERIES_LEAST_TIME  ((uint64_t)2 * 1000000000)

struct series;

struct series_config {
	struct output_place place; /* the name that those of the files are made of, and for whom */
	uint64_t most_bytes, most_time; /* 0: no limit */
};

/* What the files so far have come to. */
struct series_counts {
	uint64_t segment;			       /* number of the current one */
	uint64_t kept_segments, kept_rows, kept_bytes; /* in those before it that are there */
	uint64_t dropped_segments, dropped_rows;
};

/* Refuses (-EEXIST) where there are files of such names, unless force is set: then they go. */
int series_open(struct series **series, const struct series_config *config, struct error *e);
void series_close(struct series *series);

struct kept *series_kept(const struct series *series);
struct series_counts series_counts(const struct series *series);
const char *series_path(const struct series *series); /* of the current file */

/* Makes the next file, and a writer for it; it is the current one from then on. */
int series_next(struct series *series, struct writer **writer, struct error *e);

/* The size that a file has when the next one is to begin, and the time; UINT64_MAX: none. */
uint64_t series_segment_bytes(const struct series *series);
uint64_t series_segment_end(const struct series *series);

/* Takes over the writer of the file before the current one, to close it in a moment. */
void series_retire(struct series *series, struct writer *writer, uint64_t now);

/* Closes the file that has ended when it is time, or at once, and drops the oldest ones; size: of the current one. */
int series_tidy(struct series *series, uint64_t now, uint64_t size, bool at_once, struct error *e);

#endif
