/* The models behind `strata report`, on recordings whose answers are known on paper: tasks, roles, phases,
 * samples and costs. Files and steps are in test_report_files.c, the timeline in test_timeline.c.
 */
#include "report_help.h"

#include <math.h>

static const struct task_name *find_task(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->tasks.name_count; i++)
		if (report->tasks.names[i].name_size == strlen(name) &&
		    !memcmp(report->tasks.names[i].name, name, strlen(name)))
			return &report->tasks.names[i];
	fail_msg("no task %s", name);
	return NULL;
}

static void time_on_cpus_is_told_by_name_process_and_cpu(void **state)
{
	struct fixture *f = *state;
	const struct report *report;
	const struct task_name *name;

	add_run(f, "process,sched");
	add_schedule(f);
	report = help_report(f, NULL, NULL);
	assert_true(report->tasks.known);
	assert_int_equal(report->tasks.busy_ns, 960 * MS);
	assert_int_equal(report->tasks.idle_ns, 950 * MS);
	assert_int_equal(report->tasks.stays, 6);
	assert_int_equal(report->tasks.job_cpu_ns, 950 * MS);
	assert_int_equal(report->tasks.job_wait_ns, 25 * MS);
	name = find_task(report, "python");
	assert_int_equal(name->cpu_ns, 950 * MS);
	assert_int_equal(name->stays, 5);
	assert_int_equal(name->preempted, 1);
	assert_int_equal(name->processes, 2);
	assert_int_equal(name->lives, 2);
	assert_int_equal(name->life_ns, 1250 * MS);
	assert_int_equal(name->waits.count, 4);
	assert_int_equal(name->waits.sum, 25 * MS);
	assert_int_equal(name->waits.most, 20 * MS);
	name = find_task(report, "kworker");
	assert_int_equal(name->cpu_ns, 10 * MS);
	assert_int_equal(name->processes, 2);
	assert_int_equal(name->lives, 0);
	assert_int_equal(find_task(report, "idle")->cpu_ns, 950 * MS);
	assert_int_equal(report->tasks.process_count, 3);
	assert_int_equal(report->tasks.processes[0].cpu_ns, 700 * MS);
	assert_int_equal(report->tasks.cpu_count, 2);
	assert_int_equal(report->tasks.cpus[0].busy_ns, 710 * MS);
	assert_int_equal(report->tasks.cpus[0].gaps, 1);
	assert_int_equal(report->tasks.cpus[0].gap_ns, 90 * MS);
	assert_int_equal(report->tasks.cpus[1].gap_ns, 0);
}

static bool near(double found, double expected)
{
	return fabs(found - expected) < 1e-9 * expected;
}

/* What follows from the sums is made once, for whoever shows it. */
static void shares_and_means_of_time_on_cpus(void **state)
{
	struct fixture *f = *state;
	const struct tasks *tasks;
	const struct task_name *name;

	add_run(f, "process,sched");
	add_schedule(f);
	tasks = &help_report(f, NULL, NULL)->tasks;
	assert_true(near(tasks->busy_share, 960.0 / 1910));
	assert_true(near(tasks->job_cpus, 0.95));
	assert_true(near(tasks->cpus[0].busy_share, 710.0 / 910));
	name = find_task(&f->report, "python");
	assert_true(near(name->share, 950.0 / 1910));
	assert_true(near(name->busy_share, 950.0 / 960));
	assert_true(near(name->mean_stay_ns, 190.0 * MS));
	assert_true(near(name->mean_life_ns, 625.0 * MS));
	assert_false(name->idle || name->telling);
	name = find_task(&f->report, "idle");
	assert_true(name->idle && name->telling && isnan(name->busy_share));
	name = find_task(&f->report, "kworker");
	assert_true(!name->idle && name->telling && isnan(name->mean_life_ns));
	assert_int_equal(tasks->by_process_count, 2); /* idle is no process */
	assert_int_equal(tasks->names[tasks->by_processes[0]].processes, 2);
}

