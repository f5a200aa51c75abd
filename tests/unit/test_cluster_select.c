/* Questions: what is understood, what is not and where; slots to quantiles; answers as JSON and back. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/select/answer.h"
#include "cluster/select/nodes.h"

static void whole_questions_are_understood(void **state)
{
	struct select_query query;
	struct error e;

	(void)state;
	assert_int_equal(
		select_parse("SELECT cpu_avg, runqlat_p99 FROM n1,'n 2' , n-3.x WHERE pid = 42 AND "
			     "comm = 'loader' OVER 5m EVERY 10s until "
			     "'2026-11-15T03:57:25Z' ;",
			     &query, &e),
		0);
	assert_int_equal(query.metric_count, 2);
	assert_int_equal(query.metrics[0].metric, METRIC_cpudist);
	assert_int_equal(query.metrics[0].form, SELECT_AVG);
	assert_int_equal(query.metrics[1].form, SELECT_P99);
	assert_int_equal(query.node_count, 3);
	assert_string_equal(query.nodes[1], "n 2");
	assert_string_equal(query.nodes[2], "n-3.x");
	assert_int_equal(query.pid, 42);
	assert_string_equal(query.comm, "loader");
	assert_int_equal(query.over, 300000000000);
	assert_int_equal(query.every, 10000000000);
	assert_int_equal(query.until, 1794715045000000000);
	select_query_free(&query);
}

/* Lines that the first client of these questions took. */
static void lines_of_the_first_client_are_understood(void **state)
{
	static const char *const lines[] = {
		"select cpu_avg from n1,n2,n3",
		"select cpu_avg,cpu_sum from n1,n3",
		"select cpu_avg,pidpersec_avg,runqlat_avg,runqlat_sum from n1,n2,n3",
		"cpudist_avg,cpudist_sum from *",
	};
	struct select_query query;
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		assert_int_equal(select_parse(lines[i], &query, &e), 0);
		select_query_free(&query);
	}
}

static void a_caret_stands_under_the_place(void **state)
{
	static const struct {
		const char *text, *says;
		int err;
	} bad[] = {
		{ "select cpu_avg fron n1",
		  "'from' is expected here\n"
		  "  select cpu_avg fron n1\n"
		  "                 ^",
		  -EINVAL },
		{ "cpu_avg,, from n1", "^", -EINVAL },
		{ "select cpu_agv from n1", "there is no metric 'cpu_agv'", -ENOENT },
		{ "select cpu from n1", "there is no metric 'cpu'", -ENOENT },
		{ "select disk_util_p99 from n1", "there is no metric", -ENOENT },
		{ "select cpu_avg from",
		  "a node's name, or *, is expected here\n"
		  "  select cpu_avg from\n"
		  "                     ^",
		  -EINVAL },
		{ "select cpu_avg from n1 where pid = 0", "a process id is expected", -EINVAL },
		{ "select cpu_avg from n1 where pid = x", "a process id is expected", -EINVAL },
		{ "select cpu_avg from n1 where tid = 1", "'pid' or 'comm' is expected", -EINVAL },
		{ "select biolat_avg from n1 where pid = 1", "not kept for each process", -EINVAL },
		{ "select cpu_avg from n1 over 1ms", "a time of 100ms or more", -EINVAL },
		{ "select cpu_avg from n1 every", "a time of 100ms or more", -EINVAL },
		{ "select cpu_avg from 'n1", "^", -EINVAL },
		{ "select cpu_avg from n1 limit 3", "where, over, every, until or the end",
		  -EINVAL },
		{ "select cpu_avg from n1 \x1b[31m", "  select cpu_avg from n1 ?[31m", -EINVAL },
		{ "", "a metric", -EINVAL },
	};
	struct select_query query;
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(select_parse(bad[i].text, &query, &e), bad[i].err);
		if (!strstr(e.text, bad[i].says))
			fail_msg("'%s' is answered with: %s", bad[i].text, e.text);
		assert_null(query.nodes);
	}
}

/* What Prometheus 2.42 answers for the same buckets. */
static void quantiles_are_those_of_prometheus(void **state)
{
	uint64_t slots[LIVE_SLOTS] = { 0 };

	(void)state;
	assert_true(isnan(select_quantile(slots, 0.5)));
	slots[0] = 10; /* [0, 2) us */
	assert_float_equal(select_quantile(slots, 0.5), 1.0, 1e-12);
	slots[3] = 10; /* [8, 16) us */
	assert_float_equal(select_quantile(slots, 0.5), 2.0, 1e-12);
	assert_float_equal(select_quantile(slots, 0.75), 12.0, 1e-12);
	assert_float_equal(select_quantile(slots, 0.99), 15.84, 1e-12);
	slots[LIVE_SLOTS - 1] = 1000; /* without an end */
	assert_float_equal(select_quantile(slots, 0.99), ldexp(1, LIVE_SLOTS - 1), 1e-12);
}

