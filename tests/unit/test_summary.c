/* What `strata info` says of a trace: losses, coverage, clock and times, and times given by people.
 */
#include "report_help.h"

#include <math.h>

#include "base/units.h"
#include "store/times.h"

#define S NS_PER_SECOND

static void add_loss(struct fixture *f, uint64_t ts, uint64_t dur, enum layer layer, uint64_t count)
{
	SET(loss, ts, ts);
	SET(loss, dur, dur);
	SET(loss, layer, layer);
	SET(loss, reason, LOSS_RING);
	SET(loss, count, count);
	END(loss);
}

static void add_clock(struct fixture *f, uint64_t ts, uint64_t realtime)
{
	SET(clock, ts, ts);
	SET(clock, realtime, realtime);
	END(clock);
}

static void an_empty_trace_is_whole(void **state)
{
	struct fixture *f = *state;
	const struct summary *summary;

	summary = help_summary(f);
	assert_true(summary->complete);
	assert_null(summary->damage);
	assert_int_equal(summary->rows, 0);
	assert_int_equal(summary->loss_count, 0);
	assert_true(summary->coverage.share == 1);
	assert_false(summary->has_utc);
	assert_int_equal(summary->span.end - summary->span.start, 0);
}

static void losses_add_up_and_holes_overlap(void **state)
{
	struct fixture *f = *state;
	const struct summary *summary;

	add_fact(f, "start_ts", "10000000000");
	add_fact(f, "stop_ts", "20000000000");
	add_loss(f, 9 * S, 2 * S, LAYER_io, 5); /* begins before the recording: 1 s of it counts */
	add_loss(f, 12 * S, 1 * S, LAYER_io, 7);
	add_loss(f, 12 * S + S / 2, 1 * S, LAYER_fs, 1); /* overlaps the one before: 1.5 s */
	summary = help_summary(f);
	assert_int_equal(summary->lost, 13);
	assert_int_equal(summary->loss_count, 2);
	assert_string_equal(summary->losses[0].layer, "io");
	assert_string_equal(summary->losses[0].reason, "ring full");
	assert_int_equal(summary->losses[0].count, 12);
	assert_string_equal(summary->losses[1].layer, "fs");
	assert_int_equal(summary->coverage.holes, 2);
	assert_int_equal(summary->coverage.hole_ns, 2 * S + S / 2);
	assert_int_equal(summary->coverage.longest_ns, S + S / 2);
	assert_true(fabs(summary->coverage.share - 0.75) < 1e-9);
	assert_true(summary->coverage.percent == 75);
}

static void the_clock_s_drift_is_told(void **state)
{
	struct fixture *f = *state;
	const struct summary *summary;

	add_clock(f, 10 * S, 1000 * S);
	add_clock(f, 20 * S, 1010 * S + 4000);
	add_clock(f, 110 * S, 1100 * S - 2000);
	summary = help_summary(f);
	assert_int_equal(summary->clock.readings, 3);
	assert_int_equal(summary->clock.drift_ns, -2000);
	assert_true(fabs(summary->clock.drift_ppm + 0.02) < 1e-9);
	assert_int_equal(summary->clock.steps, 0);
}

/* Steps as large as numbers go: of a forged trace, under sanitizers. */
static void steps_of_a_clock_wrap(void **state)
{
	struct fixture *f = *state;

	add_clock(f, 10 * S, 1000 * S);
	for (uint64_t i = 1; i < 6; i++)
		add_clock(f, (10 + i) * S, i % 2 ? (uint64_t)INT64_MAX : 5);
	assert_int_equal(help_summary(f)->clock.steps, 5);
}

static void a_clock_that_is_set_does_not_drift(void **state)
{
	struct fixture *f = *state;
	const struct summary *summary;

	add_clock(f, 10 * S, 1000 * S);
	add_clock(f, 20 * S - 1, 1010 * S - 1);
	add_clock(f, 20 * S, 1013 * S);
	add_clock(f, 30 * S, 1023 * S + 1000);
	summary = help_summary(f);
	assert_int_equal(summary->clock.steps, 1);
	assert_int_equal(summary->clock.step_ns, 3 * S);
	assert_int_equal(summary->clock.drift_ns, 1000);
}

