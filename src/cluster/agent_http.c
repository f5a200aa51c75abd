/* What an agent answers, by path:
 *
 *     /                      a page that draws /metrics
 *     /healthz               whether it measures
 *     /metrics               Prometheus' text, or OpenMetrics where the Accept header names it
 *     /query?q=              a question of `strata select`, as JSON
 *     /METRIC,...            the same as the first workers answered
 *     /METRIC,.../NODE,...   and as the first coordinator did
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/agent.h"
#include "cluster/select/evaluate.h"

#define PLAIN_NAMES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:,*"
#define HEALTHY	    3 /* intervals without a measurement that are still health */

__asm__(".section .rodata\n"
	"agent_page:\n"
	".incbin \"web/agent.html\"\n"
	"agent_page_end:\n"
	".previous\n");
extern const char agent_page[], agent_page_end[];

/* The page by itself says nothing about the node. */
bool agent_is_public(const char *path)
{
	return !strcmp(path, "/") || !strcmp(path, "/healthz");
}

void agent_answered(void *context, unsigned status)
{
	totals_count_answer(((struct agent *)context)->totals, status);
}

/* ---- what is measured now ---- */

static void answer_page(struct http_answer *answer)
{
	answer->type = "text/html; charset=utf-8";
	if (buf_append(&answer->body, agent_page, (size_t)(agent_page_end - agent_page)))
		http_say(answer, 500, "out of memory");
}

static void answer_health(const struct agent *agent, struct http_answer *answer)
{
	uint64_t measured = atomic_load(&agent->measured), now = clock_monotonic();

	if (measured && now > measured && now - measured > HEALTHY * agent->config->interval)
		http_say(answer, 503, "nothing was measured of late");
	else
		http_say(answer, 200, "ok");
}

/* Prometheus names OpenMetrics first where it wants it. */
static void answer_metrics(struct agent *agent, const struct http_request *request,
			   struct http_answer *answer)
{
	bool open = strstr(request->accept, "application/openmetrics-text");

	answer->type = open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			    : "text/plain; version=0.0.4; charset=utf-8";
	if (totals_print(agent->totals, open, &answer->body))
		http_say(answer, 500, "out of memory");
}

/* ---- questions ---- */

static void answer_error(struct http_answer *answer, int err, const struct error *e)
{
	unsigned status = err == -EINVAL      ? 400
			  : err == -ENOENT    ? 404
			  : err == -E2BIG     ? 413
			  : err == -ETIMEDOUT ? 503
					      : 500;

	/* What failed inside is for the log of the node, not for who asks. */
	http_say(answer, status, "%s", status == 500 ? "the store cannot be read" : e->text);
}

/* From the agent's own store, which each question opens for itself. */
static int evaluate(struct agent *agent, const char *text, uint64_t deadline, bool original,
		    struct buf *json, struct error *e)
{
	struct select_query query = { 0 };
	struct select_node node = { 0 };
	struct metric_store *store = NULL;
	int err = select_parse(text, &query, e);

	if (err)
		return err;
	err = metric_store_open(&store, agent->config->store, METRIC_STORE_READ, e);
	if (err == -ENOENT)
		err = -EIO; /* it is there, else the agent would not run */
	if (!err)
		err = select_evaluate(&query, store, deadline, &node, e);
	if (!err && (original ? select_node_original(&node, json)
			      : select_node_json(&node, agent->config->node, json)))
		err = error_set(e, -ENOMEM, "out of memory");
	select_node_free(&node);
	select_query_free(&query);
	metric_store_close(store);
	return err;
}

static void answer_json(struct http_answer *answer, int err, const struct error *e)
{
	struct buf *body = &answer->body;

	answer->type = "application/json";
	if (!err && body->size && body->data[body->size - 1] == '\n')
		return;
	if (!err && !buf_append(body, "\n", 1))
		return;
	buf_free(&answer->body);
	answer_error(answer, err, e);
}

static void answer_query(struct agent *agent, const struct http_request *request,
			 struct http_answer *answer)
{
	struct error e;
	int err;

	if (!request->query) {
		http_say(answer, 400, "ask with q: /query?q=select cpu_avg from %s",
			 agent->config->node);
		return;
	}
	if (agent->config->coordinate)
		err = coordinate_answer(&agent->coordinator, request->query, false, &answer->body,
					&e);
	else
		err = evaluate(agent, request->query, request->deadline, false, &answer->body, &e);
	answer_json(answer, err, &e);
}

/* ---- the paths of the first askers ---- */

static int check_nodes(const struct agent *agent, const char *nodes, struct error *e)
{
	return !strcmp(nodes, agent->config->node) || !strcmp(nodes, "*")
		       ? 0
		       : error_set(e, -ENOENT, "this is node '%s' alone: '%s' is not known here",
				   agent->config->node, nodes);
}

/* {"n1": {...}} of this node. */
static int evaluate_named(struct agent *agent, const char *text, uint64_t deadline,
			  struct buf *json, struct error *e)
{
	int err = buf_printf(json, "{\"%s\": ", agent->config->node);

	if (!err)
		err = evaluate(agent, text, deadline, true, json, e);
	return err ? err : buf_append(json, "}", 1);
}

static void answer_original(struct agent *agent, const struct http_request *request,
			    struct http_answer *answer)
{
	const char *names = request->path + 1, *slash = strchr(names, '/');
	size_t length = slash ? (size_t)(slash - names) : strlen(names);
	const char *nodes = slash ? slash + 1 : agent->config->node;
	char text[HTTP_MOST_PATH + 64];
	struct error e;
	int err;

	if (!length || strspn(names, PLAIN_NAMES) < length || !*nodes ||
	    nodes[strspn(nodes, PLAIN_NAMES)]) {
		http_say(answer, 404, "nothing is here: /metrics, /query?q=, /METRIC,...");
		return;
	}
	snprintf(text, sizeof(text), "select %.*s from %s", (int)length, names, nodes);
	if (slash && agent->config->coordinate)
		err = coordinate_answer(&agent->coordinator, text, true, &answer->body, &e);
	else if (!slash)
		err = evaluate(agent, text, request->deadline, true, &answer->body, &e);
	else
		err = check_nodes(agent, nodes, &e);
	if (!err && slash && !agent->config->coordinate)
		err = evaluate_named(agent, text, request->deadline, &answer->body, &e);
	answer_json(answer, err, &e);
}

void agent_answer(void *context, const struct http_request *request, struct http_answer *answer)
{
	struct agent *agent = context;

	if (!strcmp(request->path, "/"))
		answer_page(answer);
	else if (!strcmp(request->path, "/healthz"))
		answer_health(agent, answer);
	else if (!strcmp(request->path, "/metrics"))
		answer_metrics(agent, request, answer);
	else if (!strcmp(request->path, "/query"))
		answer_query(agent, request, answer);
	else
		answer_original(agent, request, answer);
}
