/* Views over the tables for the questions that are asked most. */
#ifndef STRATA_QUERY_VIEWS_H
#define STRATA_QUERY_VIEWS_H

#include "base/buf.h"

struct view {
	const char *name, *doc;
	const char *sql; /* see view_append_sql() */
};

extern const struct view views[];
extern const unsigned view_count;

/* Appends the view's SQL as DuckDB takes it. 0 or -ENOMEM. */
int view_append_sql(const struct view *view, struct buf *out);

#endif