/* 100 lives from 1000 to 2000 ms, but no row tells of it from 1700 on. */
static void what_no_row_tells_of_the_main_thread_is_not_known(void **state)
{
	static const struct {
		const char *figure;
		int64_t ms;
	} expected[] = { { "main_cpu_ns", 400 },
			 { "main_queue_ns", 5 },
			 { "main_workers_ns", 180 },
			 { NULL, 300 },
			 { "main_storage_ns", 115 } };
	struct fixture *f = *state;
	const struct main_thread *main;
	uint64_t sum = 0;

	add_run(f, "process,sched");
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_process(f, 1100, FORK, 101, 101, 100, "python");
	add_process(f, 2000, EXIT, 100, 100, 50, "python");
	add_stay(f, 1000, 1200, 0, 100, 100, -1, -1, STATE_S, "poll");
	add_stay(f, 1380, 1480, 0, 100, 100, 0, 101, STATE_D, "read");
	add_stay(f, 1600, 1700, 0, 100, 100, 5, -1, STATE_S, NULL);
	main = &help_report(f, NULL, NULL)->main;
	assert_true(main->known);
	assert_int_equal(main->life_ns, 1000 * MS);
	for (size_t i = 0; i < MAIN_PART_COUNT; i++) {
		const struct main_part *part = &main->parts[i];

		sum += part->ns;
		assert_true(!i || part->ns <= main->parts[i - 1].ns);
		assert_true(part->slight == !part->ns);
		for (size_t j = 0; j < 5; j++)
			if (part->figure && expected[j].figure
				    ? !strcmp(part->figure, expected[j].figure)
				    : part->figure == expected[j].figure) {
				assert_int_equal(part->ns, expected[j].ms * MS);
				assert_true(near(part->share, (double)expected[j].ms / 1000));
			}
	}
	assert_int_equal(sum, main->life_ns);
}

/* The stay in which it became what it is began before: strata's own child waited for a CPU, and was on it. */
static void the_main_thread_s_time_begins_with_its_exec(void **state)
{
	struct fixture *f = *state;
	const struct main_thread *main;

	add_run(f, "process,sched");
	add_process(f, 1050, EXEC, 100, 100, 50, "python");
	add_process(f, 1250, EXIT, 100, 100, 50, "python");
	add_stay(f, 1005, 1010, 0, 100, 100, 0, -1, STATE_S, "read");
	add_stay(f, 1040, 1200, 0, 100, 100, 20, -1, STATE_R, NULL);
	add_stay(f, 1210, 1250, 0, 100, 100, 10, -1, STATE_S, NULL);
	main = &help_report(f, NULL, NULL)->main;
	assert_int_equal(main->life_ns, 200 * MS);
	assert_int_equal(f->report.total.main_cpu_ns, 190 * MS);
	assert_int_equal(f->report.total.main_queue_ns, 10 * MS);
	assert_int_equal(f->report.total.main_events_ns, 0);
	assert_int_equal(find_task(&f->report, "idle")->cpu_ns, 0); /* never, and so it is told */
}

