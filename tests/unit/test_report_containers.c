/* Sums by container, where there are several. */
#include "report_help.h"

static void add_contained(struct fixture *f, int64_t ms, int event, int64_t pid, int64_t ppid,
			  const char *container)
{
	if (container)
		SET_TEXT(process, container, container);
	add_process(f, ms, event, pid, pid, ppid, "python");
}

/* The command starts a runtime, that two containers of two processes each. */
static void add_containers(struct fixture *f, const char *second)
{
	add_run(f, "process,sched,io");
	add_contained(f, 1000, EXEC, 100, 50, NULL);
	add_contained(f, 1010, FORK, 101, 100, NULL);
	add_contained(f, 1020, EXEC, 101, 100, "one"); /* moved there after its fork */
	add_contained(f, 1030, FORK, 102, 101, "one");
	add_contained(f, 1040, FORK, 103, 100, second);
	add_contained(f, 1050, FORK, 104, 103, second);
	add_contained(f, 1060, FORK, 900, 1, "three"); /* not the job's */
	add_stay(f, 1100, 1200, 0, 101, 101, 5, -1, STATE_S, NULL);
	add_stay(f, 1200, 1300, 0, 102, 102, 5, -1, STATE_S, NULL);
	add_stay(f, 1300, 1450, 0, 103, 103, 0, -1, STATE_S, NULL);
	add_stay(f, 1450, 1460, 0, 100, 100, 0, -1, STATE_S, NULL);
	add_stay(f, 1460, 1900, 0, 900, 900, 0, -1, STATE_S, NULL);
	add_file(f, 1, "/data", FILE_KIND_FILE);
	add_read(f, 1110, 101, 1, 0, 1000, 0);
	add_read(f, 1210, 102, 1, 0, 500, 0);
	add_read(f, 1310, 104, 1, 0, 300, 0);
}

static void assert_use(const struct container_use *use, const char *name, uint32_t processes,
		       uint64_t cpu_ms, uint64_t bytes)
{
	if (name)
		assert_true(dims_text_is(&use->container, name));
	else
		assert_null(use->container.bytes);
	assert_int_equal(use->processes, processes);
	assert_int_equal(use->cpu_ns, cpu_ms * MS);
	assert_int_equal(use->read.bytes, bytes);
}

static void each_container_has_the_sums_of_its_processes(void **state)
{
	struct fixture *f = *state;
	const struct container_uses *uses;

	add_containers(f, "two");
	uses = &help_report(f, NULL, NULL)->by_container;
	assert_int_equal(uses->count, 3);
	assert_use(&uses->list[0], "one", 2, 200, 1500);
	assert_int_equal(uses->list[0].wait_ns, 10 * MS);
	assert_use(&uses->list[1], "two", 2, 150, 300);
	assert_use(&uses->list[2], NULL, 1, 10, 0);
}

static void one_container_is_no_group(void **state)
{
	struct fixture *f = *state;

	add_containers(f, "one");
	assert_int_equal(help_report(f, NULL, NULL)->by_container.count, 0);
}

static void a_recorded_container_is_the_job(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_containers(f, "two");
	add_fact(f, "target", "container");
	add_fact(f, "filter.container", "two");
	report = help_report(f, NULL, NULL);
	assert_true(report->has_job);
	for (uint32_t i = 0; i < procs_count(report->context.procs); i++) {
		const struct proc *proc = procs_get(report->context.procs, i);

		assert_true(proc->in_job == (proc->pid == 103 || proc->pid == 104));
	}
}

static void a_process_names_its_container(void **state)
{
	struct fixture *f = *state;
	const struct report *report;

	add_containers(f, "two");
	add_fact(f, "target", "container");
	add_fact(f, "filter.container", "102");
	report = help_report(f, NULL, NULL);
	for (uint32_t i = 0; i < procs_count(report->context.procs); i++) {
		const struct proc *proc = procs_get(report->context.procs, i);

		assert_true(proc->in_job == (proc->pid == 101 || proc->pid == 102));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_container_has_the_sums_of_its_processes),
		TEST(one_container_is_no_group),
		TEST(a_recorded_container_is_the_job),
		TEST(a_process_names_its_container),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
