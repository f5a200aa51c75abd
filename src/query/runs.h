/* The traces that a query asks: opened together, each with its dimensions, its place on the clocks and the
 * texts that queries show, ready to be put into vectors.
 *
 * Everything is made by runs_open(), constant until runs_close(), and may be read by any thread. Texts
 * live as long as the runs: vectors point to them.
 */
#ifndef STRATA_QUERY_RUNS_H
#define STRATA_QUERY_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "query/duckdb_api.h"
#include "store/dims.h"
#include "store/reader.h"

struct run {
	char *path; /* of the trace, as given or found */
	struct reader *reader;
	struct dims *dims;
	uint64_t start; /* of the recording, nanoseconds since boot */
	bool has_utc;
	int64_t least_offset, greatest_offset; /* UTC less boot time, over the whole recording */
	duckdb_string_t name, node;
	duckdb_string_t *paths; /* by id, of length RUN_NO_TEXT where there is none */
	size_t path_count;
	struct texts *texts;
};

#define RUN_NO_TEXT UINT32_MAX

struct runs {
	struct run *items;
	size_t count;
};

/* Opens the traces. Names of runs are made different from each other. */
int runs_open(struct runs *runs, char *const *paths, size_t count, struct error *e);
void runs_close(struct runs *runs);

/* The run of that name, or NULL. */
const struct run *runs_find(const struct runs *runs, duckdb_string_t name);

/* The file's path as shown, NULL when unknown: dims_path() by a look into an array, because it is asked once a row. */
const duckdb_string_t *run_find_path(const struct run *run, int64_t file);

static inline const duckdb_string_t *run_path(const struct run *run, int64_t file)
{
	if (__builtin_expect((uint64_t)file < run->path_count, 1))
		return run->paths[file].pointer.length == RUN_NO_TEXT ? NULL : &run->paths[file];
	return run_find_path(run, file);
}

/* Remembers whom it looked up last: one for each thread of execution. */
#define COMM_SLOTS 256
struct comm_cache {
	struct {
		int64_t tid;
		uint64_t from, to; /* times for which the answer holds; none when from > to */
		const duckdb_string_t *comm;
	} slots[COMM_SLOTS];
};

void comm_cache_clear(struct comm_cache *cache); /* before first use, and between runs */
/* Name of the thread at that time, as dims_comm() gives it; NULL: unknown. */
const duckdb_string_t *run_comm(const struct run *run, struct comm_cache *cache, int64_t tid,
				uint64_t ts);

#endif
