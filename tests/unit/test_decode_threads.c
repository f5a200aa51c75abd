/* The probes' decoders, of what concerns processes and threads: their life, stays, waits and calls. See test_decode.c. */
#include "decode_help.h"

#include "bpf/call.h"
#include "bpf/names.h"
#include "bpf/process.h"
#include "bpf/sched.h"
#include "bpf/stall.h"
#include "bpf/wait.h"
#include "symbols/calls.h"

static void an_exec_has_arguments_and_its_cgroup(void **state)
{
	struct {
		struct cgroup_record cgroup;
		char names[8];
	} cgroup = {
		.cgroup = { .head = head(PROBE_names, NAMES_CGROUP, 0), .id = 77, .names_size = 4 },
		.names = "job"
	};
	struct {
		struct process_record process;
		char args[16];
	} exec = { .process = { .head = head(PROBE_process, 0, EVENT_EXEC),
				.cgroup = 77,
				.ppid = 9,
				.uid = 1000,
				.exe = 3,
				.old_tid = 12,
				.args_size = 9,
				.comm = "cp" },
		   .args = "cp\0a b\0c" };

	(void)state;
	decode(&cgroup, sizeof(cgroup));
	decode(&exec, sizeof(exec));
	assert_rows("process|1000|4:exec|10|11|9|2:cp|3|10:cp 'a b' "
		    "c|1000|4:/job|null|12|null|null|null|null|\n");
}

static void arguments_that_were_not_sent_are_not_read(void **state)
{
	struct process_record process = { .head = head(PROBE_process, 0, EVENT_EXEC),
					  .old_tid = 11,
					  .args_size = 4096,
					  .comm = "sh" };

	(void)state;
	decode(&process, sizeof(process));
	assert_rows("process|1000|4:exec|10|11|null|2:sh|null|null|0|null|null|null|null|null|null|"
		    "null|\n");
}

static void add_cgroup(uint64_t id, const char *name)
{
	struct {
		struct cgroup_record cgroup;
		char names[80];
	} cgroup = { .cgroup = { .head = head(PROBE_names, NAMES_CGROUP, 0),
				 .id = id,
				 .names_size = (uint32_t)strlen(name) + 1 } };

	memcpy(cgroup.names, name, strlen(name) + 1);
	decode(&cgroup, sizeof(cgroup));
}

static void add_process(uint64_t cgroup, uint64_t v1, uint8_t flags)
{
	struct process_record process = { .head = head(PROBE_process, 0, EVENT_FORK),
					  .cgroup = cgroup,
					  .cgroup_v1 = v1,
					  .ns_pid = 5,
					  .comm = "sh" };

	process.head.flags = flags;
	decode(&process, sizeof(process));
}

#define PROCESS "process|1000|4:fork|10|11|null|2:sh|null|null|0|"

/* One id of both hierarchies is not one group. */
static void a_container_is_told_by_either_hierarchy(void **state)
{
	(void)state;
	add_cgroup(7, "session-3.scope");
	add_cgroup(7 | CGROUP_V1, "job7");
	add_cgroup(8, "crun-web.scope");
	add_process(7, 7 | CGROUP_V1, 0);
	add_process(7, 7 | CGROUP_V1, PROCESS_MOVED | PROCESS_MOVED_V1);
	add_process(8, 7 | CGROUP_V1, PROCESS_MOVED | PROCESS_MOVED_V1);
	add_process(7, 0, PROCESS_MOVED | PROCESS_MOVED_V1);
	assert_rows(PROCESS "16:/session-3.scope|null|null|5|null|null|null|\n" PROCESS
			    "16:/session-3.scope|null|null|5|4:job7|null|null|\n" PROCESS
			    "15:/crun-web.scope|null|null|5|3:web|null|null|\n" PROCESS
			    "16:/session-3.scope|null|null|5|null|null|null|\n");
}

static void a_fork_tells_who_made_it(void **state)
{
	struct process_record process = { .head = head(PROBE_process, 0, EVENT_FORK),
					  .creator = 8,
					  .comm = "sh" };

	(void)state;
	decode(&process, sizeof(process));
	process.head.op = EVENT_EXIT;
	decode(&process, sizeof(process));
	assert_rows(
		"process|1000|4:fork|10|11|null|2:sh|null|null|0|null|null|null|null|null|8|null|\n"
		"process|1000|4:exit|10|11|null|2:sh|null|null|0|null|0|null|null|null|null|null|"
		"\n");
}

static struct wait_record a_wait(uint16_t number)
{
	return (struct wait_record){
		.head = head(PROBE_wait, 0, 0),
		.returned = -4,
		.arg0 = UINT64_MAX,
		.blocked = 40,
		.timeout = 5000000,
		.fd = 5,
		.file = 2,
		.number = number,
		.clock = CLOCK_NONE,
	};
}

