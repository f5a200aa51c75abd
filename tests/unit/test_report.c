/* The models behind `strata report` that tell what was there, on recordings whose answers are known on paper: processes, roles,
 * phases, layers and samples. Time is in test_report_time.c, files and steps in test_report_files.c, the timeline in
 * test_timeline.c.
 */
#include "report_help.h"

/* As a data loader's workers do, which live as long as an epoch takes. */
static void children_that_were_there_belong_to_what_was_attached_to(void **state)
{
	struct fixture *f = *state;
	const struct procs *procs;

	add_fact(f, "target", "attach");
	add_fact(f, "pids", "100");
	add_process(f, 1000, EXISTS, 60, 60, 1, "bash");
	add_process(f, 1000, EXISTS, 100, 100, 60, "python");
	add_process(f, 1000, EXISTS, 101, 101, 100, "python");
	add_process(f, 1000, EXISTS, 102, 102, 60, "python");
	add_process(f, 1100, FORK, 103, 103, 101, "python");
	procs = help_report(f, NULL, NULL)->context.procs;
	for (uint32_t i = 0; i < procs_count(procs); i++) {
		const struct proc *proc = procs_get(procs, i);

		assert_true(proc->in_job ==
			    (proc->pid == 100 || proc->pid == 101 || proc->pid == 103));
	}
}

static void roles_follow_the_tree(void **state)
{
	struct fixture *f = *state;
	const struct report *report;
	const struct context *context;

	add_run(f, "process");
	/* A shell runs python for most of its time; python forks two workers and runs a compiler. */
	add_process(f, 1000, EXEC, 100, 100, 50, "sh");
	add_process(f, 1010, FORK, 110, 110, 100, "sh");
	add_process(f, 1011, EXEC, 110, 110, 100, "python");
	add_process(f, 1100, FORK, 111, 111, 110, "python");
	add_process(f, 1100, FORK, 112, 112, 110, "python");
	add_process(f, 1200, FORK, 113, 113, 110, "python");
	add_process(f, 1201, EXEC, 113, 113, 110, "gcc");
	add_process(f, 1250, EXIT, 113, 113, 110, "gcc");
	add_process(f, 1300, EXIT, 111, 111, 110, "python");
	add_process(f, 1310, FORK, 114, 114, 110, "python");
	add_process(f, 1000, EXISTS, 9, 9, 1, "cron");
	report = help_report(f, NULL, NULL);
	context = &report->context;
	assert_int_equal(procs_get(context->procs, context->roles.main)->pid, 110);
	assert_int_equal(context->roles.counts[PROC_ROLE_MAIN], 1);
	assert_int_equal(context->roles.counts[PROC_ROLE_LAUNCHER], 1);
	assert_int_equal(context->roles.counts[PROC_ROLE_WORKER], 3);
	assert_int_equal(context->roles.counts[PROC_ROLE_HELPER], 1);
	assert_int_equal(context->roles.counts[PROC_ROLE_OTHER], 1);
	assert_int_equal(context->roles.workers_at_once, 2);
	assert_false(report->tasks.known);
}

static void an_id_used_twice_is_two_processes(void **state)
{
	struct fixture *f = *state;
	const struct report *report;
	const struct procs *procs;

	add_run(f, "process");
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_process(f, 1100, FORK, 101, 101, 100, "python");
	add_process(f, 1110, FORK, 101, 102, 100,
		    "python"); /* a thread, which outlives its leader */
	add_process(f, 1200, EXIT, 101, 101, 100, "python");
	add_process(f, 1210, EXIT, 101, 102, 100, "python");
	add_process(f, 1300, FORK, 101, 101, 9, "stranger");
	report = help_report(f, NULL, NULL);
	procs = report->context.procs;
	assert_int_equal(procs_count(procs), 3);
	assert_int_equal(procs_get(procs, procs_find(procs, 101, 1150 * MS))->end, 1210 * MS);
	assert_true(procs_get(procs, procs_find(procs, 101, 1150 * MS))->in_job);
	assert_false(procs_get(procs, procs_find(procs, 101, 1400 * MS))->in_job);
	assert_int_equal(find_task(report, "python")->lives, 1);
	assert_int_equal(find_task(report, "python")->life_ns, 110 * MS);
}

