/* The probes' decoders: records as the programs in the kernel send them, byte by byte, become rows. */
#include "store_help.h"

#include "bpf/block.h"
#include "bpf/call.h"
#include "bpf/fault.h"
#include "bpf/file.h"
#include "bpf/names.h"
#include "bpf/process.h"
#include "bpf/sched.h"
#include "bpf/stall.h"
#include "bpf/wait.h"
#include "probes/names.h"
#include "probes/probe.h"
#include "symbols/calls.h"

static struct row_maker maker;
static struct writer *writer;

static int begin(void **state)
{
	struct error e;

	(void)state;
	maker = (struct row_maker){ 0 };
	assert_int_equal(writer_open(&writer, help_file(), &e), 0);
	sink_init(&maker.sink, writer);
	return 0;
}

static int end(void **state)
{
	(void)state;
	names_forget(&maker);
	buf_free(&maker.scratch);
	sink_free(&maker.sink);
	unlink(help_path);
	return 0;
}

static void decode(const void *bytes, size_t size)
{
	const struct record *record = bytes;

	probes[record->probe]->decode(&maker, record, size);
}

/* The rows so far, a line each: the table, then its columns in order. */
static void assert_rows(const char *expected)
{
	struct reader *reader;
	struct buf text;
	struct error e;

	sink_flush(&maker.sink, 0);
	assert_int_equal(maker.sink.failed, 0);
	assert_int_equal(writer_close(writer, &e), 0);
	reader = help_open();
	text = help_print_all(reader);
	assert_int_equal(buf_append(&text, "", 1), 0);
	assert_string_equal((const char *)text.data, expected);
	buf_free(&text);
	reader_close(reader);
}

static struct record head(enum probe_id probe, uint8_t kind, uint8_t op)
{
	return (struct record){ .probe = probe,
				.kind = kind,
				.op = op,
				.cpu = 3,
				.pid = 10,
				.tid = 11,
				.ts = 1000,
				.dur = 50 };
}

static void a_read_is_a_row_of_io(void **state)
{
	struct io_record io = {
		.head = head(PROBE_file, FILE_IO, SYSCALL_pread64),
		.returned = 4096,
		.requested = 8192,
		.pos = 65536,
		.blocked = 7,
		.missed = 4096,
		.fd = 5,
		.file = 2,
	};

	(void)state;
	io.head.flags = RECORD_DIRECT;
	decode(&io, sizeof(io));
	assert_rows("io|1000|50|3|10|11|7:pread64|1:R|5|2|65536|null|null|null|8192|4096|null|4096|"
		    "7|1|null|\n");
}

static void what_a_read_does_not_know_is_null(void **state)
{
	struct io_record io = {
		.head = head(PROBE_file, FILE_IO, SYSCALL_io_uring_write),
		.pos = RECORD_NULL,
		.blocked = RECORD_NULL,
		.missed = RECORD_NULL,
		.fd = DESCRIPTOR_NONE,
	};

	(void)state;
	io.head.flags = RECORD_UNFINISHED | RECORD_NO_REQUESTED;
	decode(&io, sizeof(io));
	assert_rows("io|1000|null|3|10|11|14:io_uring_write|1:W|null|null|null|null|null|null|null|"
		    "null|null|null|null|null|null|\n");
}

static void a_copy_has_two_files(void **state)
{
	struct copy_record copy = {
		.in = { .head = head(PROBE_file, FILE_COPY, SYSCALL_sendfile),
			.returned = -4,
			.requested = 10,
			.pos = 1,
			.fd = 4,
			.file = 8 },
		.out_pos = RECORD_NULL,
		.out_fd = 6,
		.out_file = 9,
	};

	(void)state;
	copy.in.head.flags = RECORD_INTERRUPTED | RECORD_RESTARTED;
	decode(&copy, sizeof(copy));
	assert_rows("io|1000|50|3|10|11|8:sendfile|1:C|4|8|1|6|9|null|10|-4|1|0|0|0|null|\n");
}

static void a_rename_has_both_paths(void **state)
{
	struct {
		struct fs_record fs;
		char paths[8];
	} record = {
		.fs = { .head = head(PROBE_file, FILE_FS, SYSCALL_renameat2),
			.flags = 1,
			.mode = RECORD_NULL,
			.pos = RECORD_NULL,
			.length = RECORD_NULL,
			.fd = RECORD_NULL,
			.blocked = 0,
			.dir = 7,
			.path_size = 2,
			.path2_size = 4 },
		.paths = "a\0/b2",
	};

	(void)state;
	decode(&record, sizeof(record));
	assert_rows("fs|1000|50|3|10|11|9:renameat2|null|null|7|null|1:a|3:/"
		    "b2|1|null|null|null|0|null|0|null|\n");
}

