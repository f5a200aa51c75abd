/* The dimensions of a trace, loaded whole: files by id, threads by (tid, time), the facts of the run,
 * and the way from boot time to UTC. Strings belong to the dims and live as long as they do.
 */
#ifndef STRATA_STORE_DIMS_H
#define STRATA_STORE_DIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "schema/schema.h"
#include "store/clocks.h"
#include "store/reader.h"
#include "store/threads.h"

struct dims;

struct dims_text {
	const char *bytes; /* NULL: null */
	size_t size;
};

static inline bool dims_text_is(const struct dims_text *text, const char *word)
{
	return text->bytes && text->size == strlen(word) && !memcmp(text->bytes, word, text->size);
}

struct file_row {
	int64_t file; /* the one id under which it is known */
	int64_t inode, generation;
	struct dims_text path, host_path, dev, fs, kind;
};

static inline bool file_row_is(const struct file_row *row, enum file_kind kind)
{
	return dims_text_is(&row->kind, file_kind_names.names[kind]);
}

int dims_open(struct dims **dims, struct reader *reader, struct error *e);
void dims_close(struct dims *dims);

const struct threads *dims_threads(const struct dims *dims); /* lives as long as the dims */

/* The rows of table file, one for each known file, in order of id. */
size_t dims_file_count(const struct dims *dims);
const struct file_row *dims_file_row(const struct dims *dims, size_t i);

/* A file met again after it fell out of the kernel side's memory has a second id there; rows may carry
 * either, and this gives the one id under which the file is known. */
int64_t dims_file(const struct dims *dims, int64_t file);
const struct file_row *dims_find_file(const struct dims *dims, int64_t file); /* NULL: unknown */
const char *dims_path(const struct dims *dims, int64_t file, size_t *size);   /* NULL: unknown */

/* The name that the thread had at that time, as threads_find() tells it; NULL: unknown. */
const char *dims_comm(const struct dims *dims, int64_t tid, uint64_t ts, size_t *size);

/* The last value stated for a fact of the run; NULL: none. */
const char *dims_run(const struct dims *dims, const char *key);

/* All facts, in the order in which they were stated. */
size_t dims_fact_count(const struct dims *dims);
const char *dims_fact(const struct dims *dims, size_t i, const char **value); /* gives the key */

const struct clocks *dims_clocks(const struct dims *dims); /* lives as long as the dims */

/* CLOCK_REALTIME at a boot time, as clocks_utc() tells it. -ENODATA without any reading. */
int dims_utc(const struct dims *dims, uint64_t ts, uint64_t *realtime);

#endif
