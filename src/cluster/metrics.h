/* The metrics of metrics.def: what each is called and what it is. Constant data. */
#ifndef STRATA_CLUSTER_METRICS_H
#define STRATA_CLUSTER_METRICS_H

#include <stdbool.h>

#include "schema/schema.h"

enum metric {
#define HISTOGRAM(name, ...)	   METRIC_##name,
#define COUNTER(name, ...)	   METRIC_##name,
#define FIGURE(table, column, ...) METRIC_##table##_##column,
#include "cluster/metrics.def"
	METRIC_COUNT
};

enum metric_kind {
	METRIC_KIND_HISTOGRAM, /* log2 slots of microseconds */
	METRIC_KIND_SUM,       /* what happened in an interval: values add up */
	METRIC_KIND_GAUGE,     /* a level or share over the interval */
};

/* What the label of a sample is; also the label's name in /metrics. */
enum metric_label { METRIC_LABEL_NONE, METRIC_LABEL_DEVICE, METRIC_LABEL_OP, METRIC_LABEL_GPU };

struct metric_info {
	const char *name;     /* in the store and in questions */
	const char *exported; /* in /metrics, after strata_ */
	const char *doc;      /* one sentence */
	enum metric_kind kind;
	enum metric_label label;
	bool has_op;	   /* samples also name an operation: R W F D */
	bool per_process;  /* there are samples of processes too */
	double scale;	   /* from the stored unit to the exported one */
	int table, column; /* of a figure: enum table_id, enum column_id; else -1 */
};

extern const struct metric_info metrics[METRIC_COUNT];

/* METRIC_COUNT: there is none of that name. */
enum metric metric_find(const char *name, size_t size);

/* Of stored values: "%", "bytes", of slots "us"; "" none. */
const char *metric_unit(enum metric metric);

extern const char *const metric_label_names[]; /* by enum metric_label; "" for none */

#endif