static void a_call_that_slept_is_a_row_of_wait(void **state)
{
	struct wait_record wait = a_wait(7);

	(void)state;
	wait.head.flags = RECORD_INTERRUPTED | RECORD_RESTARTED;
	decode(&wait, sizeof(wait));
	assert_rows("wait|1000|50|3|10|11|4:poll|-1|5|2|5000000|40|-4|1|null|\n");
}

static void what_a_wait_does_not_know_is_null(void **state)
{
	struct wait_record wait = a_wait(462);

	(void)state;
	wait.head.flags = RECORD_UNFINISHED;
	wait.blocked = RECORD_NULL;
	wait.timeout = RECORD_NULL;
	wait.fd = DESCRIPTOR_NONE;
	wait.file = 0;
	decode(&wait, sizeof(wait));
	wait.number = 510; /* no name */
	wait.timeout = 1;  /* long past, on this clock */
	wait.clock = 1;
	decode(&wait, sizeof(wait));
	wait.clock = 200; /* no clock */
	decode(&wait, sizeof(wait));
	assert_rows(
		"wait|1000|null|3|10|11|5:mseal|-1|null|null|null|null|null|null|null|\n"
		"wait|1000|null|3|10|11|13:syscall_0x1fe|-1|null|null|0|null|null|null|null|\n"
		"wait|1000|null|3|10|11|13:syscall_0x1fe|-1|null|null|null|null|null|null|null|\n");
}

static void a_stall_has_a_kind(void **state)
{
	struct stall_record stall = {
		.head = head(PROBE_stall, 0, STALL_dirty), .value = 4096, .file = 2, .dev = "loop0"
	};

	(void)state;
	decode(&stall, sizeof(stall));
	stall = (struct stall_record){ .head = head(PROBE_stall, 0, STALL_rwsem_write),
				       .value = RECORD_NULL };
	decode(&stall, sizeof(stall));
	stall.head.flags = RECORD_UNFINISHED;
	decode(&stall, sizeof(stall));
	assert_rows("stall|1000|50|3|10|11|5:dirty|4096|2|5:loop0|null|\n"
		    "stall|1000|50|3|10|11|11:rwsem_write|null|null|null|null|\n"
		    "stall|1000|null|3|10|11|11:rwsem_write|null|null|null|null|\n");
}

static void a_stay_tells_why_it_ended(void **state)
{
	struct sched_record sched = { .head = head(PROBE_sched, 0, 0),
				      .wait = RECORD_NULL,
				      .prio = 120,
				      .syscall = 0,
				      .waker_syscall = -1,
				      .arg0 = 7,
				      .state = 2 };

	(void)state;
	decode(&sched, sizeof(sched));
	sched.head.flags = STAY_IOWAIT | STAY_ARGUMENT;
	decode(&sched, sizeof(sched));
	assert_rows("sched|1000|50|3|10|11|120|null|null|1:D|4:read|null|null|null|0|null|null|\n"
		    "sched|1000|50|3|10|11|120|null|null|1:D|4:read|null|null|null|1|7|null|\n");
}

static void a_process_that_is_not_shown_has_the_machines_number(void **state)
{
	struct sched_record sched = { .head = head(PROBE_sched, 0, WAKER_THREAD),
				      .wait = 5,
				      .waker = RECORD_HOST_ID | 8,
				      .syscall = -1,
				      .waker_syscall = -1 };

	(void)state;
	sched.head.pid = sched.head.tid = RECORD_HOST_ID | 4194303;
	sched.head.flags = STAY_ARGUMENT;
	sched.arg0 = 7;
	decode(&sched, sizeof(sched));
	sched.head.pid = sched.head.tid = 0;
	sched.head.flags = STAY_IDLE;
	decode(&sched, sizeof(sched));
	assert_rows("sched|1000|50|3|null|null|0|5|null|1:R|null|995|6:thread|null|0|7|4194303|\n"
		    "sched|1000|50|3|0|0|0|5|null|1:R|null|995|6:thread|null|0|null|null|\n");
}

