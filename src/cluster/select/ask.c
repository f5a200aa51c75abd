/* See ask.h. */
#include "cluster/select/ask.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"

#define ANSWER_LIMIT (256u << 20)
#define AT_ONCE	     128 /* connections under way */

struct asking {
	const struct node *node;
	CURL *curl;
	struct curl_slist *headers;
	struct buf body;
	char message[CURL_ERROR_SIZE];
	CURLcode code;
	bool finished;
};

static size_t take_body(char *bytes, size_t size, size_t count, void *data)
{
	return buf_append(data, bytes, size * count) ? 0 : size * count;
}

/* Who may see the question may see the answer, but nobody else the token: no other protocol, and no redirection. */
static int asking_begin(struct asking *asking, const struct node *node, const char *token,
			const char *text, uint64_t timeout)
{
	struct buf url = { 0 }, header = { 0 };
	char *escaped;
	int err = -ENOMEM;

	asking->node = node;
	asking->body.limit = ANSWER_LIMIT;
	asking->curl = curl_easy_init();
	escaped = asking->curl ? curl_easy_escape(asking->curl, text, 0) : NULL;
	if (!escaped || buf_printf(&url, "%s/query?q=%s", node->address, escaped))
		goto out;
	if (*token && (buf_printf(&header, "Authorization: Bearer %s", token) ||
		       !(asking->headers = curl_slist_append(NULL, (const char *)header.data))))
		goto out;
	curl_easy_setopt(asking->curl, CURLOPT_URL, (const char *)url.data);
	curl_easy_setopt(asking->curl, CURLOPT_HTTPHEADER, asking->headers);
	curl_easy_setopt(asking->curl, CURLOPT_ERRORBUFFER, asking->message);
	curl_easy_setopt(asking->curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(asking->curl, CURLOPT_WRITEDATA, &asking->body);
	curl_easy_setopt(asking->curl, CURLOPT_TIMEOUT_MS, (long)(timeout / 1000000));
	curl_easy_setopt(asking->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(asking->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(asking->curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(asking->curl, CURLOPT_PRIVATE, (char *)asking);
	err = 0;
out:
	curl_free(escaped);
	buf_free(&url);
	buf_free(&header);
	return err;
}

static void asking_end(struct asking *asking)
{
	curl_easy_cleanup(asking->curl);
	curl_slist_free_all(asking->headers);
	buf_free(&asking->body);
}

static void take_finished(CURLM *multi)
{
	struct asking *asking;
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&asking);
		asking->code = message->data.result;
		asking->finished = true;
	}
}

/* Each ends by its own timeout; the time for all is twice that, for those that wait for a connection. */
static int run_all(struct asking *askings, unsigned count, uint64_t timeout, struct error *e)
{
	CURLM *multi = curl_multi_init();
	uint64_t end = clock_monotonic() + 2 * timeout;
	int running = 1;

	if (!multi)
		return error_set(e, -ENOMEM, "out of memory");
	curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)AT_ONCE);
	for (unsigned i = 0; i < count; i++)
		curl_multi_add_handle(multi, askings[i].curl);
	while (running && clock_monotonic() < end) {
		if (curl_multi_perform(multi, &running))
			break;
		take_finished(multi);
		if (running)
			curl_multi_poll(multi, NULL, 0, 100, NULL);
	}
	for (unsigned i = 0; i < count; i++)
		curl_multi_remove_handle(multi, askings[i].curl);
	curl_multi_cleanup(multi);
	return 0;
}

