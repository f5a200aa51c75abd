#include "cluster/metrics.h"

#include <string.h>

#define METRIC_LABEL(label) METRIC_LABEL_##label
#define HAS_OP_NONE	    false
#define HAS_OP_OPS	    true
#define PER_NODE	    false
#define PER_PROCESS	    true
#define KIND_OF_GAUGE	    METRIC_KIND_GAUGE
#define KIND_OF_SUM	    METRIC_KIND_SUM

const struct metric_info metrics[METRIC_COUNT] = {
#define HISTOGRAM(id, shown, labelled, op, per, text) \
	[METRIC_##id] = {                             \
		.name = #id,                          \
		.exported = #shown,                   \
		.doc = text,                          \
		.kind = METRIC_KIND_HISTOGRAM,        \
		.label = METRIC_LABEL(labelled),      \
		.has_op = HAS_OP_##op,                \
		.per_process = PER_##per,             \
		.scale = 1e-9,                        \
		.table = -1,                          \
		.column = -1,                         \
	},
#define COUNTER(id, shown, text)         \
	[METRIC_##id] = {                \
		.name = #id,             \
		.exported = #shown,      \
		.doc = text,             \
		.kind = METRIC_KIND_SUM, \
		.scale = 1,              \
		.table = -1,             \
		.column = -1,            \
	},
#define FIGURE(of, cell, sort, factor, shown, labelled, text) \
	[METRIC_##of##_##cell] = {                            \
		.name = #of "_" #cell,                        \
		.exported = #shown,                           \
		.doc = text,                                  \
		.kind = KIND_OF_##sort,                       \
		.label = METRIC_LABEL(labelled),              \
		.scale = factor,                              \
		.table = TABLE_##of,                          \
		.column = column_##of##_##cell,               \
	},
#include "cluster/metrics.def"
};

const char *const metric_label_names[] = { "", "device", "op", "gpu" };

enum metric metric_find(const char *name, size_t size)
{
	for (enum metric i = 0; i < METRIC_COUNT; i++)
		if (strlen(metrics[i].name) == size && !memcmp(metrics[i].name, name, size))
			return i;
	return METRIC_COUNT;
}

const char *metric_unit(enum metric metric)
{
	const struct metric_info *info = &metrics[metric];

	if (info->kind == METRIC_KIND_HISTOGRAM)
		return "us";
	return info->table < 0 ? "" : schema_tables[info->table].columns[info->column].unit;
}
