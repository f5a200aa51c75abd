/* See via.h. The server adds up what is counted; it answers three questions, a line a row: which nodes there are and until when,
 * what each window has measured, and what the samples of each series and window add up to.
 */
#include "cluster/select/via.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/select/gather.h"
#include "cluster/select/nodes.h"

/* One node while its answer is gathered. */
struct via_node {
	char name[SELECT_NAME];
	uint64_t from, end; /* of what is asked for */
	uint64_t bound;	    /* before which an interval must begin */
	uint64_t start;	    /* of the first interval in it */
	struct gather gather;
};

struct via {
	struct clickhouse *clickhouse;
	const struct select_query *query;
	struct via_node *nodes;
	unsigned count;
	struct sql_text sql;
	struct error *e;
};

static struct via_node *find_node(struct via *via, const char *name)
{
	for (unsigned i = 0; i < via->count; i++)
		if (!strcmp(via->nodes[i].name, name))
			return &via->nodes[i];
	return NULL;
}

/* Runs the statement and calls `line` for each line, cut into its fields. */
#define MOST_FIELDS 16

static int each_line(struct via *via, unsigned fields, int (*line)(struct via *via, char **field))
{
	struct buf body = { 0 };
	char *rest, *text, *field[MOST_FIELDS];
	int err = clickhouse_do(via->clickhouse, NULL, &via->sql, &body, via->e);

	for (rest = (char *)body.data; !err && rest && (text = strsep(&rest, "\n")) && *text;) {
		unsigned count = 0;

		while (count < MOST_FIELDS && (field[count] = strsep(&text, "\t")))
			count++;
		err = count == fields
			      ? line(via, field)
			      : error_set(via->e, -EBADMSG, "ClickHouse answers %u fields, not %u",
					  count, fields);
	}
	buf_free(&body);
	return err;
}

static void add_table(struct via *via)
{
	sql_name(&via->sql, clickhouse_database(via->clickhouse));
	sql_add(&via->sql, ".metric");
}

/* ---- the nodes ---- */

static int take_node(struct via *via, char **field)
{
	struct via_node *nodes = realloc(via->nodes, (via->count + 1) * sizeof(*nodes));
	uint64_t over = via->query->over;

	if (!nodes)
		return error_set(via->e, -ENOMEM, "out of memory");
	via->nodes = nodes;
	nodes = &nodes[via->count++];
	*nodes = (struct via_node){ .end = strtoull(field[1], NULL, 10) };
	snprintf(nodes->name, sizeof(nodes->name), "%s", field[0]);
	nodes->bound = select_bound(via->query, nodes->end);
	nodes->from = over && nodes->end > over ? nodes->end - over : 0;
	return 0;
}

static int list_nodes(struct via *via)
{
	sql_add(&via->sql, "SELECT node, max(time + length) FROM ");
	add_table(via);
	if (via->query->until)
		sql_add(&via->sql, " WHERE time < %" PRIu64, via->query->until);
	sql_add(&via->sql, " GROUP BY node ORDER BY node");
	return each_line(via, 2, take_node);
}

/* In the order of the question; those that it does not name go. */
static int choose_nodes(struct via *via)
{
	const struct select_query *query = via->query;
	struct via_node *chosen;

	if (!query->nodes)
		return 0;
	chosen = calloc(query->node_count + 1, sizeof(*chosen));
	if (!chosen)
		return error_set(via->e, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < query->node_count; i++) {
		const struct via_node *node = find_node(via, query->nodes[i]);

		if (!node) {
			struct nodes known = { 0 };

			for (unsigned k = 0; k < via->count; k++) {
				char entry[SELECT_NAME + 4];

				snprintf(entry, sizeof(entry), "%s=-", via->nodes[k].name);
				if (nodes_add(&known, entry, via->e))
					break;
			}
			nodes_unknown(&known, query->nodes[i], via->e);
			nodes_free(&known);
			free(chosen);
			return -ENOENT;
		}
		chosen[i] = *node;
	}
	free(via->nodes);
	via->nodes = chosen;
	via->count = query->node_count;
	return 0;
}

/* ---- what is asked for ---- */

/* A bound of the time that is each node's own. */
static void add_bound(struct via *via, const char *words, size_t field)
{
	sql_add(&via->sql, "%stoInt64(transform(toString(node), [", words);
	for (unsigned i = 0; i < via->count; i++) {
		sql_add(&via->sql, i ? ", " : "");
		sql_string(&via->sql, via->nodes[i].name);
	}
	sql_add(&via->sql, "], [");
	for (unsigned i = 0; i < via->count; i++) {
		uint64_t bound;

		memcpy(&bound, (const char *)&via->nodes[i] + field, sizeof(bound));
		sql_add(&via->sql, "%s%" PRIu64, i ? ", " : "", bound);
	}
	sql_add(&via->sql, "], toUInt64(0)))");
}

static void add_conditions(struct via *via)
{
	sql_add(&via->sql, " WHERE node IN (");
	for (unsigned i = 0; i < via->count; i++) {
		sql_add(&via->sql, i ? ", " : "");
		sql_string(&via->sql, via->nodes[i].name);
	}
	sql_add(&via->sql, ")");
	add_bound(via, " AND time >= ", offsetof(struct via_node, from));
	add_bound(via, " AND time < ", offsetof(struct via_node, bound));
}

/* The number of a window since 1970; one for all without `every`. */
static void add_window(struct via *via)
{
	if (via->query->every)
		sql_add(&via->sql, "intDiv(time, %" PRIu64 ")", via->query->every);
	else
		sql_add(&via->sql, "0");
}

static int take_start(struct via *via, char **field)
{
	struct via_node *node = find_node(via, field[0]);

	if (node)
		node->start = strtoull(field[1], NULL, 10);
	return 0;
}