static void a_mapping_is_a_row_of_mem(void **state)
{
	struct mem_record mem = {
		.head = head(PROBE_file, FILE_MEM, SYSCALL_mmap),
		.returned = 0x7000,
		.length = 8192,
		.old_length = RECORD_NULL,
		.prot = 1,
		.flags = 2,
		.pos = 4096,
		.fd = 3,
		.file = 4,
	};

	(void)state;
	decode(&mem, sizeof(mem));
	assert_rows("mem|1000|50|3|10|11|4:mmap|0|8192|null|1|2|3|4|4096|28672|null|\n");
}

static void a_mark_has_a_name_and_maybe_a_value(void **state)
{
	struct mark_record named = { .head = head(PROBE_file, FILE_MARK, 0),
				     .size = 8,
				     .text = "epoch\n3" };
	struct mark_record nameless = { .head = head(PROBE_file, FILE_MARK, 0), .size = 1 };

	(void)state;
	decode(&named, sizeof(named));
	decode(&nameless, sizeof(nameless));
	assert_rows("mark|1000|null|10|11|4:mark|5:epoch|1:3|\n");
}

static void names_come_from_the_leaf_up(void **state)
{
	struct {
		struct file_record file;
		char names[16];
	} record = {
		.file = { .head = head(PROBE_names, NAMES_FILE, 0),
			  .inode = 99,
			  .id = 5,
			  .generation = 2,
			  .dev = 8 << 20 | 1,
			  .mode = 0100644,
			  .names_size = 11,
			  .fs = "ext4" },
		.names = "x.txt\0data",
	};

	(void)state;
	decode(&record, sizeof(record));
	assert_rows("file|5|11:/data/x.txt|3:8:1|99|2|4:ext4|4:file|null|\n");
}

static void a_file_whose_path_was_cut_has_none(void **state)
{
	struct file_record file = { .head = head(PROBE_names, NAMES_FILE, 0),
				    .id = 6,
				    .flags = FILE_CUT,
				    .mode = 0040755 };

	(void)state;
	decode(&file, sizeof(file));
	assert_rows("file|6|null|3:0:0|0|0|0:|3:dir|null|\n");
}

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
	assert_rows("wait|1000|50|3|10|11|4:poll|-1|5|2|5000000|40|-4|1|\n");
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
	assert_rows("wait|1000|null|3|10|11|5:mseal|-1|null|null|null|null|null|null|\n"
		    "wait|1000|null|3|10|11|13:syscall_0x1fe|-1|null|null|0|null|null|null|\n"
		    "wait|1000|null|3|10|11|13:syscall_0x1fe|-1|null|null|null|null|null|null|\n");
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
	assert_rows("stall|1000|50|3|10|11|5:dirty|4096|2|5:loop0|\n"
		    "stall|1000|50|3|10|11|11:rwsem_write|null|null|null|\n"
		    "stall|1000|null|3|10|11|11:rwsem_write|null|null|null|\n");
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

static void a_stay_tells_how_it_came_about(void **state)
{
	struct sched_record sched = { .head = head(PROBE_sched, 0, 0),
				      .wait = 100,
				      .waker = 4,
				      .waker_kind = WAKER_THREAD,
				      .waker_syscall = 1,
				      .syscall = -1 };

	(void)state;
	decode(&sched, sizeof(sched));
	sched.early = 20; /* woken before it was off its CPU */
	sched.waker_kind = WAKER_SOFTIRQ + 3;
	decode(&sched, sizeof(sched));
	sched = (struct sched_record){
		.head = sched.head, .wait = 0, .syscall = -1, .waker_syscall = -1
	}; /* left in R, and came back at once */
	decode(&sched, sizeof(sched));
	sched.waker_kind = 255; /* a softirq of a later kernel */
	decode(&sched, sizeof(sched));
	assert_rows("sched|1000|50|3|10|11|0|100|4|1:R|null|900|6:thread|5:write|0|null|null|\n"
		    "sched|1000|50|3|10|11|0|100|4|1:R|null|880|6:net_rx|5:write|0|null|null|\n"
		    "sched|1000|50|3|10|11|0|0|null|1:R|null|null|null|null|0|null|null|\n"
		    "sched|1000|50|3|10|11|0|0|null|1:R|null|null|null|null|0|null|null|\n");
}

