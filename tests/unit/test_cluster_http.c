/* Who is let in by the agent's server, how often, and what /metrics prints. */
#include "cluster/http_guard.h"
#include "cluster/totals.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

static struct error e;

static struct sockaddr_in from_host(const char *text)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	inet_pton(AF_INET, text, &address.sin_addr);
	return address;
}

static struct http_asked plain(void)
{
	return (struct http_asked){ .method = "GET",
				    .path = "/metrics",
				    .host = "127.0.0.1:6100",
				    .authorization = "",
				    .content_length = "",
				    .transfer_encoding = "" };
}

/* The status of the refusal; 0: let in. */
static unsigned ask(struct http_guard *guard, const struct http_asked *asked, const char *from,
		    uint64_t now)
{
	struct sockaddr_in address = from_host(from);
	struct http_answer answer = { 0 };

	if (!http_guard_admit(guard, asked, (struct sockaddr *)&address, now, &answer))
		assert_true(answer.status >= 400 && answer.body.size > 0);
	buf_free(&answer.body);
	return answer.status;
}

static void requests_are_looked_at(void **state)
{
	struct http_asked asked = plain();
	struct http_guard guard;

	(void)state;
	http_guard_init(&guard, NULL);
	guard.loopback = true;
	assert_int_equal(ask(&guard, &asked, "127.0.0.1", 1), 0);
	asked.method = "POST";
	assert_int_equal(ask(&guard, &asked, "127.0.0.1", 1), 405);
	asked = plain();
	asked.content_length = "5";
	assert_int_equal(ask(&guard, &asked, "127.0.0.1", 1), 413);
	asked.transfer_encoding = "chunked";
	assert_int_equal(ask(&guard, &asked, "127.0.0.1", 1), 400);
	asked = plain();
	asked.bad_target = true;
	assert_int_equal(ask(&guard, &asked, "127.0.0.1", 1), 400);
	http_guard_free(&guard);
}

static void other_names_are_refused_on_loopback(void **state)
{
	static const char *const own[] = { "localhost", "localhost:6100", "127.0.0.1", "[::1]:6100",
					   "127.0.0.2:1" };
	static const char *const others[] = { "evil.example",	"localhost.evil.example",
					      "127.evil.org",	"",
					      "127.0.0.1.evil", "[::1].evil" };
	struct http_asked asked = plain();
	struct http_guard guard;

	(void)state;
	http_guard_init(&guard, NULL);
	guard.loopback = true;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		asked.host = own[i];
		assert_int_equal(ask(&guard, &asked, "127.0.0.1", 1), 0);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		asked.host = others[i];
		assert_int_equal(ask(&guard, &asked, "127.0.0.1", 1), 421);
	}
	guard.loopback = false;
	http_guard_free(&guard);
}

static void the_token_opens(void **state)
{
	struct http_asked asked = plain();
	struct http_guard guard;

	(void)state;
	http_guard_init(&guard, "0123456789abcdef");
	assert_int_equal(ask(&guard, &asked, "10.0.0.1", 1), 401);
	asked.authorization = "Bearer 0123456789abcdef";
	assert_int_equal(ask(&guard, &asked, "10.0.0.1", 1), 0);
	asked.authorization = "bearer 0123456789abcdef";
	assert_int_equal(ask(&guard, &asked, "10.0.0.1", 1), 0);
	asked.authorization = "Bearer 0123456789abcdeF";
	assert_int_equal(ask(&guard, &asked, "10.0.0.1", 1), 401);
	asked.authorization = "Bearer 0123456789abcdef0";
	assert_int_equal(ask(&guard, &asked, "10.0.0.1", 1), 401);
	asked.authorization = "Bearer 0123456789abcde";
	assert_int_equal(ask(&guard, &asked, "10.0.0.1", 1), 401);
	asked.authorization = "Bearer ";
	assert_int_equal(ask(&guard, &asked, "10.0.0.1", 1), 401);
	asked.is_public = true;
	assert_int_equal(ask(&guard, &asked, "10.0.0.1", 1), 0);
	http_guard_free(&guard);
}

static void one_client_cannot_use_up_the_others(void **state)
{
	uint64_t now = 5 * NS_PER_SECOND;
	struct http_asked asked = plain();
	struct http_guard guard;
	unsigned admitted = 0;

	(void)state;
	http_guard_init(&guard, "0123456789abcdef");
	asked.authorization = "Bearer 0123456789abcdef";
	while (!ask(&guard, &asked, "10.0.0.1", now) && admitted < 10000)
		admitted++;
	assert_int_equal(admitted, 200);
	assert_int_equal(ask(&guard, &asked, "10.0.0.1", now), 429);
	assert_int_equal(ask(&guard, &asked, "10.0.0.2", now), 0);
	assert_int_equal(ask(&guard, &asked, "10.0.0.1", now + NS_PER_SECOND), 0);
	http_guard_free(&guard);
}

