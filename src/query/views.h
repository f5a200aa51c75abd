/* Views over the tables for the questions that are asked most. */
#ifndef STRATA_QUERY_VIEWS_H
#define STRATA_QUERY_VIEWS_H

struct view {
	const char *name, *doc, *sql;
};

extern const struct view views[];
extern const unsigned view_count;

#endif