/* As the kernel's fs/proc/array.c names its bits. */
static void a_state_is_the_letter_that_tools_print(void **state)
{
	static const struct {
		uint16_t bits;
		const char *letter; /* NULL: none */
	} states[] = {
		{ 0, "R" },
		{ 0x1, "S" },
		{ 0x2, "D" },
		{ 0x102, "D" },	 /* a kill ends it */
		{ 0x2001, "S" }, /* it may be frozen */
		{ 0x402, "I" },
		{ 0x104, "T" },
		{ 0x8, "t" },
		{ 0x10, "X" },
		{ 0x80, "X" },
		{ 0x20, "Z" },
		{ 0x40, "P" },
		{ 0x8000, NULL }, /* frozen */
		{ SCHED_STATE_UNKNOWN, NULL },
	};
	struct sched_record sched = { .head = head(PROBE_sched, 0, 0),
				      .syscall = -1,
				      .waker_syscall = -1 };
	char expected[2048] = "", row[128];

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		const char *letter = states[i].letter;

		sched.state = states[i].bits;
		decode(&sched, sizeof(sched));
		snprintf(row, sizeof(row),
			 "sched|1000|50|3|10|11|0|0|null|%s%s|null|null|null|null|%s|null|null|\n",
			 letter ? "1:" : "", letter ? letter : "null", letter ? "0" : "null");
		strcat(expected, row);
	}
	assert_rows(expected);
}

static void a_stay_tells_how_it_came_about(void **state)
{
	struct sched_record sched = { .head = head(PROBE_sched, 0, 0),
				      .wait = 100,
				      .waker = 4,
				      .waker_syscall = 1,
				      .syscall = -1 };

	(void)state;
	sched.head.op = WAKER_THREAD;
	decode(&sched, sizeof(sched));
	sched.early = 20; /* woken before it was off its CPU */
	sched.head.op = WAKER_SOFTIRQ + 3;
	decode(&sched, sizeof(sched));
	sched = (struct sched_record){
		.head = sched.head, .wait = 0, .syscall = -1, .waker_syscall = -1
	}; /* left in R, and came back at once */
	sched.head.op = WAKER_NONE;
	decode(&sched, sizeof(sched));
	sched.head.op = 255; /* a softirq of a later kernel */
	decode(&sched, sizeof(sched));
	assert_rows("sched|1000|50|3|10|11|0|100|4|1:R|null|900|6:thread|5:write|0|null|null|\n"
		    "sched|1000|50|3|10|11|0|100|4|1:R|null|880|6:net_rx|5:write|0|null|null|\n"
		    "sched|1000|50|3|10|11|0|0|null|1:R|null|null|null|null|0|null|null|\n"
		    "sched|1000|50|3|10|11|0|0|null|1:R|null|null|null|null|0|null|null|\n");
}

static void a_call_is_named_by_its_number(void **state)
{
	struct call_module module = { .name = (char *)"libc.so.6", .path = (char *)"/libc" };
	struct call_function functions[2] = { { .name = (char *)"malloc" },
					      { .name = (char *)"read" } };
	struct calls calls = { 0 };
	struct call_record call = {
		.head = head(PROBE_call, 0, 0),
		.function = 1,
		.depth = 2,
		.args = { 3, -4, 5, 0 },
		.returned = -9,
		.bytes = RECORD_NULL,
		.count = RECORD_NULL,
		.rank = RECORD_NULL,
		.op = RECORD_NULL,
	};

	(void)state;
	assert_int_equal(buf_append(&calls.modules, &module, sizeof(module)), 0);
	assert_int_equal(buf_append(&calls.functions, functions, sizeof(functions)), 0);
	maker.calls = &calls;
	decode(&call, sizeof(call));
	call.head.flags = RECORD_UNFINISHED; /* no length, no result */
	decode(&call, sizeof(call));
	call.function = 2; /* there is none: dropped */
	decode(&call, sizeof(call));
	assert_int_equal(maker.sink.dropped[TABLE_call], 1);
	assert_rows("call|1000|50|3|10|11|4:read|9:libc.so.6|2|3|-4|5|0|-9|null|null|null|null|"
		    "null|null|null|\n"
		    "call|1000|null|3|10|11|4:read|9:libc.so.6|2|3|-4|5|0|null|null|null|null|null|"
		    "null|null|null|\n");
	buf_free(&calls.modules);
	buf_free(&calls.functions);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, decode_begin, decode_end)
	const struct CMUnitTest tests[] = {
		TEST(an_exec_has_arguments_and_its_cgroup),
		TEST(arguments_that_were_not_sent_are_not_read),
		TEST(a_container_is_told_by_either_hierarchy),
		TEST(a_fork_tells_who_made_it),
		TEST(a_call_that_slept_is_a_row_of_wait),
		TEST(what_a_wait_does_not_know_is_null),
		TEST(a_stall_has_a_kind),
		TEST(a_stay_tells_why_it_ended),
		TEST(a_process_that_is_not_shown_has_the_machines_number),
		TEST(a_state_is_the_letter_that_tools_print),
		TEST(a_stay_tells_how_it_came_about),
		TEST(a_call_is_named_by_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
