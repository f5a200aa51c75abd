/* What strata sql understands of SQL and of DuckDB's plans, without DuckDB: statements, plan trees and conditions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/expression.h"
#include "query/plan_tree.h"
#include "query/split.h"
#include "query/text.h"

static void assert_statement(const char *text, const char *expected, bool ended)
{
	struct split split = split_statement(text);

	assert_int_equal(split.size, strlen(expected));
	assert_memory_equal(split.start, expected, split.size);
	assert_int_equal(split.ended, ended);
}

static void test_split(void **state)
{
	(void)state;
	assert_statement("", "", false);
	assert_statement(" ;; -- only ; a comment\n/* and ; another */", "", false);
	assert_statement("select 1 ; select 2", "select 1", true);
	assert_statement("select ';' || \"a;b\" -- x ; y\n, 1;",
			 "select ';' || \"a;b\" -- x ; y\n, 1", true);
	assert_statement("select 'it''s;';x", "select 'it''s;'", true);
	assert_statement("select e'a\\';b';", "select e'a\\';b'", true);
	assert_statement("select done'a\\';b", "select done'a\\'", true);
	assert_statement("select $$a;b$$, $t$;$$;$t$;", "select $$a;b$$, $t$;$$;$t$", true);
	assert_statement("select /* /* ; */ ; */ 1", "select /* /* ; */ ; */ 1", false);
	assert_statement("select 'open;", "select 'open;", false);
}

static const char plan[] =
	"[ { \"name\": \"PROJECTION\", \"children\": [ { \"name\": \"FILTER\", \"children\": "
	"[ { \"name\": \"STRATA_IO\", \"children\": [], \"extra_info\": { \"Projections\": [\"a\", "
	"{\"x\": [1, 2]}], \"n\": 1.5 } } ], \"extra_info\": { \"Expression\": \"(a = "
	"'q\\\"\\n')\" } }, "
	"{ \"name\": \"HASH_JOIN\", \"children\": [], \"extra_info\": { \"Join Type\": \"MARK\" } "
	"} ], "
	"\"extra_info\": {} } ]";

static void test_plan_tree(void **state)
{
	struct plan_node *root = plan_tree_parse(plan);

	(void)state;
	assert_non_null(root);
	assert_string_equal(root->name, "PROJECTION");
	assert_int_equal(root->count, 2);
	assert_string_equal(root->children[0]->expression, "(a = 'q\"\n')");
	assert_string_equal(root->children[0]->children[0]->name, "STRATA_IO");
	assert_string_equal(root->children[1]->join, "MARK");
	plan_tree_free(root);
}

/* Whatever is cut off or changed: NULL or a tree, no crash. */
static void test_plan_tree_damaged(void **state)
{
	char text[sizeof(plan)];

	(void)state;
	for (size_t size = 0; size < sizeof(plan) - 1; size++) {
		memcpy(text, plan, sizeof(plan));
		text[size] = '\0';
		plan_tree_free(plan_tree_parse(text));
		memcpy(text, plan, sizeof(plan));
		text[size] = "{}[]\",:\\"[size % 8];
		plan_tree_free(plan_tree_parse(text));
	}
}

struct parsed {
	struct query_column columns[QUERY_MAX_COLUMNS];
	unsigned column_count;
	struct condition *conditions;
	size_t count;
};

static struct parsed parse(const char *expression)
{
	struct parsed parsed = { 0 };

	parsed.column_count = query_columns(&schema_tables[TABLE_io], parsed.columns);
	assert_int_equal(expression_conditions(expression, "strata_io_", parsed.columns,
					       parsed.column_count, &parsed.conditions,
					       &parsed.count),
			 0);
	return parsed;
}

static const char *name_of(const struct parsed *parsed, size_t i)
{
	return parsed->columns[parsed->conditions[i].column].name;
}

static void assert_range(const char *expression, const char *column, int64_t low, int64_t high)
{
	struct parsed parsed = parse(expression);

	assert_int_equal(parsed.count, 1);
	assert_string_equal(name_of(&parsed, 0), column);
	assert_true(parsed.conditions[0].is_range);
	assert_true(parsed.conditions[0].low_number == low);
	assert_true(parsed.conditions[0].high_number == high);
	conditions_free(parsed.conditions, parsed.count);
}

