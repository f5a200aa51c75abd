#include "query/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/expression.h"
#include "query/plan_tree.h"
#include "query/text.h"

/* The table that the node scans, or NULL. */
static struct scan_table *find_table(const struct plan_node *node, struct scan_table *tables)
{
	char name[64];

	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		snprintf(name, sizeof(name), SCAN_PREFIX "%s", schema_tables[i].name);
		if (!strcasecmp(name, node->name))
			return &tables[i];
	}
	return NULL;
}

/* The scan that a filter's rows come from. A mark join passes on all rows of its first child. */
static const struct plan_node *filtered_node(const struct plan_node *filter)
{
	const struct plan_node *node = filter;

	do
		node = node->count ? node->children[0] : NULL;
	while (node && node->join && !strcmp(node->join, "MARK"));
	return node;
}

static int add_scan(struct scan_table *table, const char *expression)
{
	struct condition *conditions = NULL;
	char prefix[64];
	size_t count = 0;
	int err = 0;

	snprintf(prefix, sizeof(prefix), SCAN_PREFIX "%s_", schema_tables[table->table].name);
	if (expression)
		err = expression_conditions(expression, prefix, table->columns, table->column_count,
					    &conditions, &count);
	if (err) {
		conditions_free(conditions, count);
		return err;
	}
	return filter_add(&table->filter, conditions, count);
}

/* Each scan becomes an alternative of its table's filter; `filter` is the one over this node, if any. */
static int walk(const struct plan_node *node, const struct plan_node *filter,
		struct scan_table *tables)
{
	struct scan_table *table = find_table(node, tables);
	int err = 0;

	if (table)
		return add_scan(table, filter && filtered_node(filter) == node ? filter->expression
									       : NULL);
	if (!strcmp(node->name, "FILTER"))
		filter = node;
	for (size_t i = 0; i < node->count && !err; i++)
		err = walk(node->children[i], filter, tables);
	return err;
}

/* An alternative without condition asks for everything; and a plan that shows fewer scans than the statement names
 * the table may hide one. */
static bool is_useful(const struct filter *filter, unsigned binds)
{
	for (size_t i = 0; i < filter->count; i++)
		if (!filter->alternatives[i].count)
			return false;
	return filter->count >= binds;
}

static char *explain(duckdb_connection connection, const char *sql)
{
	duckdb_data_chunk chunk = NULL;
	duckdb_result result = { 0 };
	const duckdb_string_t *texts;
	char *query = NULL, *plan = NULL;

	if (asprintf(&query, "EXPLAIN (FORMAT json) %s", sql) < 0)
		return NULL;
	if (duckdb.query(connection, query, &result) == DuckDBSuccess &&
	    duckdb.column_count(&result) == 2)
		chunk = duckdb.fetch_chunk(result);
	if (chunk && duckdb.data_chunk_get_size(chunk) == 1) {
		texts = duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk, 1));
		plan = strndup(text_bytes(texts), texts->inlined.length);
	}
	if (chunk)
		duckdb.destroy_data_chunk(&chunk);
	duckdb.destroy_result(&result);
	free(query);
	return plan;
}

void plan_filters(duckdb_connection connection, const char *sql, struct scan_table *tables)
{
	struct plan_node *plan;
	unsigned binds[TABLE_COUNT];
	char *text;
	int err;

	for (unsigned i = 0; i < TABLE_COUNT; i++)
		binds[i] = tables[i].binds;
	text = explain(connection, sql);
	plan = text ? plan_tree_parse(text) : NULL;
	err = plan ? walk(plan, NULL, tables) : 0;
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		if (err || !is_useful(&tables[i].filter, binds[i]))
			filter_free(&tables[i].filter);
	plan_tree_free(plan);
	free(text);
}
