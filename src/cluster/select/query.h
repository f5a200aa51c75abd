/* The questions that `strata select`, an agent and a coordinator answer:
 *
 *     [select] METRIC,... from NODE,...|* [where pid = N [and comm = 'x']] [over 5m] [every 10s] [until TIME]
 *
 * Words may be written in capitals; a name with other characters than letters, digits and _ - . : stands in single quotes. A
 * metric is a row of metrics.def, mostly with what is asked of it behind: runqlat_p99. `cpu` is a short name of cpudist, as
 * its first askers called it.
 */
#ifndef STRATA_CLUSTER_SELECT_QUERY_H
#define STRATA_CLUSTER_SELECT_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cluster/metrics.h"

#define SELECT_METRICS 64
#define SELECT_NODES   4096
#define SELECT_NAME    64
#define SELECT_COMM    16
#define SELECT_TEXT    16384 /* bytes of a question at most */

/* What is asked of a metric. */
enum select_form {
	SELECT_VALUE, /* of a gauge its mean, of a sum the sum: the name alone */
	SELECT_AVG,   /* a second: of a histogram each slot */
	SELECT_SUM,   /* likewise in all */
	SELECT_COUNT, /* of a histogram: events; what follows is of their times */
	SELECT_MEAN,
	SELECT_P50,
	SELECT_P90,
	SELECT_P99,
	SELECT_MAX,
	SELECT_FORMS,
};

struct select_metric {
	char name[SELECT_NAME]; /* as it was asked for */
	enum metric metric;
	enum select_form form;
};

struct select_query {
	struct select_metric metrics[SELECT_METRICS];
	unsigned metric_count;
	char (*nodes)[SELECT_NAME]; /* NULL: all */
	unsigned node_count;
	int64_t pid;		/* -1: none is named */
	char comm[SELECT_COMM]; /* empty: likewise */
	uint64_t over, every;	/* ns; 0: since the beginning, and in one piece */
	uint64_t until;		/* ns since 1970; 0: now */
};

/* Reads a question. What is wrong with it is told with the question and a caret below the place; -EINVAL, or -ENOENT for a
 * metric that does not exist. After 0 the caller frees it with select_query_free(). */
int select_parse(const char *text, struct select_query *query, struct error *e);
void select_query_free(struct select_query *query);

/* Whether slots are asked for: a value each. */
bool select_is_slots(const struct select_metric *metric);

/* The unit of the answer; "" none. */
const char *select_unit(const struct select_metric *metric);

/* Finds the metric behind a name. -ENOENT, and which there are. */
int select_find_metric(const char *name, struct select_metric *out, struct error *e);

#endif