static void assert_values(const char *expression, const char *column, size_t numbers, size_t texts)
{
	struct parsed parsed = parse(expression);

	assert_int_equal(parsed.count, 1);
	assert_string_equal(name_of(&parsed, 0), column);
	assert_false(parsed.conditions[0].is_range);
	assert_int_equal(parsed.conditions[0].numbers.size / sizeof(int64_t), numbers);
	assert_int_equal(parsed.conditions[0].texts.size / sizeof(struct condition_text), texts);
	conditions_free(parsed.conditions, parsed.count);
}

static void assert_nothing(const char *expression)
{
	struct parsed parsed = parse(expression);

	assert_int_equal(parsed.count, 0);
	conditions_free(parsed.conditions, parsed.count);
}

static void test_conditions(void **state)
{
	(void)state;
	assert_values("(strata_io_tid = 13630)", "tid", 1, 0);
	assert_values("(13630 = strata_io_tid)", "tid", 1, 0);
	assert_values("((strata_io_op = 'read') OR (strata_io_op = 'it''s'))", "op", 0, 2);
	assert_values("(strata_io_op IN ('a', 'b, c', 'd'))", "op", 0, 3);
	assert_range("(strata_io_dur > 1000)", "dur", 1001, INT64_MAX);
	assert_range("(1000 >= strata_io_dur)", "dur", INT64_MIN, 1000);
	assert_range("(strata_io_ts BETWEEN 5 AND 10)", "ts", 5, 10);
	assert_range("(strata_io_ts = 7)", "ts", 7, 7);
	assert_range("(strata_io_utc >= '2026-11-15 00:00:00'::TIMESTAMP_NS)", "utc",
		     1794700800000000000ll, INT64_MAX);
}

/* A number compared as another kind may be rounded: the bounds are wider, never narrower. */
static void test_rounded_bounds(void **state)
{
	struct parsed parsed = parse("(CAST(strata_io_dur AS DOUBLE) > 1000000.0)");

	(void)state;
	assert_int_equal(parsed.count, 1);
	assert_true(parsed.conditions[0].low_number <= 1000000);
	assert_true(parsed.conditions[0].low_number > 999990);
	conditions_free(parsed.conditions, parsed.count);
	parsed = parse("(strata_io_t BETWEEN 1.5 AND 2)");
	assert_true(parsed.conditions[0].low <= 1.5 && parsed.conditions[0].high >= 2);
	conditions_free(parsed.conditions, parsed.count);
}

static void test_conjunction(void **state)
{
	struct parsed parsed =
		parse("((strata_io_ts BETWEEN 5 AND 10) AND prefix(strata_io_op, 'a') AND "
		      "(strata_io_tid = 3) AND ((strata_io_dur > 1) OR (strata_io_tid = 4)))");

	(void)state;
	assert_int_equal(parsed.count, 2);
	assert_string_equal(name_of(&parsed, 0), "ts");
	assert_string_equal(name_of(&parsed, 1), "tid");
	conditions_free(parsed.conditions, parsed.count);
}

static void test_what_says_nothing(void **state)
{
	(void)state;
	assert_nothing("");
	assert_nothing("(");
	assert_nothing("(NOT (strata_io_tid = 5))");
	assert_nothing("(strata_io_tid != 5)");
	assert_nothing("(strata_io_tid IS NOT DISTINCT FROM 5)");
	assert_nothing("(strata_io_tid = strata_io_pid)");
	assert_nothing("((strata_io_tid + 1) = 5)");
	assert_nothing("((strata_io_tid = 5) IS NULL)");
	assert_nothing("(strata_io_op >= 'read')");
	assert_nothing("(strata_fs_tid = 5)");
	assert_nothing("(tid = 5)");
	assert_nothing("((strata_io_tid = 5) OR (strata_io_op = 'read'))");
	assert_nothing("('(strata_io_tid = 5)' = strata_io_comm)");
	assert_nothing("(strata_io_requested = 5)");
	assert_nothing("(CAST(strata_io_tid AS VARCHAR) = '5')");
	assert_nothing("(CASE  WHEN ((random() < 2)) THEN ((strata_io_tid = 5)) ELSE NULL END)");
}

static void test_text(void **state)
{
	duckdb_string_t twelve = text_string("123456789012", 12),
			more = text_string("1234567890123", 13);

	(void)state;
	assert_memory_equal(text_bytes(&twelve), "123456789012", 12);
	assert_memory_equal(text_bytes(&more), "1234567890123", 13);
	assert_false(text_equals(&twelve, &more));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_plan_tree),
		cmocka_unit_test(test_plan_tree_damaged),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_rounded_bounds),
		cmocka_unit_test(test_conjunction),
		cmocka_unit_test(test_what_says_nothing),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
