/* What a question is answered with: for each node its series, for each series a point an interval of `every`, or a single one.
 *
 * Answers come in two steps, so that an agent's own store and ClickHouse give the same numbers: what was counted is added up
 * in cells, which both can do where the samples are, and cells become values here, in one place.
 */
#ifndef STRATA_CLUSTER_SELECT_ANSWER_H
#define STRATA_CLUSTER_SELECT_ANSWER_H

#include "base/buf.h"
#include "bpf/live.h"
#include "cluster/select/query.h"

#define SELECT_LABEL  64
#define SELECT_POINTS 100000 /* of a series at most */

/* What the samples of one series and interval add up to. */
struct select_cell {
	uint64_t slots[LIVE_SLOTS];
	uint64_t count, sum, most; /* of a histogram */
	double value;		   /* of others: their sum; of gauges each times its interval */
	double greatest;
	uint64_t weight; /* ns of the intervals of a gauge that have a value */
	bool any;
};

struct select_point {
	uint64_t start, length; /* ns since 1970; from the question */
	uint64_t covered;	/* ns of it that were measured */
	bool known;		/* false: null */
	double value;		/* of slots none */
	unsigned slot_count;	/* up to the last that has something */
	double slots[LIVE_SLOTS];
};

struct select_series {
	struct select_metric metric;
	char label[SELECT_LABEL], op[8];
	struct select_point *points;
	unsigned point_count;
};

/* The answer of one node. Zeroed: an empty one. */
struct select_node {
	char name[SELECT_NAME];
	char error[256];     /* why it did not answer; empty: it did */
	uint64_t start, end; /* of what it has measured in the time asked for */
	struct select_series *series;
	unsigned series_count;
};

struct select_answer {
	struct select_node *nodes;
	unsigned count;
};

/* Adds a node to the answer; NULL: no memory. Holds until the next is added. */
struct select_node *select_add_node(struct select_answer *answer, const char *name);
void select_answer_free(struct select_answer *answer);
void select_node_free(struct select_node *node);

/* How many intervals of `every` there are between two times, and where the first begins. */
struct select_windows {
	uint64_t start, length; /* the last one may reach past the end */
	unsigned count;
};

/* -E2BIG when there are too many. */
int select_windows_of(const struct select_query *query, uint64_t start, uint64_t end,
		      struct select_windows *windows, struct error *e);

/* Before when an interval must have begun to be asked for, where the last one ends at `end`. Two clocks tell of intervals, so that
 * the next one may begin a little before the last one's end; and samples may come in while a question is answered. */
uint64_t select_bound(const struct select_query *query, uint64_t end);

/* A cell as a point's value. covered: what a second counts by. */
void select_finish(const struct select_metric *metric, const struct select_cell *cell,
		   struct select_point *point);

/* The value below which the share q of the events is, as Prometheus' histogram_quantile() has it: on a line within the slot. In
 * microseconds; NaN of no event. */
double select_quantile(const uint64_t slots[LIVE_SLOTS], double q);

/* What a slot is called: "0-1", "2-3", "4-7". */
const char *select_slot_name(unsigned slot, char out[48]);

/* As JSON, and back: {"nodes": [{"node": "n1", "from": NS, "to": NS, "series": [...]}, {"node": "n2", "error": "..."}]}. */
int select_answer_json(const struct select_answer *answer, struct buf *out);
/* The same of one node, under this name: what an agent answers. */
int select_node_json(const struct select_node *node, const char *name, struct buf *out);
int select_answer_read(const char *text, size_t size, struct select_answer *answer,
		       struct error *e);

/* As the first askers' workers answered: {"cpu_avg": {"0-1": 3.0}, "pidpersec_avg": 2.5}. */
int select_node_original(const struct select_node *node, struct buf *out);

#endif
