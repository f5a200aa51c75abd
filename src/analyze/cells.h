/* Cells of rows as numbers to add up: what is not known adds nothing. */
#ifndef STRATA_ANALYZE_CELLS_H
#define STRATA_ANALYZE_CELLS_H

#include <stdint.h>

#include "schema/schema.h"
#include "store/rows.h"

/* A time or an amount; an error, which is below 0, counts as 0 too. */
static inline uint64_t cell_known(int64_t cell)
{
	return cell == CELL_NULL || cell < 0 ? 0 : (uint64_t)cell;
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
