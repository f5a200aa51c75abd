/* What `strata report` says of time, on recordings whose answers are known on paper: on CPUs, of the main thread and its sleeps, of
 * roles and of the job. */
#include "report_help.h"

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
