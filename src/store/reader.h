/* A trace file as it is read: mapped into memory, its chunks listed, columns decoded on demand.
 *
 * The reader trusts no byte. What it finds damaged or cut off ends the file there: the chunks before
 * it are given, those after it are not, and reader_damage() says what and where. Opening fails only
 * when nothing can be read at all. One reader may be used by many threads once it is open; decoding
 * needs a struct column of each thread's own.
 */
#ifndef STRATA_STORE_READER_H
#define STRATA_STORE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "schema/schema.h"

struct reader;

/* One chunk: some rows of one table. */
struct chunk {
	uint64_t offset; /* in the file */
	uint64_t size;
	uint64_t first_ts; /* least ts of its rows; 0 in tables without time */
	uint64_t last_end; /* greatest ts + dur of its rows */
	uint32_t rows;
	uint32_t table; /* enum table_id */
};

/* A decoded column. Zeroed before first use; reused from chunk to chunk; freed with column_free(). */
struct column {
	int64_t *cells; /* CELL_NULL is null; NAME and TEXT cells number the texts below */
	uint32_t rows;
	uint32_t text_count;
	const uint32_t *text_ends; /* where each text ends in text_bytes */
	const char *text_bytes;
	struct buf cell_memory, text_memory;
	struct decoder *decoder; /* working memory of reader_decode */
	bool decoder_lent;	 /* by one who closes it */
};

int reader_open(struct reader **reader, const char *path, struct error *e);
void reader_close(struct reader *reader);

bool reader_complete(const struct reader *reader); /* false while written, or after a crash */
bool reader_live(const struct reader *reader);	   /* it was being written when it was opened */
const char *reader_damage(const struct reader *reader); /* NULL: none found so far */
/* The file was cut since it was opened: what was read of it lately may be zeros. reader_decode() fails then (-EIO), but texts
 * may lie in the mapped file: whoever has shown some asks in the end. */
bool reader_cut(const struct reader *reader);
uint64_t reader_file_size(const struct reader *reader);
uint32_t reader_version(const struct reader *reader);
const struct file_header *reader_header(const struct reader *reader);

/* Lists the chunks of a table (TABLE_COUNT: of all tables) that may hold rows which touch [from, to],
 * in file order, after checking their checksums; stops before the first damaged one. The caller frees
 * *chunks. */
int reader_select(struct reader *reader, unsigned table, uint64_t from, uint64_t to,
		  struct chunk **chunks, size_t *count, struct error *e);

/* Decodes one column of a chunk; one that the chunk does not hold is all null. */
int reader_decode(const struct reader *reader, const struct chunk *chunk, unsigned column,
		  struct column *out, struct error *e);

/* Lets go of the memory that the chunk's part of the mapped file takes, once its columns are decoded; it is read from
 * the page cache again when asked for. Without this a walk through a large trace looks as if it held all of it. */
void reader_release(const struct reader *reader, const struct chunk *chunk);

const char *column_text(const struct column *column, int64_t cell, size_t *size);
void column_free(struct column *column);

/* The file has names as texts, for versions to come: finds the number that each text of the column has in the schema's
 * list, once for all cells. 0 or -ENOMEM. */
int column_number_names(const struct column *column, const struct names *names,
			struct buf *numbers);

/* A cell's number in that list; -1: null, or not in it. */
static inline int column_name(const struct buf *numbers, int64_t cell)
{
	if ((uint64_t)cell >= numbers->size / sizeof(int16_t))
		return -1;
	return ((const int16_t *)numbers->data)[cell];
}

#endif
