/* The stored columns of a part of a table, decoded as they are asked for: of a chunk, or, of the dimensions
 * thread and file, which are not scanned from the file, of all their rows in one run.
 *
 * A struct part and what it holds belong to one thread; it is reused from part to part.
 */
#ifndef STRATA_QUERY_LOAD_H
#define STRATA_QUERY_LOAD_H

#include "base/error.h"
#include "query/runs.h"
#include "schema/schema.h"

/* What can be read at once: a chunk of a run, or all rows of a dimension. */
struct part {
	const struct run *run;
	struct chunk chunk; /* of a dimension only table, rows and times are set */
};

struct loaded {
	const struct part *part;
	uint64_t has; /* columns decoded, one bit each */
	struct column columns[TABLE_MAX_COLUMNS];
};

/* Lists the parts of a table in all runs. The caller frees *parts. */
int load_list(const struct runs *runs, unsigned table, struct part **parts, size_t *count,
	      struct error *e);

void load_begin(struct loaded *loaded, const struct part *part);
/* Decodes the columns, one bit each, that are not there yet. */
int load_columns(struct loaded *loaded, uint64_t wanted, struct error *e);
void load_free(struct loaded *loaded);

#endif
