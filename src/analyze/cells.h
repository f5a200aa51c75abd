/* Cells of rows as numbers to add up: what is not known adds nothing. */
#ifndef STRATA_ANALYZE_CELLS_H
#define STRATA_ANALYZE_CELLS_H

#include <math.h>
#include <stdint.h>

#include "schema/schema.h"
#include "store/rows.h"

/* A time or an amount; an error, which is below 0, counts as 0 too. */
static inline uint64_t cell_known(int64_t cell)
{
	return cell == CELL_NULL || cell < 0 ? 0 : (uint64_t)cell;
}

/* Sums and maxima that are null until there is a cell that is not. */
static inline void cell_add(int64_t *sum, int64_t cell)
{
	if (cell != CELL_NULL)
		*sum = *sum == CELL_NULL ? cell : (int64_t)((uint64_t)*sum + (uint64_t)cell);
}

static inline void cell_raise(int64_t *most, int64_t cell)
{
	if (cell > *most) /* CELL_NULL is the least of all */
		*most = cell;
}

/* One amount by another; NAN where there is none to divide by, which is shown as not known. */
static inline double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

/* A cell of type REAL. */
static inline double cell_real(const struct rows *rows, unsigned column)
{
	union {
		int64_t bits;
		double real;
	} cell = { .bits = rows_cell(rows, column) };

	return cell.bits == CELL_NULL ? 0 : cell.real;
}

#endif
