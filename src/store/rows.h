/* The rows of one table in order of their first column (ts), merged from chunks that may overlap in
 * time. Holds in memory only the chunks that overlap at the current time.
 *
 *     err = rows_open(&rows, reader, TABLE_io, wanted, from, to, e);
 *     while ((err = rows_next(rows, e)) > 0)
 *             cell = rows_cell(rows, column_io_dur);
 */
#ifndef STRATA_STORE_ROWS_H
#define STRATA_STORE_ROWS_H

#include <stdint.h>

#include "base/error.h"
#include "schema/schema.h"
#include "store/reader.h"

struct rows;

/* wanted: bit i is column i of the table; other columns read as null. Rows are those with ts in
 * [from, to]; tables without time give all rows in file order. */
int rows_open(struct rows **rows, struct reader *reader, unsigned table, uint64_t wanted,
	      uint64_t from, uint64_t to, struct error *e);
int rows_next(struct rows *rows, struct error *e); /* 1 a row, 0 the end, -errno */
const char *rows_text(const struct rows *rows, unsigned column, size_t *size); /* NULL: null */
/* A cell of a column of names as its number in the schema's list (SYSCALL_read and so on); -1: null, or a name that this
 * version does not know, which rows_text() still tells. */
int rows_name(const struct rows *rows, unsigned column);
void rows_close(struct rows *rows);

/* What struct rows begins with: where the current row lies, for rows_cell(), which runs some ten times a row. */
struct rows_place {
	const int64_t *const *cells; /* by column; NULL: not wanted */
	uint32_t row;
};

static inline int64_t rows_cell(const struct rows *rows, unsigned column)
{
	const struct rows_place *place = (const struct rows_place *)rows;
	const int64_t *cells = place->cells[column];

	return cells ? cells[place->row] : CELL_NULL;
}

#endif
