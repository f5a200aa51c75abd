/* What changed between two runs, on recordings whose differences are known on paper. */
#include "report_help.h"

#include <math.h>

#include "analyze/diff_load.h"

/* Run A reads /a 4 times in 1 ms each; run B twice, and /b, which A does not know. */
static const struct diff_ledgers no_ledgers;

static void add_side(struct fixture *f, bool second)
{
	add_run(f, "process,io");
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_file(f, 1, "/data/a", FILE_KIND_FILE);
	add_file(f, 2, second ? "/data/b" : "/old/c", FILE_KIND_FILE);
	for (int i = 0; i < (second ? 2 : 4); i++)
		add_read(f, 1100 + 10 * i, 100, 1, 0, 1000, 0);
	add_read(f, 1200, 100, 2, 0, second ? 500 : 70, 0);
	for (int i = 0; i < 3; i++) {
		add_mark(f, 1300 + 100 * i, 50 + (second ? 20 : 0) + i, "mark", "epoch", NULL);
	}
}

static const struct diff_item *find(const struct diff *diff, enum diff_group group,
				    const char *what, const char *name)
{
	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_item *item = &diff->items[i];

		if (item->group == group && !strcmp(item->what, what) &&
		    (name ? item->name.bytes && item->name.size == strlen(name) &&
				     !memcmp(item->name.bytes, name, item->name.size)
			  : !item->name.bytes))
			return item;
	}
	fail_msg("no item %s of %s", what, name ? name : "the run");
	return NULL;
}

struct pair {
	struct fixture *a, *b;
};

static int pair_setup(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	fixture_setup((void **)&pair->a);
	fixture_setup((void **)&pair->b);
	*state = pair;
	return 0;
}

static int pair_teardown(void **state)
{
	struct pair *pair = *state;

	fixture_teardown((void **)&pair->a);
	fixture_teardown((void **)&pair->b);
	free(pair);
	return 0;
}

static void differences_are_told_with_their_noise(void **state)
{
	struct pair *pair = *state;
	const struct diff_item *item;
	struct diff diff;
	struct error e;

	add_side(pair->a, false);
	add_side(pair->b, true);
	assert_int_equal(diff_load(&diff, help_report(pair->a, NULL, NULL),
				   help_report(pair->b, NULL, NULL), &no_ledgers, &e),
			 0);
	assert_string_equal(diff.items[0].what, "length of the run");
	assert_int_equal(diff.items[0].verdict, DIFF_SAME);
	item = find(&diff, DIFF_run, "bytes read", NULL);
	assert_true(item->a == 4070 && item->b == 2500 && item->noise == 0);
	assert_int_equal(item->verdict, DIFF_BEYOND);
	/* Calls of 1 ms each, without spread: a change of their sum is beyond it. */
	item = find(&diff, DIFF_operations, "time inside it", "read");
	assert_true(item->a == 5 * MS && item->b == 3 * MS && item->noise == 0);
	assert_int_equal(item->verdict, DIFF_BEYOND);
	item = find(&diff, DIFF_files, "bytes read", "/data/a");
	assert_true(item->a == 4000 && item->b == 2000);
	item = find(&diff, DIFF_files, "time in reads and writes", "/data/b");
	assert_true(isnan(item->a) && item->b == MS);
	item = find(&diff, DIFF_files, "time in reads and writes", "/old/c");
	assert_true(item->a == MS && isnan(item->b));
	item = find(&diff, DIFF_directories, "bytes read", "/data");
	assert_true(item->a == 4000 && item->b == 2500);
	/* 50, 51, 52 ms and 70, 71, 72: each mean has a standard error of 1 / sqrt(3) ms. */
	item = find(&diff, DIFF_phases, "mean length", "epoch");
	assert_true(item->a == 51 * MS && item->b == 71 * MS);
	assert_true(fabs(item->noise / MS - sqrt(2.0 / 3)) < 1e-6);
	assert_int_equal(item->verdict, DIFF_BEYOND);
	diff_free(&diff);
}

static void a_run_does_not_differ_from_itself(void **state)
{
	struct pair *pair = *state;
	struct diff diff;
	struct error e;

	add_side(pair->a, true);
	add_side(pair->b, true);
	assert_int_equal(diff_load(&diff, help_report(pair->a, NULL, NULL),
				   help_report(pair->b, NULL, NULL), &no_ledgers, &e),
			 0);
	assert_true(diff.count > 10);
	for (size_t i = 0; i < diff.count; i++)
		assert_int_equal(diff.items[i].verdict, DIFF_SAME);
	diff_free(&diff);
}

