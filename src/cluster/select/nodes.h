/* The nodes that a client or a coordinator knows, by name: where their agents answer, and the token that each wants.
 *
 *     [nodes]
 *     n1 = 127.0.0.1:6100
 *     n2 = https://node2:6100
 *     [tokens]
 *     n2 = c2VjcmV0
 *     * = for all others
 */
#ifndef STRATA_CLUSTER_SELECT_NODES_H
#define STRATA_CLUSTER_SELECT_NODES_H

#include "base/error.h"
#include "cluster/select/query.h"

#define NODES_TEXT 512

struct node {
	char name[SELECT_NAME];
	char address[NODES_TEXT]; /* a URL without path */
	char token[NODES_TEXT];	  /* empty: none */
};

/* A zeroed struct is an empty list. */
struct nodes {
	struct node *items;
	unsigned count;
	char token[NODES_TEXT]; /* of those that have none of their own */
};

/* NAME=ADDRESS. -EINVAL when it is not, or the name is taken. */
int nodes_add(struct nodes *nodes, const char *text, struct error *e);
int nodes_read(struct nodes *nodes, const char *path, struct error *e);
/* The same of text, for the fuzzer too. */
int nodes_parse(struct nodes *nodes, const char *text, struct error *e);
void nodes_free(struct nodes *nodes);

/* NULL: there is none of that name. */
const struct node *nodes_find(const struct nodes *nodes, const char *name);
/* States that there is no such node, and which there are. -ENOENT. */
int nodes_unknown(const struct nodes *nodes, const char *name, struct error *e);

#endif
