#include "cluster/select/coordinate.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "cluster/select/ask.h"

static int put_original(const struct select_answer *answer, struct buf *json)
{
	const char *comma = "";
	int err = buf_printf(json, "{");

	for (unsigned i = 0; i < answer->count && !err; i++) {
		const struct select_node *node = &answer->nodes[i];

		if (*node->error)
			continue;
		err = buf_printf(json, "%s\"", comma);
		comma = ", ";
		if (!err)
			err = escape_append(json, ESCAPE_JSON, node->name, strlen(node->name));
		if (!err)
			err = buf_printf(json, "\": ");
		if (!err)
			err = select_node_original(node, json);
	}
	return err ? err : buf_printf(json, "}\n");
}

int coordinate_answer(const struct coordinator *coordinator, const char *text, bool original,
		      struct buf *json, struct error *e)
{
	uint64_t timeout = coordinator->timeout ? coordinator->timeout : COORDINATE_TIMEOUT;
	struct select_answer answer = { 0 };
	struct select_query query;
	int err = select_parse(text, &query, e);

	if (err)
		return err;
	err = ask_nodes(&coordinator->nodes, text, &query, timeout, &answer, e);
	if (!err && (original ? put_original(&answer, json) : select_answer_json(&answer, json)))
		err = error_set(e, -ENOMEM, "out of memory");
	select_answer_free(&answer);
	select_query_free(&query);
	return err;
}