static void roles_have_the_sums_of_their_processes(void **state)
{
	struct fixture *f = *state;
	const struct role_use *uses;

	add_run(f, "process,sched,io,fs");
	add_schedule(f);
	add_file(f, 1, "/data/a", FILE_KIND_FILE);
	add_read(f, 1200, 101, 1, 0, 4096, 0);
	add_read(f, 1600, 100, 1, 0, 1000, 0);
	add_read(f, 1700, 100, 1, 0, 1000, 0);
	add_read(f, 1800, 4711, 1, 0, 7, 0); /* of a process that is not known */
	add_fs(f, 1500, SYSCALL_openat, 1, 3);
	uses = help_report(f, NULL, NULL)->by_role;
	assert_int_equal(uses[PROC_ROLE_MAIN].processes, 1);
	assert_int_equal(uses[PROC_ROLE_MAIN].cpu_ns, 700 * MS);
	assert_int_equal(uses[PROC_ROLE_MAIN].wait_ns, 20 * MS);
	assert_int_equal(uses[PROC_ROLE_MAIN].read.bytes, 2000);
	assert_int_equal(uses[PROC_ROLE_MAIN].read.calls, 2);
	assert_int_equal(uses[PROC_ROLE_MAIN].metadata_ns, 2 * MS);
	assert_int_equal(uses[PROC_ROLE_WORKER].cpu_ns, 250 * MS);
	assert_int_equal(uses[PROC_ROLE_WORKER].read.bytes, 4096);
	assert_int_equal(uses[PROC_ROLE_WORKER].wakes[PROC_ROLE_MAIN], 1);
	assert_int_equal(uses[PROC_ROLE_KERNEL].processes, 2);
	assert_int_equal(uses[PROC_ROLE_KERNEL].cpu_ns, 10 * MS);
	assert_int_equal(uses[PROC_ROLE_OTHER].read.bytes, 7);
}

static void add_job_row(struct fixture *f, int64_t ms, int64_t usr, int64_t sys, int64_t rss)
{
	SET(job, ts, ms * MS);
	SET(job, dur, 100 * MS);
	SET(job, processes, ms == 1100 ? 3 : 1);
	SET(job, threads, 4);
	SET(job, usr, usr * MS);
	SET(job, sys, sys * MS);
	SET(job, rss, rss);
	SET(job, rchar, 1000);
	SET(job, minor_faults, 10);
	SET(job, major_faults, 1);
	END(job);
}

static void the_job_s_counters_are_summed_and_its_peaks_kept(void **state)
{
	struct fixture *f = *state;
	const struct job_use *job;

	add_run(f, "process,cpu");
	add_mark(f, 1100, 100, "mark", "epoch", NULL);
	add_job_row(f, 1000, 60, 20, 5000);
	add_job_row(f, 1100, 90, 30, 9000);
	add_job_row(f, 1200, 0, 0, 0);
	job = &help_report(f, NULL, NULL)->job;
	assert_true(job->known);
	assert_int_equal(job->sampled_ns, 300 * MS);
	assert_int_equal(job->usr_ns, 150 * MS);
	assert_int_equal(job->cpu_ns, 200 * MS);
	assert_true(near(job->cpus, 2.0 / 3));
	assert_true(near(job->usr_share, 0.75));
	assert_int_equal(job->most_rss, 9000);
	assert_int_equal(job->most_processes, 3);
	assert_int_equal(job->rchar_bytes, 3000);
	assert_int_equal(job->major_faults, 3);
	assert_int_equal(job->read_bytes, CELL_NULL); /* never told */
	job = &help_report(f, NULL, "epoch")->job;
	assert_int_equal(job->cpu_ns, 120 * MS); /* the interval that begins at its end too: 0 */
	assert_int_equal(job->most_rss, 9000);
}

static void a_report_without_counters_of_the_job_does_not_invent_them(void **state)
{
	struct fixture *f = *state;
	const struct job_use *job;

	add_run(f, "process");
	job = &help_report(f, NULL, NULL)->job;
	assert_false(job->known);
	assert_int_equal(job->cpu_ns, CELL_NULL);
	assert_int_equal(job->most_rss, CELL_NULL);
	assert_true(isnan(job->cpus));
}