/* The first interval of each node, and with it its windows. */
static int find_starts(struct via *via)
{
	int err;

	sql_add(&via->sql, "SELECT node, min(time) FROM ");
	add_table(via);
	add_conditions(via);
	sql_add(&via->sql, " GROUP BY node");
	err = each_line(via, 2, take_start);
	for (unsigned i = 0; i < via->count && !err; i++) {
		struct via_node *node = &via->nodes[i];

		node->gather.query = via->query;
		err = select_windows_of(via->query, node->start, node->end, &node->gather.windows,
					via->e);
		node->gather.covered =
			err ? NULL : calloc(node->gather.windows.count + 1, sizeof(uint64_t));
		if (!err && !node->gather.covered)
			err = error_set(via->e, -ENOMEM, "out of memory");
	}
	return err;
}

/* The place of a window in the node's own list; false: outside of it. */
static bool place_window(const struct via *via, const struct via_node *node, const char *field,
			 unsigned *window)
{
	uint64_t number = strtoull(field, NULL, 10), first;

	first = via->query->every ? node->gather.windows.start / via->query->every : 0;
	*window = (unsigned)(number - first);
	return number >= first && number - first < node->gather.windows.count;
}

static int take_covered(struct via *via, char **field)
{
	struct via_node *node = find_node(via, field[0]);
	unsigned window;

	if (node && place_window(via, node, field[1], &window))
		node->gather.covered[window] = strtoull(field[2], NULL, 10);
	return 0;
}

static int find_covered(struct via *via)
{
	sql_add(&via->sql, "SELECT node, ");
	add_window(via);
	sql_add(&via->sql,
		" AS number, sum(length) FROM (SELECT DISTINCT node, time, length FROM ");
	add_table(via);
	add_conditions(via);
	sql_add(&via->sql, ") AS intervals GROUP BY node, number");
	return each_line(via, 3, take_covered);
}

/* ---- the sums ---- */

static void take_slots(const char *text, uint64_t slots[LIVE_SLOTS])
{
	char *end;

	for (unsigned i = 0; i < LIVE_SLOTS && (*text == '[' || *text == ','); i++) {
		slots[i] = strtoull(text + 1, &end, 10);
		text = end;
	}
}

/* node, window, metric, label, op, slots, count, sum, max, value, greatest, weight */
static int take_cell(struct via *via, char **field)
{
	struct via_node *node = find_node(via, field[0]);
	enum metric metric = metric_find(field[2], strlen(field[2]));
	struct select_cell *cell;
	unsigned window;

	if (!node || metric == METRIC_COUNT || !place_window(via, node, field[1], &window))
		return 0;
	cell = gather_cell(&node->gather, metric, field[3], field[4], window, via->e);
	if (!cell)
		return -ENOMEM;
	take_slots(field[5], cell->slots);
	cell->count = strtoull(field[6], NULL, 10);
	cell->sum = strtoull(field[7], NULL, 10);
	cell->most = strtoull(field[8], NULL, 10);
	cell->value = strtod(field[9], NULL);
	cell->greatest = strtod(field[10], NULL);
	cell->weight = strtoull(field[11], NULL, 10);
	cell->any = true;
	return 0;
}

static void add_metrics(struct via *via, bool gauges)
{
	uint64_t wanted = gather_wanted(via->query);

	sql_add(&via->sql, "(''");
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		if (wanted >> i & 1 && (!gauges || metrics[i].kind == METRIC_KIND_GAUGE))
			sql_add(&via->sql, ", '%s'", metrics[i].name);
	sql_add(&via->sql, ")");
}

static int find_cells(struct via *via)
{
	const struct select_query *query = via->query;

	sql_add(&via->sql, "SELECT node, ");
	add_window(via);
	sql_add(&via->sql,
		" AS number, metric, label, op, sumForEach(slots), sum(count), sum(sum), "
		"max(max), sum(value * if(metric IN ");
	add_metrics(via, true);
	sql_add(&via->sql, ", length, 1)), max(value), sum(length) FROM ");
	add_table(via);
	add_conditions(via);
	sql_add(&via->sql, " AND metric IN ");
	add_metrics(via, false);
	if (query->pid >= 0)
		sql_add(&via->sql, " AND pid = %" PRId64, query->pid);
	else
		sql_add(&via->sql, " AND pid %s 0", *query->comm ? "!=" : "=");
	if (*query->comm) {
		sql_add(&via->sql, " AND comm = ");
		sql_string(&via->sql, query->comm);
	}
	sql_add(&via->sql, " GROUP BY node, number, metric, label, op");
	return each_line(via, 12, take_cell);
}

static int finish(struct via *via, struct select_answer *answer)
{
	int err = 0;

	for (unsigned i = 0; i < via->count && !err; i++) {
		struct select_node *node = select_add_node(answer, via->nodes[i].name);

		if (!node)
			return error_set(via->e, -ENOMEM, "out of memory");
		node->start = via->nodes[i].start;
		node->end = via->nodes[i].end;
		err = gather_finish(&via->nodes[i].gather, node, via->e);
	}
	return err;
}

int select_via(struct clickhouse *clickhouse, const struct select_query *query,
	       struct select_answer *answer, struct error *e)
{
	struct via via = { .clickhouse = clickhouse, .query = query, .e = e };
	int err = list_nodes(&via);

	if (!err)
		err = choose_nodes(&via);
	if (!err && via.count)
		err = find_starts(&via);
	if (!err && via.count)
		err = find_covered(&via);
	if (!err && via.count)
		err = find_cells(&via);
	if (!err)
		err = finish(&via, answer);
	for (unsigned i = 0; i < via.count; i++)
		gather_free(&via.nodes[i].gather);
	free(via.nodes);
	sql_free(&via.sql);
	return err;
}
