/* Conditions out of the text of an expression, as DuckDB prints it in a plan:
 *
 *     ((strata_io_tid = 13630) AND (strata_io_t < 1.5) AND ((strata_io_op = 'read') OR (...)))
 *
 * Columns have names there that nothing else has, so a name means what it seems to. What is not understood is left
 * out, which makes the condition weaker, never wrong.
 */
#ifndef STRATA_QUERY_EXPRESSION_H
#define STRATA_QUERY_EXPRESSION_H

#include "query/filter.h"

/* The conditions that hold for every row that the expression keeps; `prefix` stands before the columns' names. The
 * caller frees them with conditions_free(). */
int expression_conditions(const char *expression, const char *prefix,
			  const struct query_column *columns, unsigned column_count,
			  struct condition **conditions, size_t *count);

#endif