static void facts_and_absent_layers_are_found(void **state)
{
	struct fixture *f = *state;
	const struct summary *summary;

	add_fact(f, "exit_status", "1");
	add_fact(f, "exit_status", "7"); /* the last one holds */
	add_fact(f, "absent.gpu", "no driver");
	add_fact(f, "layers", "process,io,of a newer version");
	add_fact(f, "cpus", "12");
	add_fact(f, "cpu_ns", "many");
	summary = help_summary(f);
	assert_string_equal(summary->exit_status, "7");
	assert_true(summary->exit_code.known && summary->exit_code.value == 7);
	assert_false(summary->exit_signal.known);
	assert_true(summary->cpus.known && summary->cpus.value == 12);
	assert_false(summary->cpu_ns.known || summary->cpu_ns.value);
	assert_int_equal(summary->layer_count, 3);
	assert_true(dims_text_is(&summary->layers[1], "io"));
	assert_true(dims_text_is(&summary->layers[2], "of a newer version"));
	assert_int_equal(summary->absent_count, 1);
	assert_string_equal(summary->absent[0].what, "gpu");
	assert_string_equal(summary->absent[0].why, "no driver");
	assert_null(summary->command);
	assert_int_equal(summary->tables[TABLE_run].rows, 6);
	assert_false(summary->tables[TABLE_run].timed);
	assert_int_equal(summary->state, SUMMARY_COMPLETE);
}

static void a_signal_is_told_from_an_exit_status(void **state)
{
	struct fixture *f = *state;
	const struct summary *summary;

	add_fact(f, "exit_status", "signal 9");
	summary = help_summary(f);
	assert_true(summary->exit_signal.known && summary->exit_signal.value == 9);
	assert_false(summary->exit_code.known);
}

static void without_an_end_the_last_row_is_it(void **state)
{
	struct fixture *f = *state;
	const struct summary *summary;

	add_fact(f, "start_ts", "10000000000");
	add_clock(f, 10 * S, 1000 * S);
	add_loss(f, 12 * S, 3 * S, LAYER_io, 1);
	summary = help_summary(f);
	assert_int_equal(summary->span.start, 10 * S);
	assert_int_equal(summary->span.end, 15 * S);
	assert_int_equal(summary->start_utc, 1000 * S);
	assert_int_equal(summary->end_utc, 1005 * S);
}

static uint64_t time_of(struct fixture *f, const char *text)
{
	uint64_t ts = 0;
	struct error e;

	assert_int_equal(times_parse(text, f->summary.span.start, f->dims, &ts, &e), 0);
	return ts;
}

static void people_give_times_since_the_start_or_in_utc(void **state)
{
	struct fixture *f = *state;
	uint64_t base = 0, ts;
	struct error e;
	char text[40];

	assert_int_equal(units_parse_utc("2026-11-15T03:57:25Z", &base), 0);
	add_fact(f, "start_ts", "10000000000");
	add_clock(f, 10 * S, base);
	add_clock(f, 20 * S, base + 40 * S); /* somebody set the clock */
	help_summary(f);
	assert_int_equal(time_of(f, "1.5"), 11 * S + S / 2);
	assert_int_equal(time_of(f, "200ms"), 10 * S + S / 5);
	assert_int_equal(time_of(f, "2026-11-15T03:57:25Z"), 10 * S);
	assert_int_equal(time_of(f, "2026-11-15T03:57:30Z"), 15 * S);
	assert_int_equal(time_of(f, "2026-11-15T03:57:45Z"), 20 * S); /* never shown */
	assert_int_equal(time_of(f, "2026-11-15T03:58:06.5Z"), 21 * S + S / 2);
	assert_int_equal(time_of(f, "2026-11-15T03:57:20Z"), 5 * S);
	for (uint64_t known = 9 * S; known < 22 * S; known += S / 3) {
		uint64_t realtime;

		assert_int_equal(dims_utc(f->dims, known, &realtime), 0);
		ts = time_of(f, units_format_utc(text, sizeof(text), realtime));
		assert_true(ts <= known && known - ts <= 1);
	}
	assert_int_equal(times_parse("noon", 0, f->dims, &ts, &e), -EINVAL);
}

static void utc_needs_a_reading(void **state)
{
	struct fixture *f = *state;
	struct error e;
	uint64_t ts;

	help_summary(f);
	assert_int_equal(times_parse("2026-11-15T03:57:25Z", 0, f->dims, &ts, &e), -ENODATA);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_empty_trace_is_whole),
		TEST(losses_add_up_and_holes_overlap),
		TEST(the_clock_s_drift_is_told),
		TEST(a_clock_that_is_set_does_not_drift),
		TEST(steps_of_a_clock_wrap),
		TEST(facts_and_absent_layers_are_found),
		TEST(a_signal_is_told_from_an_exit_status),
		TEST(without_an_end_the_last_row_is_it),
		TEST(people_give_times_since_the_start_or_in_utc),
		TEST(utc_needs_a_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