static void marks_make_phases_and_figures_belong_to_them(void **state)
{
	struct fixture *f = *state;
	const struct report *report;
	char label[64];

	add_run(f, "process,sched,io");
	add_schedule(f);
	add_file(f, 1, "/data/a", FILE_KIND_FILE);
	add_read(f, 1200, 101, 1, 0, 4096, 0);
	add_read(f, 1600, 100, 1, 0, 1000, 0);
	add_mark(f, 1100, -1, "mark", "epoch", "0");
	add_mark(f, 1500, -1, "mark", "epoch", "1");
	add_mark(f, 1550, -1, "mark", "eval_start", NULL);
	add_mark(f, 1800, -1, "mark", "eval_stop", NULL);
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->phases.source, PHASES_MARKS);
	assert_int_equal(report->phases.count, 3);
	assert_string_equal(phase_label(&report->phases.list[0], label, sizeof(label)), "epoch 0");
	assert_int_equal(report->phases.list[0].start, 1100 * MS);
	assert_int_equal(report->phases.list[0].end, 1500 * MS);
	assert_int_equal(report->phase_uses[0].figures.main_cpu_ns, 200 * MS);
	assert_int_equal(report->phase_uses[0].figures.cpu_ns, 450 * MS);
	assert_int_equal(report->phase_uses[0].figures.read_bytes, 4096);
	assert_int_equal(report->phases.list[1].end, 2000 * MS);
	assert_int_equal(report->phase_uses[1].figures.main_cpu_ns, 400 * MS);
	assert_int_equal(report->phase_uses[1].figures.main_storage_ns, 100 * MS);
	assert_int_equal(report->phases.list[2].depth, 1);
	assert_int_equal(report->phase_uses[2].figures.main_cpu_ns, 200 * MS);
	assert_int_equal(report->phase_uses[2].figures.main_storage_ns, 50 * MS);
	assert_int_equal(report->phase_uses[2].figures.read_bytes, 1000);
	/* The same of the window alone. */
	report = help_report(f, NULL, "epoch 1");
	assert_false(report->whole);
	assert_int_equal(report->total.main_cpu_ns, 400 * MS);
	assert_int_equal(report->tasks.job_cpu_ns, 400 * MS);
	assert_int_equal(report->files.regular.read.bytes, 1000);
	assert_int_equal(report->tasks.cpus[0].gap_ns, 90 * MS);
	assert_true(report->phase_uses[1].known && report->phase_uses[2].known);
	assert_false(report->phase_uses[0].known);
	assert_true(near(report->phase_uses[1].cpus, 0.8));
	assert_true(near(report->phase_uses[1].main_data_share, 0.2));
	assert_true(near(report->phase_uses[1].read_rate, 2000));
}

static void an_unknown_phase_is_refused(void **state)
{
	struct fixture *f = *state;
	struct report_options options = { .phase = "epoch 7" };
	struct error e;

	add_run(f, "process");
	add_mark(f, 1100, -1, "mark", "epoch", "0");
	add_mark(f, 1200, -1, "mark", "epoch", "1");
	help_write(f);
	assert_int_equal(report_load(&f->report, f->path, f->reader, f->dims, &options, &e),
			 -EINVAL);
	assert_non_null(strstr(e.text, "epoch 1"));
	options.phase = "epoch";
	assert_int_equal(report_load(&f->report, f->path, f->reader, f->dims, &options, &e),
			 -EINVAL);
}

static void an_empty_recording_has_a_report(void **state)
{
	struct fixture *f = *state;
	const struct report *report = help_report(f, NULL, NULL);

	assert_int_equal(report->summary.rows, 0);
	assert_int_equal(report->tasks.name_count, 0);
	assert_int_equal(report->files.file_count, 0);
	assert_int_equal(report->phases.count, 1);
	assert_false(report_has_layer(report, LAYER_io));
}

static void layers_and_costs_are_told(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,io");
	add_fact(f, "absent.gpu", "no driver");
	add_fact(f, "cpu_ns", "50000000");
	report = help_report(f, NULL, NULL);
	assert_true(report_has_layer(report, LAYER_io));
	assert_false(report_has_layer(report, LAYER_sched));
	assert_false(report_has_layer(report, LAYER_gpu));
	assert_true(report->cost.cpu_known);
	assert_true(report->cost.core_share > 0.0499 && report->cost.core_share < 0.0501);
}

/* Samples of 500 ms: CPU 0 busy for 60 and 20 %, a GPU for 90 and 0. */
static void samples_are_averaged_over_time(void **state)
{
	static const double usr[] = { 60, 20 }, sm[] = { 90, 0 };
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,cpu,gpu");
	for (int i = 0; i < 2; i++) {
		for (int cpu = -1; cpu < 1; cpu++) {
			SET(cpu, ts, (1000 + 500 * i) * MS);
			SET(cpu, dur, 500 * MS);
			SET(cpu, cpu, cpu);
			builder_set_real(f->builders[TABLE_cpu], column_cpu_usr, usr[i]);
			builder_set_real(f->builders[TABLE_cpu], column_cpu_idle, 100 - usr[i]);
			END(cpu);
		}
		SET(gpu, ts, (1000 + 500 * i) * MS);
		SET(gpu, dur, 500 * MS);
		SET(gpu, gpu, 0);
		SET(gpu, fb_used, 1000 + i);
		builder_set_real(f->builders[TABLE_gpu], column_gpu_sm, sm[i]);
		END(gpu);
	}
	report = help_report(f, NULL, NULL);
	assert_true(report->usage.all.usr == 40);
	assert_true(report->usage.cpus[0].idle == 60);
	assert_int_equal(report->usage.gpu_count, 1);
	assert_true(report->usage.gpus[0].sm == 45);
	assert_true(report->usage.gpus[0].idle == 50);
	assert_int_equal(report->usage.gpus[0].most_fb, 1001);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(children_that_were_there_belong_to_what_was_attached_to),
		TEST(roles_follow_the_tree),
		TEST(an_id_used_twice_is_two_processes),
		TEST(marks_make_phases_and_figures_belong_to_them),
		TEST(an_unknown_phase_is_refused),
		TEST(an_empty_recording_has_a_report),
		TEST(layers_and_costs_are_told),
		TEST(samples_are_averaged_over_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
