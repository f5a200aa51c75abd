/* Puts decoded columns into DuckDB's vectors.
 *
 * Numbers are copied. Texts of a chunk become one vector a chunk, which the output vectors select from.
 * Paths and names of threads are pointed to where the runs keep them. A filler belongs to one thread.
 */
#ifndef STRATA_QUERY_FILL_H
#define STRATA_QUERY_FILL_H

#include "query/columns.h"
#include "query/load.h"

struct filler;

/* NULL: out of memory. */
struct filler *filler_open(const struct query_column *columns, unsigned count);
void filler_close(struct filler *filler);

/* What is filled from now on comes from this part, of which the columns needed are loaded. 0 or -ENOMEM. */
int filler_begin(struct filler *filler, const struct loaded *loaded);

/* Fills column i of those given at opening with `count` rows from row `at` on. 0 or -ENOMEM. */
int filler_fill(struct filler *filler, unsigned i, uint32_t at, uint32_t count, duckdb_vector out);

#endif
