/* What `strata info` says of a trace: losses, coverage, clock and times, and times given by people.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/summary.h"
#include "analyze/times.h"
#include "base/units.h"
#include "store/builder.h"
#include "store/writer.h"

#define S NS_PER_SECOND

/* A trace of a few rows: a builder for each table, all written by load(). */
struct fixture {
	struct builder *builders[TABLE_COUNT];
	struct reader *reader;
	struct dims *dims;
	struct summary summary;
	char path[40];
};

static int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct error e;

	strcpy(f->path, "/tmp/strata-summary-XXXXXX");
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		assert_int_equal(builder_open(&f->builders[i], &schema_tables[i], &e), 0);
	*state = f;
	return 0;
}

static int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	summary_free(&f->summary);
	dims_close(f->dims);
	reader_close(f->reader);
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		builder_close(f->builders[i]);
	unlink(f->path);
	free(f);
	return 0;
}

static void add_fact(struct fixture *f, const char *key, const char *value)
{
	struct builder *run = f->builders[TABLE_run];

	builder_set_text(run, column_run_key, key, strlen(key));
	builder_set_text(run, column_run_value, value, strlen(value));
	builder_end_row(run);
}

static void add_loss(struct fixture *f, uint64_t ts, uint64_t dur, enum layer layer, uint64_t count)
{
	struct builder *loss = f->builders[TABLE_loss];

	builder_set(loss, column_loss_ts, (int64_t)ts);
	builder_set(loss, column_loss_dur, (int64_t)dur);
	builder_set(loss, column_loss_layer, layer);
	builder_set(loss, column_loss_reason, LOSS_RING);
	builder_set(loss, column_loss_count, (int64_t)count);
	builder_end_row(loss);
}

static void add_clock(struct fixture *f, uint64_t ts, uint64_t realtime)
{
	struct builder *clock = f->builders[TABLE_clock];

	builder_set(clock, column_clock_ts, (int64_t)ts);
	builder_set(clock, column_clock_realtime, (int64_t)realtime);
	builder_end_row(clock);
}

static void load(struct fixture *f)
{
	struct buf chunks = { 0 };
	struct writer *writer;
	struct error e;

	assert_int_equal(writer_open(&writer, mkstemp(f->path), &e), 0);
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		if (f->builders[i]->rows)
			assert_int_equal(builder_encode(f->builders[i], &chunks, &e), 0);
	if (chunks.size)
		assert_int_equal(writer_append(writer, &chunks, &e), 0);
	assert_int_equal(writer_close(writer, &e), 0);
	buf_free(&chunks);
	assert_int_equal(reader_open(&f->reader, f->path, &e), 0);
	assert_int_equal(dims_open(&f->dims, f->reader, &e), 0);
	assert_int_equal(summary_load(&f->summary, f->path, f->reader, f->dims, &e), 0);
}

static void an_empty_trace_is_whole(void **state)
{
	struct fixture *f = *state;

	load(f);
	assert_true(f->summary.complete);
	assert_null(f->summary.damage);
	assert_int_equal(f->summary.rows, 0);
	assert_int_equal(f->summary.loss_count, 0);
	assert_true(f->summary.coverage.share == 1);
	assert_false(f->summary.has_utc);
	assert_int_equal(f->summary.span.end - f->summary.span.start, 0);
}

static void losses_add_up_and_holes_overlap(void **state)
{
	struct fixture *f = *state;

	add_fact(f, "start_ts", "10000000000");
	add_fact(f, "stop_ts", "20000000000");
	add_loss(f, 9 * S, 2 * S, LAYER_io, 5); /* begins before the recording: 1 s of it counts */
	add_loss(f, 12 * S, 1 * S, LAYER_io, 7);
	add_loss(f, 12 * S + S / 2, 1 * S, LAYER_fs, 1); /* overlaps the one before: 1.5 s */
	load(f);
	assert_int_equal(f->summary.lost, 13);
	assert_int_equal(f->summary.loss_count, 2);
	assert_string_equal(f->summary.losses[0].layer, "io");
	assert_string_equal(f->summary.losses[0].reason, "ring full");
	assert_int_equal(f->summary.losses[0].count, 12);
	assert_string_equal(f->summary.losses[1].layer, "fs");
	assert_int_equal(f->summary.coverage.holes, 2);
	assert_int_equal(f->summary.coverage.hole_ns, 2 * S + S / 2);
	assert_int_equal(f->summary.coverage.longest_ns, S + S / 2);
	assert_true(fabs(f->summary.coverage.share - 0.75) < 1e-9);
}

static void the_clock_s_drift_is_told(void **state)
{
	struct fixture *f = *state;

	add_clock(f, 10 * S, 1000 * S);
	add_clock(f, 20 * S, 1010 * S + 4000);
	add_clock(f, 110 * S, 1100 * S - 2000);
	load(f);
	assert_int_equal(f->summary.clock.readings, 3);
	assert_int_equal(f->summary.clock.drift_ns, -2000);
	assert_true(fabs(f->summary.clock.drift_ppm + 0.02) < 1e-9);
}

static void facts_and_absent_layers_are_found(void **state)
{
	struct fixture *f = *state;

	add_fact(f, "exit_status", "1");
	add_fact(f, "exit_status", "7"); /* the last one holds */
	add_fact(f, "absent.gpu", "no driver");
	load(f);
	assert_string_equal(f->summary.exit_status, "7");
	assert_int_equal(f->summary.absent_count, 1);
	assert_string_equal(f->summary.absent[0].what, "gpu");
	assert_string_equal(f->summary.absent[0].why, "no driver");
	assert_null(f->summary.command);
	assert_int_equal(f->summary.tables[TABLE_run].rows, 3);
}

static void without_an_end_the_last_row_is_it(void **state)
{
	struct fixture *f = *state;

	add_fact(f, "start_ts", "10000000000");
	add_clock(f, 10 * S, 1000 * S);
	add_loss(f, 12 * S, 3 * S, LAYER_io, 1);
	load(f);
	assert_int_equal(f->summary.span.start, 10 * S);
	assert_int_equal(f->summary.span.end, 15 * S);
	assert_int_equal(f->summary.start_utc, 1000 * S);
	assert_int_equal(f->summary.end_utc, 1005 * S);
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
	add_clock(f, 20 * S, base + 40 * S); /* somebody set the clock: 4 s a second between */
	load(f);
	assert_int_equal(time_of(f, "1.5"), 11 * S + S / 2);
	assert_int_equal(time_of(f, "200ms"), 10 * S + S / 5);
	assert_int_equal(time_of(f, "2026-11-15T03:57:25Z"), 10 * S);
	assert_int_equal(time_of(f, "2026-11-15T03:57:45Z"), 15 * S);
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

	load(f);
	assert_int_equal(times_parse("2026-11-15T03:57:25Z", 0, f->dims, &ts, &e), -ENODATA);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_empty_trace_is_whole),
		TEST(losses_add_up_and_holes_overlap),
		TEST(the_clock_s_drift_is_told),
		TEST(facts_and_absent_layers_are_found),
		TEST(without_an_end_the_last_row_is_it),
		TEST(people_give_times_since_the_start_or_in_utc),
		TEST(utc_needs_a_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
