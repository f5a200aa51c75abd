/* The probes' decoders, of what concerns files: records as the programs in the kernel send them, byte by byte, become rows. */
#include "decode_help.h"

#include "bpf/block.h"
#include "bpf/fault.h"
#include "bpf/file.h"
#include "bpf/names.h"

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
	assert_rows("mark|1000|null|10|11|4:mark|5:epoch|1:3|null|\n");
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
	assert_rows("fault|5|null|0|10|11|null|1|4096|0|0|null|\n"
		    "fault|6|null|1|10|11|null|null|8192|0|0|null|\n");
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
	assert_rows("fault|1000|50|3|10|11|4660|null|null|1|null|null|\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, decode_begin, decode_end)
	const struct CMUnitTest tests[] = {
		TEST(a_read_is_a_row_of_io),
		TEST(what_a_read_does_not_know_is_null),
		TEST(a_copy_has_two_files),
		TEST(a_rename_has_both_paths),
		TEST(a_mapping_is_a_row_of_mem),
		TEST(a_mark_has_a_name_and_maybe_a_value),
		TEST(names_come_from_the_leaf_up),
		TEST(a_file_whose_path_was_cut_has_none),
		TEST(a_request_has_an_error_number),
		TEST(several_faults_come_in_one_record),
		TEST(a_count_of_faults_is_not_believed),
		TEST(a_major_fault_has_an_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