static void the_main_thread_s_time_is_divided_by_who_woke_it(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_run(f, "process,sched");
	add_schedule(f);
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->total.main_cpu_ns, 700 * MS);
	assert_int_equal(report->total.main_queue_ns, 20 * MS);
	assert_int_equal(report->total.main_workers_ns, 180 * MS);
	assert_int_equal(report->total.main_storage_ns, 100 * MS);
	assert_int_equal(report->total.main_own_ns, 0);
	assert_int_equal(report->total.main_others_ns, 0);
	assert_int_equal(report->total.main_events_ns, 0);
	assert_int_equal(report->waits.call_count, 2);
	assert_int_equal(report->waits.calls[0].ns, 180 * MS);
	assert_memory_equal(report->waits.calls[0].syscall, "poll", 4);
	assert_int_equal(report->waits.calls[1].reason, WAIT_STORAGE);
	assert_int_equal(report->waits.wakes[PROC_ROLE_WORKER][PROC_ROLE_MAIN], 1);
	assert_int_equal(report->waits.wakes[PROC_ROLE_MAIN][PROC_ROLE_WORKER], 1);
}

/* The main process 100, 10 ms on its CPU and then asleep for 90, seven times: six in state D. */
static void add_sleeps(struct fixture *f)
{
	static const struct {
		int state, iowait, waker;
	} sleeps[] = { { STATE_D, 1, -1 },  /* storage, as the kernel says */
		       { STATE_D, 0, 101 }, /* a lock that its worker held */
		       { STATE_D, 0, 7 },   /* a request ends in it */
		       { STATE_D, 0, 7 },   /* a fault spans it */
		       { STATE_D, 0, -1 },  /* neither, and no thread woke it */
		       { STATE_D, -1, -1 }, /* as version 0.1 recorded it */
		       { STATE_S, 0, -1 } };
	int64_t waker = -1;

	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_process(f, 1000, FORK, 101, 101, 100, "python");
	for (unsigned i = 0; i < 8; i++) {
		int64_t at = 1000 + i * 100;

		if (i < 7 && sleeps[i].iowait >= 0)
			SET(sched, iowait, sleeps[i].iowait);
		add_stay(f, at, at + 10, 0, 100, 100, 0, waker, i < 7 ? sleeps[i].state : STATE_S,
			 "mmap");
		waker = i < 7 ? sleeps[i].waker : -1;
	}
}

static void a_sleep_in_state_d_is_storage_where_something_says_so(void **state)
{
	struct fixture *f = *state;
	const struct report *report;
	const struct wait_call *call;

	add_run(f, "process,sched,fault,block");
	add_sleeps(f);
	SET(block, ts, 1150 * MS); /* of another thread: says nothing */
	SET(block, dur, 20 * MS);
	SET(block, tid, 101);
	END(block);
	SET(block, ts, 1215 * MS);
	SET(block, queued, 5 * MS);
	SET(block, dur, 79 * MS);
	SET(block, tid, 100);
	END(block);
	SET(fault, ts, 1305 * MS);
	SET(fault, dur, 97 * MS);
	SET(fault, tid, 100);
	END(fault);
	report = help_report(f, NULL, NULL);
	assert_int_equal(report->total.main_storage_ns, 4 * 90 * MS);
	assert_int_equal(report->total.main_lock_ns, 2 * 90 * MS);
	assert_int_equal(report->total.main_events_ns, 90 * MS);
	call = report->waits.calls;
	for (size_t i = 0; i < report->waits.call_count; i++, call++)
		if (call->reason == WAIT_LOCK)
			assert_true(call->waker == WAIT_WORKERS || call->waker == WAIT_EVENTS);
}

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
		TEST(time_on_cpus_is_told_by_name_process_and_cpu),
		TEST(shares_and_means_of_time_on_cpus),
		TEST(what_no_row_tells_of_the_main_thread_is_not_known),
		TEST(the_main_thread_s_time_begins_with_its_exec),
		TEST(roles_have_the_sums_of_their_processes),
		TEST(the_job_s_counters_are_summed_and_its_peaks_kept),
		TEST(a_report_without_counters_of_the_job_does_not_invent_them),
		TEST(the_main_thread_s_time_is_divided_by_who_woke_it),
		TEST(a_sleep_in_state_d_is_storage_where_something_says_so),
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