/* Why there is no answer; empty: there is one. */
static void find_failure(const struct asking *asking, char out[256])
{
	const char *words = (const char *)asking->body.data;
	long status = 0;

	out[0] = '\0';
	curl_easy_getinfo(asking->curl, CURLINFO_RESPONSE_CODE, &status);
	if (!asking->finished || asking->code == CURLE_OPERATION_TIMEDOUT)
		snprintf(out, 256, "%.100s did not answer in time", asking->node->address);
	else if (asking->code)
		snprintf(out, 256, "%.100s: %.150s", asking->node->address,
			 *asking->message ? asking->message : curl_easy_strerror(asking->code));
	else if (status != 200)
		snprintf(out, 256, "%.100s answered HTTP %ld: %.*s", asking->node->address, status,
			 asking->body.size > 110 ? 110 : (int)asking->body.size,
			 asking->body.size ? words : "");
	for (size_t length = strlen(out); length && out[length - 1] == '\n'; length--)
		out[length - 1] = '\0';
}

/* The first node of what it says, under the name that it is known by here. */
static int take_answer(struct asking *asking, struct select_answer *answer, struct error *e)
{
	struct select_node *node = select_add_node(answer, asking->node->name);
	struct select_answer said = { 0 };
	struct error why;

	if (!node)
		return error_set(e, -ENOMEM, "out of memory");
	find_failure(asking, node->error);
	if (*node->error)
		return 0;
	if (select_answer_read((const char *)asking->body.data, asking->body.size, &said, &why) ||
	    said.count != 1) {
		snprintf(node->error, sizeof(node->error), "%.100s: %.150s", asking->node->address,
			 said.count > 1 ? "it answers for many nodes" : why.text);
	} else {
		*node = said.nodes[0];
		snprintf(node->name, sizeof(node->name), "%s", asking->node->name);
		said.nodes[0] = (struct select_node){ 0 };
	}
	select_answer_free(&said);
	return 0;
}

/* The nodes that are asked, in the order of the question. */
static int choose_nodes(const struct nodes *nodes, const struct select_query *query,
			const struct node **out, struct error *e)
{
	for (unsigned i = 0; i < query->node_count; i++) {
		out[i] = nodes_find(nodes, query->nodes[i]);
		if (!out[i])
			return nodes_unknown(nodes, query->nodes[i], e);
	}
	for (unsigned i = 0; !query->nodes && i < nodes->count; i++)
		out[i] = &nodes->items[i];
	return 0;
}

int ask_nodes(const struct nodes *nodes, const char *text, const struct select_query *query,
	      uint64_t timeout, struct select_answer *answer, struct error *e)
{
	unsigned count = query->nodes ? query->node_count : nodes->count, begun = 0;
	const struct node **chosen = calloc(count + 1, sizeof(*chosen));
	struct asking *askings = calloc(count + 1, sizeof(*askings));
	int err = chosen && askings ? choose_nodes(nodes, query, chosen, e)
				    : error_set(e, -ENOMEM, "out of memory");

	for (; begun < count && !err; begun++)
		if (asking_begin(&askings[begun], chosen[begun],
				 *chosen[begun]->token ? chosen[begun]->token : nodes->token, text,
				 timeout))
			err = error_set(e, -ENOMEM, "out of memory");
	if (!err)
		err = run_all(askings, count, timeout, e);
	for (unsigned i = 0; i < count && !err; i++)
		err = take_answer(&askings[i], answer, e);
	for (unsigned i = 0; i < begun; i++)
		asking_end(&askings[i]);
	free(askings);
	free(chosen);
	return err;
}

int ask_coordinator(const struct node *coordinator, const char *text, uint64_t timeout,
		    struct select_answer *answer, struct error *e)
{
	struct asking asking = { 0 };
	char failure[256];
	int err;

	if (asking_begin(&asking, coordinator, coordinator->token, text, timeout))
		err = error_set(e, -ENOMEM, "out of memory");
	else
		err = run_all(&asking, 1, timeout, e);
	if (!err)
		find_failure(&asking, failure);
	if (!err && *failure)
		err = error_set(e, -EIO, "%s", failure);
	if (!err)
		err = select_answer_read((const char *)asking.body.data, asking.body.size, answer,
					 e);
	asking_end(&asking);
	return err;
}