static void values_are_per_second_of_what_was_measured(void **state)
{
	struct select_cell cell = {
		.slots = { 4, 0, 6 }, .count = 10, .sum = 50000, .most = 7000, .any = true
	};
	struct select_point point = { .covered = 2000000000 };
	struct select_metric metric;
	struct error e;

	(void)state;
	assert_int_equal(select_find_metric("cpu_avg", &metric, &e), 0);
	select_finish(&metric, &cell, &point);
	assert_true(point.known);
	assert_int_equal(point.slot_count, 3);
	assert_float_equal(point.slots[0], 2, 0);
	assert_float_equal(point.slots[2], 3, 0);
	assert_int_equal(select_find_metric("runqlat_mean", &metric, &e), 0);
	select_finish(&metric, &cell, &point);
	assert_float_equal(point.value, 5, 0); /* us */
	assert_int_equal(select_find_metric("runqlat_max", &metric, &e), 0);
	select_finish(&metric, &cell, &point);
	assert_float_equal(point.value, 7, 0);
	assert_int_equal(select_find_metric("runqlat_p99", &metric, &e), 0);
	select_finish(&metric, &(struct select_cell){ 0 }, &point);
	assert_false(point.known);
}

static void answers_read_back_as_they_were(void **state)
{
	static const char text[] =
		"{\"nodes\": [{\"node\": \"n1\", \"from\": 1, \"to\": 9, \"series\": ["
		"{\"metric\": \"cpu_avg\", \"points\": [{\"from\": 1, \"to\": 9, \"seconds\": "
		"0.1, \"slots\": [0.1, 0.30000000000000004]}]}, {\"metric\": \"runqlat_p99\", "
		"\"points\": [{\"from\": 1, \"to\": 9, \"seconds\": 0, \"value\": null}]}]}, "
		"{\"node\": \"n2\", \"error\": \"down\"}]}";
	struct select_answer answer = { 0 }, again = { 0 };
	struct buf json = { 0 }, second = { 0 };
	struct error e;

	(void)state;
	assert_int_equal(select_answer_read(text, strlen(text), &answer, &e), 0);
	assert_int_equal(answer.count, 2);
	assert_string_equal(answer.nodes[1].error, "down");
	assert_true(answer.nodes[0].series[0].points[0].slots[1] == 0.30000000000000004);
	assert_false(answer.nodes[0].series[1].points[0].known);
	assert_int_equal(select_answer_json(&answer, &json), 0);
	assert_int_equal(select_answer_read((char *)json.data, json.size, &again, &e), 0);
	assert_int_equal(select_answer_json(&again, &second), 0);
	assert_int_equal(json.size, second.size);
	assert_memory_equal(json.data, second.data, json.size);
	select_answer_free(&answer);
	select_answer_free(&again);
	buf_free(&json);
	buf_free(&second);
	assert_int_equal(select_answer_read("{\"nodes\": 1}", 12, &answer, &e), -EBADMSG);
	select_answer_free(&answer);
}

static void lists_of_nodes_are_small_ini_files(void **state)
{
	struct nodes nodes = { 0 };
	struct error e;

	(void)state;
	assert_int_equal(nodes_parse(&nodes,
				     "# mine\n[nodes]\nn1 = 127.0.0.1:6100\nn2=https://n2:6100/\n"
				     "[tokens]\nn2 = secret\n* = other\n",
				     &e),
			 0);
	assert_string_equal(nodes_find(&nodes, "n1")->address, "http://127.0.0.1:6100");
	assert_string_equal(nodes_find(&nodes, "n2")->address, "https://n2:6100");
	assert_string_equal(nodes_find(&nodes, "n2")->token, "secret");
	assert_string_equal(nodes.token, "other");
	assert_int_equal(nodes_parse(&nodes, "n1 = twice", &e), -EINVAL);
	assert_int_equal(nodes_parse(&nodes, "\nn4\n", &e), -EINVAL);
	assert_non_null(strstr(e.text, "line 2"));
	assert_int_equal(nodes_unknown(&nodes, "n9", &e), -ENOENT);
	assert_non_null(strstr(e.text, "known are n1, n2"));
	nodes_free(&nodes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_questions_are_understood),
		cmocka_unit_test(lines_of_the_first_client_are_understood),
		cmocka_unit_test(a_caret_stands_under_the_place),
		cmocka_unit_test(quantiles_are_those_of_prometheus),
		cmocka_unit_test(values_are_per_second_of_what_was_measured),
		cmocka_unit_test(answers_read_back_as_they_were),
		cmocka_unit_test(lists_of_nodes_are_small_ini_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
