/* What a statement asks of a table, as far as it lets whole pieces of it be left out unread.
 *
 * A filter is a list of alternatives, one for each place where the statement reads the table; an alternative
 * is a list of conditions that all must hold. It errs on one side only: what is left out holds no row that
 * the statement could use, and DuckDB looks at every row that is given.
 */
#ifndef STRATA_QUERY_FILTER_H
#define STRATA_QUERY_FILTER_H

#include <stdbool.h>

#include "query/columns.h"
#include "query/condition.h"
#include "query/load.h"

/* Rows that are kept or left out together: as many as a vector of DuckDB holds. */
#define FILTER_BLOCK 2048

struct alternative {
	struct condition *conditions;
	size_t count;
};

struct filter {
	const struct query_column *columns;
	struct alternative *alternatives;
	size_t count;
};

/* Takes over the conditions, even when it fails. -ENOMEM. */
int filter_add(struct filter *filter, struct condition *conditions, size_t count);
void filter_free(struct filter *filter); /* leaves a filter that lets everything through */

/* Whether the part may hold rows asked for, judged without decoding. */
bool filter_wants_part(const struct filter *filter, const struct part *part);

/* Marks in `blocks`, one byte for FILTER_BLOCK rows, those that may hold rows asked for; decodes what it needs
 * for that. 1 when there are any, 0 when not, -errno. */
int filter_mark_blocks(const struct filter *filter, struct loaded *loaded, uint8_t *blocks,
		       struct error *e);

#endif