static void a_request_has_an_error_number(void **state)
{
	struct block_record block = { .head = head(PROBE_block, 0, 1),
				      .queued = 20,
				      .sector = 8,
				      .bytes = 4096,
				      .done_pid = RECORD_HOST_ID | 7,
				      .error = 3, /* the kernel's BLK_STS_NOSPC */
				      .flags = BLOCK_SYNC | BLOCK_ISSUED,
				      .disk = "loop0" };

	(void)state;
	decode(&block, sizeof(block));
	assert_rows("block|1000|50|20|3|10|11|5:loop0|1:W|1|0|0|8|4096|null|null|-28|null|\n");
}

static void a_process_that_is_not_shown_has_the_machines_number(void **state)
{
	struct sched_record sched = { .head = head(PROBE_sched, 0, 0),
				      .wait = 5,
				      .waker = RECORD_HOST_ID | 8,
				      .waker_kind = WAKER_THREAD,
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
	assert_rows(
		"sched|1000|50|3|null|null|0|5|null|1:R|null|995|6:thread|null|0|7|4194303|\n"
		"sched|1000|50|3|0|0|0|5|null|1:R|null|995|6:thread|null|0|null|null|\n");
}

static void several_faults_come_in_one_record(void **state)
{
	struct faults_record faults = {
		.head = head(PROBE_fault, FAULT_SEVERAL, 0),
		.count = 2,
		.missed_known = 1,
		.faults = { { .ts = 5, .pos = 4096, .file = 1, .cpu = 0 },
			    { .ts = 6, .pos = 8192, .cpu = 1 } },
	};

	(void)state;
	decode(&faults, sizeof(faults));
	assert_rows("fault|5|null|0|10|11|null|1|4096|0|0|\n"
		    "fault|6|null|1|10|11|null|null|8192|0|0|\n");
}

static void a_count_of_faults_is_not_believed(void **state)
{
	struct faults_record faults = { .head = head(PROBE_fault, FAULT_SEVERAL, 0),
					.count = 1000000 };

	(void)state;
	decode(&faults, sizeof(faults));
	sink_flush(&maker.sink, 0);
	assert_int_equal(writer_rows(writer, TABLE_fault), BRIEF_FAULTS);
	assert_int_equal(writer_close(writer, &(struct error){ "" }), 0);
}

static void a_major_fault_has_an_address(void **state)
{
	struct fault_record fault = { .head = head(PROBE_fault, FAULT_ONE, 0),
				      .addr = 0x1234,
				      .pos = RECORD_NULL,
				      .missed = RECORD_NULL,
				      .flags = FAULT_MAJOR };

	(void)state;
	decode(&fault, sizeof(fault));
	assert_rows("fault|1000|50|3|10|11|4660|null|null|1|null|\n");
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
	assert_rows("call|1000|50|3|10|11|4:read|9:libc.so.6|2|3|-4|5|0|-9|null|\n"
		    "call|1000|null|3|10|11|4:read|9:libc.so.6|2|3|-4|5|0|null|null|\n");
	buf_free(&calls.modules);
	buf_free(&calls.functions);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_read_is_a_row_of_io),
		TEST(what_a_read_does_not_know_is_null),
		TEST(a_copy_has_two_files),
		TEST(a_rename_has_both_paths),
		TEST(a_mapping_is_a_row_of_mem),
		TEST(a_mark_has_a_name_and_maybe_a_value),
		TEST(names_come_from_the_leaf_up),
		TEST(a_file_whose_path_was_cut_has_none),
		TEST(an_exec_has_arguments_and_its_cgroup),
		TEST(a_container_is_told_by_either_hierarchy),
		TEST(arguments_that_were_not_sent_are_not_read),
		TEST(a_fork_tells_who_made_it),
		TEST(a_call_that_slept_is_a_row_of_wait),
		TEST(what_a_wait_does_not_know_is_null),
		TEST(a_stall_has_a_kind),
		TEST(a_stay_tells_why_it_ended),
		TEST(a_stay_tells_how_it_came_about),
		TEST(a_request_has_an_error_number),
		TEST(a_call_is_named_by_its_number),
		TEST(a_process_that_is_not_shown_has_the_machines_number),
		TEST(several_faults_come_in_one_record),
		TEST(a_count_of_faults_is_not_believed),
		TEST(a_major_fault_has_an_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
