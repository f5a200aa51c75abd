/* What a comparison of a column with constants says about rows: a range, or a set of values.
 *
 * A condition may be wider than the comparison, so that no rounding leaves out a row, never narrower. Functions return
 * 0, -ENOMEM, or -EINVAL for what no condition can say; whichever it was, the caller frees with condition_free().
 */
#ifndef STRATA_QUERY_CONDITION_H
#define STRATA_QUERY_CONDITION_H

#include <stdbool.h>

#include "base/buf.h"
#include "query/columns.h"

/* A column is within [low, high], or is one of the values. Numbers and times are compared as numbers. */
struct condition {
	unsigned column; /* in the table function */
	bool is_range;
	double low, high; /* of a range; exact ones only of SOURCE_T */
	int64_t low_number, high_number;
	struct buf numbers; /* int64_t */
	struct buf texts;   /* of struct condition_text */
	struct buf text_bytes;
};

struct condition_text {
	size_t start, size; /* in text_bytes */
};

struct constant {
	bool is_text;
	struct buf text;
	double real; /* of a number; a time in nanoseconds */
	int64_t number;
	bool exact; /* number is the whole of it */
};

/* columns[column] op constant, where op is = < <= > or >=. */
int condition_compare(struct condition *condition, const struct query_column *columns,
		      unsigned column, const char *op, const struct constant *constant);
int condition_between(struct condition *condition, const struct query_column *columns,
		      unsigned column, const struct constant *low, const struct constant *high);

/* Adds a value to a set, or all values of another set of the same column. */
int condition_add(struct condition *condition, const struct query_column *columns,
		  const struct constant *constant);
int condition_join(struct condition *condition, const struct condition *other);

void condition_free(struct condition *condition);
void conditions_free(struct condition *conditions, size_t count); /* and the array */

#endif
