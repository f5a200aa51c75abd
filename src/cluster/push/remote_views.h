/* The views of `strata sql` (query/views.c) as ClickHouse can say them, old and current servers alike. */
#ifndef STRATA_CLUSTER_PUSH_REMOTE_VIEWS_H
#define STRATA_CLUSTER_PUSH_REMOTE_VIEWS_H

#include "cluster/push/sql_text.h"

struct remote_view {
	const char *name;
	const char *sql; /* see remote_view_add() */
};

extern const struct remote_view remote_views[];
extern const unsigned remote_view_count;

/* Adds the view's statement over the tables of a database. */
void remote_view_add(struct sql_text *sql, const struct remote_view *view, const char *database);

#endif
