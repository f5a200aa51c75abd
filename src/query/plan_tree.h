/* DuckDB's plan of a statement, as EXPLAIN (FORMAT json) prints it, as a tree. */
#ifndef STRATA_QUERY_PLAN_TREE_H
#define STRATA_QUERY_PLAN_TREE_H

#include <stddef.h>

struct plan_node {
	char *name;	  /* FILTER, HASH_JOIN, STRATA_IO, ... */
	char *expression; /* of a FILTER; NULL: none, or more than one */
	char *join;	  /* kind of a join: INNER, MARK, ... */
	struct plan_node **children;
	size_t count;
};

/* The root, or NULL when the text is not such a plan or memory is short. The caller frees it. */
struct plan_node *plan_tree_parse(const char *json);
void plan_tree_free(struct plan_node *node);

#endif
