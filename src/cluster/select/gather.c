#include "cluster/select/gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 4096

uint64_t gather_wanted(const struct select_query *query)
{
	uint64_t wanted = 0;

	for (unsigned i = 0; i < query->metric_count; i++)
		wanted |= 1ull << query->metrics[i].metric;
	return wanted;
}

static struct gather_row *add_row(struct gather *gather, enum metric metric, const char *label,
				  const char *op, struct error *e)
{
	struct gather_row *rows, *row;

	if (gather->row_count == MOST_ROWS) {
		error_set(e, -E2BIG, "more than %d series", MOST_ROWS);
		return NULL;
	}
	rows = realloc(gather->rows, (gather->row_count + 1) * sizeof(*rows));
	if (rows)
		gather->rows = rows;
	row = rows ? &rows[gather->row_count] : NULL;
	if (row) {
		*row = (struct gather_row){ .metric = metric };
		snprintf(row->label, sizeof(row->label), "%s", label);
		snprintf(row->op, sizeof(row->op), "%s", op);
		row->cells = calloc(gather->windows.count + 1, sizeof(*row->cells));
	}
	if (!row || !row->cells) {
		error_set(e, -ENOMEM, "out of memory");
		return NULL;
	}
	gather->row_count++;
	return row;
}

struct select_cell *gather_cell(struct gather *gather, enum metric metric, const char *label,
				const char *op, unsigned window, struct error *e)
{
	struct gather_row *row;

	for (unsigned i = gather->row_count; i--;) {
		row = &gather->rows[i];
		if (row->metric == metric && !strncmp(row->label, label, SELECT_LABEL - 1) &&
		    !strncmp(row->op, op, sizeof(row->op) - 1))
			return &row->cells[window];
	}
	row = add_row(gather, metric, label, op, e);
	return row ? &row->cells[window] : NULL;
}

static int compare_rows(const void *a, const void *b)
{
	const struct gather_row *left = a, *right = b;
	int order = strcmp(left->label, right->label);

	return order ? order : strcmp(left->op, right->op);
}

static int add_series(const struct gather *gather, const struct gather_row *row,
		      const struct select_metric *metric, struct select_node *node, struct error *e)
{
	struct select_series *series =
		realloc(node->series, (node->series_count + 1) * sizeof(*series));

	if (!series)
		return error_set(e, -ENOMEM, "out of memory");
	node->series = series;
	series = &series[node->series_count];
	*series = (struct select_series){ .metric = *metric, .point_count = gather->windows.count };
	memcpy(series->label, row->label, sizeof(series->label));
	memcpy(series->op, row->op, sizeof(series->op));
	series->points = calloc(series->point_count + 1, sizeof(*series->points));
	if (!series->points)
		return error_set(e, -ENOMEM, "out of memory");
	node->series_count++;
	for (unsigned i = 0; i < series->point_count; i++) {
		series->points[i].start = gather->windows.start + i * gather->windows.length;
		series->points[i].length = gather->windows.length;
		series->points[i].covered = gather->covered[i];
		select_finish(metric, &row->cells[i], &series->points[i]);
	}
	return 0;
}

int gather_finish(struct gather *gather, struct select_node *node, struct error *e)
{
	const struct select_query *query = gather->query;
	int err = 0;

	/* An interval that began before a window may reach into it, and be the last. */
	while (gather->windows.count > 1 && !gather->covered[gather->windows.count - 1])
		gather->windows.count--;
	for (unsigned i = 0; i < query->metric_count && gather->windows.count; i++)
		if (metrics[query->metrics[i].metric].label == METRIC_LABEL_NONE &&
		    !gather_cell(gather, query->metrics[i].metric, "", "", 0, e))
			return -ENOMEM;
	qsort(gather->rows, gather->row_count, sizeof(*gather->rows), compare_rows);
	for (unsigned i = 0; i < query->metric_count; i++)
		for (unsigned row = 0; row < gather->row_count && !err; row++)
			if (gather->rows[row].metric == query->metrics[i].metric)
				err = add_series(gather, &gather->rows[row], &query->metrics[i],
						 node, e);
	return err;
}

void gather_free(struct gather *gather)
{
	for (unsigned i = 0; i < gather->row_count; i++)
		free(gather->rows[i].cells);
	free(gather->rows);
	free(gather->covered);
}
