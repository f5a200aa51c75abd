/* Phases from MLPerf logs, given later or recorded, and the parser of their lines. */
#include "report_help.h"

#include "base/mllog.h"

static int parse(const char *line, struct mllog_line *out)
{
	return mllog_parse(line, strlen(line), out);
}

static void lines_of_a_log_are_understood(void **state)
{
	struct mllog_line line;

	(void)state;
	assert_int_equal(
		parse("0: :::MLLOG {\"namespace\": \"\", \"time_ms\": 1700000000123, "
		      "\"event_type\": \"INTERVAL_START\", \"key\": \"epoch_start\", "
		      "\"value\": null, \"metadata\": {\"lineno\": 9, \"epoch_num\": 3}}\n",
		      &line),
		1);
	assert_int_equal(line.realtime, 1700000000123ull * 1000000);
	assert_int_equal(line.kind, MLLOG_START);
	assert_string_equal(line.key, "epoch_start");
	assert_string_equal(line.stem, "epoch");
	assert_string_equal(line.number, "3");
	assert_int_equal(line.json[0], '{');
	assert_int_equal(line.json[line.json_size - 1], '}');
	assert_int_equal(
		parse(":::MLLOG {\"time_ms\": 5, \"key\": \"eval_stop\", \"metadata\": 7}", &line),
		1);
	assert_int_equal(line.kind, MLLOG_STOP);
	assert_string_equal(line.number, "");
	assert_int_equal(parse(":::MLLOG {\"time_ms\": 5.5, \"event_type\": \"POINT_IN_TIME\", "
			       "\"key\": \"eval_accuracy\", \"value\": 0.91}",
			       &line),
			 1);
	assert_int_equal(line.realtime, 5500000);
	assert_int_equal(line.kind, MLLOG_POINT);
	assert_string_equal(line.number, "0.91");
}

static void other_lines_and_broken_ones_are_not(void **state)
{
	static const char *const broken[] = {
		":::MLLOG",
		":::MLLOG {\"time_ms\": 1, \"key\":",
		":::MLLOG [1]",
		":::MLLOG {\"key\": \"x\"}",
		":::MLLOG {\"time_ms\": \"1\", \"key\": \"x\"}",
		":::MLLOG {\"time_ms\": -1, \"key\": \"x\"}",
		":::MLLOG {\"time_ms\": 1e300, \"key\": \"x\"}",
		":::MLLOG {\"time_ms\": 1, \"key\": 4}",
	};
	struct mllog_line line;

	(void)state;
	assert_int_equal(parse("loss 0.3", &line), 0);
	assert_int_equal(parse("", &line), 0);
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++)
		if (parse(broken[i], &line) >= 0)
			fail_msg("understood: %s", broken[i]);
}

static void log_line(FILE *log, int64_t ms, const char *type, const char *key, int epoch)
{
	/* The wall clock shows 1,700,000,000 s at boot. */
	fprintf(log,
		":::MLLOG {\"namespace\": \"\", \"time_ms\": %lld, \"event_type\": \"%s\", "
		"\"key\": \"%s\", "
		"\"value\": null, \"metadata\": {\"file\": \"main.py\", \"lineno\": 1",
		1700000000000ll + (long long)ms, type, key);
	if (epoch)
		fprintf(log, ", \"epoch_num\": %d", epoch);
	fputs("}}\n", log);
}

/* A run in the shape of UNet3D's: 8 workers; init; epochs of 50 ms; after every third an evaluation of 20 ms and a
 * checkpoint of 10 ms. */
static void write_log(const char *path)
{
	FILE *log = fopen(path, "w");
	int64_t now = 1150;

	fputs("some words of the job\n", log);
	log_line(log, 1020, "POINT_IN_TIME", "submission_benchmark", 0);
	log_line(log, 1050, "INTERVAL_START", "init_start", 0);
	log_line(log, 1100, "INTERVAL_END", "init_stop", 0);
	log_line(log, 1100, "INTERVAL_START", "run_start", 0);
	for (int epoch = 1; epoch <= 6; epoch++) {
		log_line(log, now, "INTERVAL_START", "epoch_start", epoch);
		log_line(log, now + 50, "INTERVAL_END", "epoch_stop", epoch);
		now += 50;
		if (epoch % 3)
			continue;
		log_line(log, now, "INTERVAL_START", "eval_start", epoch);
		log_line(log, now + 20, "INTERVAL_END", "eval_stop", epoch);
		log_line(log, now + 20, "INTERVAL_START", "checkpoint_start", epoch);
		log_line(log, now + 30, "INTERVAL_END", "checkpoint_stop", epoch);
		now += 30;
	}
	log_line(log, now, "INTERVAL_END", "run_stop", 0);
	log_line(log, 99000, "INTERVAL_START", "epoch_start", 99); /* of another time */
	fputs(":::MLLOG {broken\n", log);
	fclose(log);
}

static void add_clocks(struct fixture *f)
{
	SET(clock, ts, 1000 * MS);
	SET(clock, realtime, 1700000000000ll * MS + 1000 * MS);
	END(clock);
	SET(clock, ts, 2000 * MS);
	SET(clock, realtime, 1700000000000ll * MS + 2000 * MS);
	END(clock);
}