static void targets_are_plain(void **state)
{
	char long_one[HTTP_MOST_PATH + 2];

	(void)state;
	assert_true(http_target_is_plain("/query?q=select%20cpu_avg%20from%20n1"));
	assert_false(http_target_is_plain("/metrics%00/x"));
	assert_false(http_target_is_plain("/a%0d%0ab"));
	assert_false(http_target_is_plain("/a%7Fb"));
	assert_false(http_target_is_plain("/a%2"));
	assert_false(http_target_is_plain("/a%zz"));
	assert_false(http_target_is_plain("/a\x01"));
	memset(long_one, 'a', sizeof(long_one));
	long_one[HTTP_MOST_PATH] = 0;
	assert_true(http_target_is_plain(long_one));
	long_one[HTTP_MOST_PATH] = 'a';
	long_one[HTTP_MOST_PATH + 1] = 0;
	assert_false(http_target_is_plain(long_one));
}

/* ---- /metrics ---- */

static char *print(struct totals *totals, bool openmetrics)
{
	struct buf out = { 0 };

	assert_int_equal(totals_print(totals, openmetrics, &out), 0);
	assert_int_equal(buf_append(&out, "", 1), 0);
	return (char *)out.data;
}

static void has(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%s", line, text);
}

static void totals_add_up(void **state)
{
	uint64_t slots[LIVE_SLOTS] = { 2, 0, 5, [LIVE_SLOTS - 1] = 1 };
	struct metric_sample samples[] = {
		{ .metric = METRIC_biolat,
		  .label = "we\"ird\\",
		  .op = "R",
		  .comm = "",
		  .slots = slots,
		  .sum = 1500 },
		{ .metric = METRIC_cpudist,
		  .label = "",
		  .op = "",
		  .pid = 7,
		  .comm = "secret",
		  .slots = slots },
		{ .metric = METRIC_disk_reads, .label = "vda", .op = "", .comm = "", .value = 3 },
		{ .metric = METRIC_disk_util, .label = "vda", .op = "", .comm = "", .value = 50 },
	};
	struct metric_interval interval = { .samples = samples, .count = 4 };
	struct totals_own own = { .lost = 4, .cpu_ns = 1500000000 };
	struct totals *totals;
	char *text;

	(void)state;
	assert_int_equal(totals_open(&totals, "n1", &e), 0);
	totals_add(totals, &interval, &own);
	totals_add(totals, &interval, &own);
	totals_count_answer(totals, 404);
	text = print(totals, false);
	has(text, "# TYPE strata_block_latency_seconds histogram\n");
	has(text,
	    "strata_block_latency_seconds_bucket{node=\"n1\",device=\"we\\\"ird\\\\\",op=\"R\","
	    "le=\"2e-06\"} 4\n");
	has(text, "le=\"8e-06\"} 14\n");
	has(text, "le=\"+Inf\"} 16\n");
	has(text, "_sum{node=\"n1\",device=\"we\\\"ird\\\\\",op=\"R\"} 3e-06\n");
	has(text, "_count{node=\"n1\",device=\"we\\\"ird\\\\\",op=\"R\"} 16\n");
	has(text, "# TYPE strata_disk_reads_total counter\n"
		  "strata_disk_reads_total{node=\"n1\",device=\"vda\"} 6\n");
	has(text, "strata_disk_util_ratio{node=\"n1\",device=\"vda\"} 0.5\n");
	has(text, "strata_agent_lost_events_total{node=\"n1\"} 4\n");
	has(text, "strata_agent_cpu_seconds_total{node=\"n1\"} 1.5\n");
	has(text, "strata_agent_http_answers_total{node=\"n1\",code=\"4xx\"} 1\n");
	assert_null(strstr(text, "secret"));
	assert_null(strstr(text, "pid="));
	free(text);
	text = print(totals, true);
	has(text, "# TYPE strata_disk_reads counter\nstrata_disk_reads_total{");
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	free(text);
	interval.count = 3; /* the disk is gone */
	totals_add(totals, &interval, &own);
	text = print(totals, false);
	assert_null(strstr(text, "strata_disk_util_ratio"));
	free(text);
	totals_close(totals);
}

/* Devices come and go for a year: memory does not grow without end, and what is left out is told. */
static void series_are_bounded(void **state)
{
	struct metric_sample sample = {
		.metric = METRIC_disk_reads, .op = "", .comm = "", .value = 1
	};
	struct metric_interval interval = { .samples = &sample, .count = 1 };
	struct totals_own own = { 0 };
	struct totals *totals;
	char label[32], *text;

	(void)state;
	assert_int_equal(totals_open(&totals, "n1", &e), 0);
	sample.label = label;
	for (int i = 0; i < 9000; i++) {
		snprintf(label, sizeof(label), "loop%d", i);
		totals_add(totals, &interval, &own);
	}
	text = print(totals, false);
	has(text, "strata_agent_lost_events_total{node=\"n1\"} 808\n"); /* 9000 - 8192 */
	free(text);
	totals_close(totals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_looked_at),
		cmocka_unit_test(other_names_are_refused_on_loopback),
		cmocka_unit_test(the_token_opens),
		cmocka_unit_test(one_client_cannot_use_up_the_others),
		cmocka_unit_test(targets_are_plain),
		cmocka_unit_test(totals_add_up),
		cmocka_unit_test(series_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