/* A path that is recorded twice (two files that bore it one after the other) and that the other run lacks. */
static void a_path_may_occur_twice(void **state)
{
	struct pair *pair = *state;
	unsigned found = 0;
	struct diff diff;
	struct error e;

	add_side(pair->a, true);
	add_side(pair->b, true);
	for (int64_t file = 10; file < 400; file++) {
		char path[32];

		snprintf(path, sizeof(path), "/twice/%lld", (long long)(file / 2));
		add_file(pair->a, file, path, FILE_KIND_FILE);
		add_read(pair->a, 1500, 100, file, 0, 1000, 0);
	}
	assert_int_equal(diff_load(&diff, help_report(pair->a, NULL, NULL),
				   help_report(pair->b, NULL, NULL), &no_ledgers, &e),
			 0);
	for (size_t i = 0; i < diff.count; i++) {
		const struct diff_item *item = &diff.items[i];

		if (item->group != DIFF_files || item->name.size < 7 ||
		    memcmp(item->name.bytes, "/twice/", 7) || item->unit != AMOUNT_bytes)
			continue;
		assert_true(item->a == 1000 && isnan(item->b));
		found++;
	}
	assert_int_equal(found, 390);
	diff_free(&diff);
}

static void what_only_one_run_recorded_is_left_out(void **state)
{
	struct pair *pair = *state;
	struct diff diff;
	struct error e;

	add_side(pair->a, true);
	add_run(pair->b, "process,sched");
	assert_int_equal(diff_load(&diff, help_report(pair->a, NULL, NULL),
				   help_report(pair->b, NULL, NULL), &no_ledgers, &e),
			 0);
	assert_int_equal(diff.only_a, LAYER_BIT(LAYER_io));
	assert_int_equal(diff.only_b, LAYER_BIT(LAYER_sched));
	for (size_t i = 0; i < diff.count; i++) {
		assert_null(strstr(diff.items[i].what, "read"));
		assert_true(diff.items[i].group != DIFF_files &&
			    diff.items[i].group != DIFF_operations);
	}
	diff_free(&diff);
}

static void small_changes_are_noise(void **state)
{
	static const struct {
		double a, b, noise;
		enum diff_verdict verdict;
	} cases[] = {
		{ 100, 120, 7, DIFF_WITHIN },	 { 100, 120, 6, DIFF_BEYOND },
		{ 100, 120, NAN, DIFF_UNKNOWN }, { 100, NAN, NAN, DIFF_BEYOND },
		{ 100, 100, NAN, DIFF_SAME },
	};
	struct diff_making making = { 0 };
	const struct diff_item *items;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		diff_add(&making, DIFF_run, AMOUNT_ns, (struct dims_text){ 0 }, "x", cases[i].a,
			 cases[i].b, cases[i].noise);
	assert_int_equal(making.list.size, 5 * sizeof(*items));
	items = (const struct diff_item *)making.list.data;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(items[i].verdict, cases[i].verdict);
	assert_true(items[0].change == 20 && items[0].share == 0.2);
	assert_true(isnan(items[3].change) && isnan(items[3].share));
	buf_free(&making.list);
}

/* A page shows the first of each group: what did not change must not push out what did. */
static void what_is_the_same_comes_last(void **state)
{
	struct pair *pair = *state;
	enum diff_group group = DIFF_run;
	struct diff diff;
	struct error e;
	bool same = false;

	add_side(pair->a, true);
	add_side(pair->b, true);
	add_file(pair->a, 9, "/data/d", FILE_KIND_FILE);
	add_file(pair->b, 9, "/data/d", FILE_KIND_FILE);
	add_read(pair->a, 1500, 100, 9, 0, 1000, 0); /* as long as that of b, and twice as much */
	add_read(pair->b, 1500, 100, 9, 0, 500, 0);
	assert_int_equal(diff_load(&diff, help_report(pair->a, NULL, NULL),
				   help_report(pair->b, NULL, NULL), &no_ledgers, &e),
			 0);
	for (size_t i = 0; i < diff.count; i++) {
		const struct diff_item *item = &diff.items[i];

		if (item->group == DIFF_run) /* in the order of the figures */
			continue;
		same = same && item->group == group;
		group = item->group;
		assert_false(same && item->verdict != DIFF_SAME);
		same |= item->verdict == DIFF_SAME;
	}
	diff_free(&diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(differences_are_told_with_their_noise, pair_setup,
						pair_teardown),
		cmocka_unit_test_setup_teardown(a_run_does_not_differ_from_itself, pair_setup,
						pair_teardown),
		cmocka_unit_test_setup_teardown(a_path_may_occur_twice, pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(what_only_one_run_recorded_is_left_out, pair_setup,
						pair_teardown),
		cmocka_unit_test_setup_teardown(what_is_the_same_comes_last, pair_setup,
						pair_teardown),
		cmocka_unit_test(small_changes_are_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