static const struct phase *find_phase(const struct report *report, const char *name)
{
	char label[128];

	for (size_t i = 0; i < report->phases.count; i++)
		if (!strcmp(phase_label(&report->phases.list[i], label, sizeof(label)), name))
			return &report->phases.list[i];
	fail_msg("no phase %s", name);
	return NULL;
}

static void check_unet3d(const struct report *report)
{
	const struct phase *phase;

	assert_int_equal(report->phases.count, 1 + 1 + 6 + 2 + 2);
	phase = find_phase(report, "init");
	assert_int_equal(phase->start, 1050 * MS);
	assert_int_equal(phase->end, 1100 * MS);
	assert_int_equal(phase->depth, 0);
	phase = find_phase(report, "run");
	assert_int_equal(phase->start, 1100 * MS);
	assert_int_equal(phase->end, 1510 * MS);
	phase = find_phase(report, "epoch 4");
	assert_int_equal(phase->start, 1330 * MS);
	assert_int_equal(phase->end, 1380 * MS);
	assert_int_equal(phase->depth, 1);
	phase = find_phase(report, "eval 3");
	assert_int_equal(phase->start, 1300 * MS);
	assert_int_equal(phase->end, 1320 * MS);
	phase = find_phase(report, "checkpoint 6");
	assert_int_equal(phase->start, 1500 * MS);
	assert_int_equal(phase->end, 1510 * MS);
	assert_false(phase->open);
}

static void a_log_given_later_makes_phases(void **state)
{
	char path[] = "/tmp/strata-mllog-XXXXXX";
	struct fixture *f = *state;
	const struct report *report;

	close(mkstemp(path));
	write_log(path);
	add_run(f, "process,io");
	add_clocks(f);
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_file(f, 1, "/data/case_00000_x.npy", FILE_KIND_FILE);
	for (int i = 0; i < 8; i++)
		add_process(f, 1120, FORK, 101 + i, 101 + i, 100, "python");
	for (int epoch = 0; epoch < 6; epoch++)
		for (int i = 0; i < 8; i++)
			add_read(f, 1160 + 50 * epoch + 30 * (epoch / 3) + i, 101 + i, 1, 0, 1000,
				 0);
	report = help_report(f, path, NULL);
	assert_int_equal(report->phases.source, PHASES_LOG);
	assert_int_equal(report->phases.bad_lines, 1);
	assert_int_equal(report->phases.outside, 1);
	check_unet3d(report);
	assert_int_equal(report->context.roles.workers_at_once, 8);
	for (size_t i = 0; i < report->phases.count; i++)
		if (!strcmp(report->phases.list[i].stem, "epoch"))
			assert_int_equal(report->phase_uses[i].figures.read_bytes, 8000);
	report = help_report(f, path, "epoch 2");
	assert_int_equal(report->files.regular.read.bytes, 8000);
	unlink(path);
}

/* The same as rows of table mark, as `record --log` writes them. */
static void recorded_lines_make_the_same_phases(void **state)
{
	char path[] = "/tmp/strata-mllog-XXXXXX", line[512];
	struct fixture *f = *state;
	struct mllog_line parsed;
	FILE *log;

	close(mkstemp(path));
	write_log(path);
	add_run(f, "process,io");
	log = fopen(path, "r");
	while (fgets(line, sizeof(line), log)) {
		if (parse(line, &parsed) <= 0 || parsed.realtime > 1700000090ull * 1000 * MS)
			continue;
		line[parsed.json - line + (ptrdiff_t)parsed.json_size] = 0;
		add_mark(f, (int64_t)(parsed.realtime / MS) - 1700000000000ll, -1, "mllog",
			 parsed.key, parsed.json);
	}
	fclose(log);
	unlink(path);
	assert_int_equal(help_report(f, NULL, NULL)->phases.source, PHASES_MLLOG);
	check_unet3d(&f->report);
}

static void what_never_ends_is_open(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process");
	add_mark(f, 1100, -1, "mark", "warmup_stop", NULL);
	add_mark(f, 1400, -1, "mark", "train_start", NULL);
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->phases.count, 2);
	assert_true(report->phases.list[0].open);
	assert_int_equal(report->phases.list[0].start, 1000 * MS);
	assert_int_equal(report->phases.list[0].end, 1100 * MS);
	assert_true(report->phases.list[1].open);
	assert_int_equal(report->phases.list[1].end, 2000 * MS);
}

static void a_log_without_lines_or_clocks_is_refused(void **state)
{
	char path[] = "/tmp/strata-mllog-XXXXXX";
	struct fixture *f = *state;
	struct report_options options = { .log = path };
	struct error e;

	close(mkstemp(path));
	add_run(f, "process");
	help_write(f);
	assert_int_equal(report_load(&f->report, f->path, f->reader, f->dims, &options, &e),
			 -ENODATA);
	assert_non_null(strstr(e.text, "no :::MLLOG line"));
	write_log(path);
	assert_int_equal(report_load(&f->report, f->path, f->reader, f->dims, &options, &e),
			 -ENODATA);
	assert_non_null(strstr(e.text, "clocks"));
	unlink(path);
	assert_int_equal(report_load(&f->report, f->path, f->reader, f->dims, &options, &e),
			 -ENOENT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(lines_of_a_log_are_understood),
		TEST(other_lines_and_broken_ones_are_not),
		TEST(a_log_given_later_makes_phases),
		TEST(recorded_lines_make_the_same_phases),
		TEST(what_never_ends_is_open),
		TEST(a_log_without_lines_or_clocks_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
