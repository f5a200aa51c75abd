/* libFuzzer target: the input is a question, the list of nodes, an answer of an agent, or what a spool's file says. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/push/spool.h"
#include "cluster/select/answer.h"
#include "cluster/select/nodes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_question(const char *text)
{
	struct select_query query;
	struct error e;

	if (!select_parse(text, &query, &e))
		select_query_free(&query);
}

static void read_nodes(const char *text)
{
	struct nodes nodes = { 0 };
	struct error e;

	nodes_parse(&nodes, text, &e);
	nodes_free(&nodes);
}

static void read_answer(const char *text, size_t size)
{
	struct select_answer answer = { 0 };
	struct buf json = { 0 };
	struct error e;

	if (!select_answer_read(text, size, &answer, &e) && !select_answer_json(&answer, &json) &&
	    answer.count)
		select_node_original(&answer.nodes[0], &json);
	select_answer_free(&answer);
	buf_free(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1); /* of its very size: what reads past it is caught */
	struct batch batch;
	struct error e;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	read_question(text);
	read_nodes(text);
	read_answer(text, size);
	spool_parse(text, size, &batch, &e);
	free(text);
	return 0;
}
