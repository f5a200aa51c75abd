/* The phases of a job: spans of its time that it named itself, in MLPerf log lines or marks. Without
 * any, the run is one phase. Spans may nest and overlap.
 *
 * From a log or marks: NAME_start begins a phase NAME and NAME_stop or NAME_end ends it; a mark with a
 * duration is a phase; any other mark begins a phase that lasts until the next mark of its name, or
 * the end. What begins and never ends lasts until the end of the run, and is said to be open.
 * Steps, iterations and batches are no phases: steps.h has them.
 */
#ifndef STRATA_ANALYZE_PHASES_H
#define STRATA_ANALYZE_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/dims.h"
#include "store/reader.h"
#include "store/times.h"

enum phase_source { PHASES_NONE, PHASES_MARKS, PHASES_MLLOG, PHASES_LOG };

extern const char *const phase_source_names[];

struct phase {
	char stem[64];	 /* epoch */
	char number[32]; /* 3, or "" */
	uint64_t start, end;
	unsigned depth; /* phases around it */
	bool open;	/* its end, or its start, was not seen */
	bool point;	/* only its beginning was marked */
};

/* A step that the job marked. */
struct marked_step {
	uint64_t start, end;
};

struct phases {
	enum phase_source source;
	struct phase *list; /* in order of start, the longer first; at least one */
	size_t count;
	struct marked_step *steps;
	size_t step_count;
	bool steps_nvtx;  /* from NVTX ranges, not marks */
	size_t lines;	  /* MLLOG lines read */
	size_t bad_lines; /* of them, those that could not be understood */
	size_t outside;	  /* of them, those of another time than the recording's */
};

/* log: a file of MLLOG lines given after the recording, or NULL. Its times are of the wall clock, so
 * that the trace needs a reading of the clocks. */
int phases_load(struct phases *phases, struct reader *reader, const struct dims *dims,
		const struct span *span, const char *log, struct error *e);
void phases_free(struct phases *phases);

/* "epoch 3" into out. */
const char *phase_label(const struct phase *phase, char *out, size_t size);

#endif
