/* Rows as events: what each kind of table makes of its rows, and which columns are left as arguments. */
#include "store_help.h"

#include "render/event.h"

struct fixture {
	struct builder *builder;
	struct reader *reader;
	struct rows *rows;
	struct event_plan plan;
	struct event_row event;
};

static void fixture_begin(struct fixture *f, unsigned table)
{
	*f = (struct fixture){ .builder = help_builder(table) };
}

/* Ends the one row and reads it as an event. */
static const struct event_row *fixture_read(struct fixture *f)
{
	unsigned table = (unsigned)(f->builder->table - schema_tables);
	struct buf chunk = { 0 };
	struct error e;

	builder_end_row(f->builder);
	help_encode(f->builder, &chunk);
	help_trace(&chunk, true);
	buf_free(&chunk);
	f->reader = help_open();
	event_plan_make(&f->plan, table);
	assert_int_equal(rows_open(&f->rows, f->reader, table, f->plan.wanted, 0, UINT64_MAX, &e),
			 0);
	assert_int_equal(rows_next(f->rows, &e), 1);
	event_read(&f->event, &f->plan, f->rows, (uint64_t)rows_cell(f->rows, 0));
	return &f->event;
}

static void fixture_end(struct fixture *f)
{
	rows_close(f->rows);
	reader_close(f->reader);
	builder_close(f->builder);
	unlink(help_path);
}

static void assert_name(const struct event_row *event, const char *name)
{
	assert_int_equal(event->name_size, strlen(name));
	assert_memory_equal(event->name, name, event->name_size);
}

static bool has_argument(const struct event_plan *plan, const char *name)
{
	for (unsigned i = 0; i < plan->argument_count; i++)
		if (!strcmp(plan->arguments[i].name, name))
			return true;
	return false;
}

static void set_call(struct fixture *f, int64_t tid, enum syscall op, int64_t dur)
{
	fixture_begin(f, TABLE_io);
	builder_set(f->builder, column_io_ts, 1000);
	builder_set(f->builder, column_io_dur, dur);
	builder_set(f->builder, column_io_pid, 7);
	builder_set(f->builder, column_io_tid, tid);
	builder_set(f->builder, column_io_op, op);
}

static void a_call_nests_on_its_thread(void **state)
{
	const struct event_row *event;
	struct fixture f;

	(void)state;
	set_call(&f, 8, SYSCALL_pread64, 50);
	event = fixture_read(&f);
	assert_int_equal(event->plan->class, EVENT_SPAN);
	assert_name(event, "pread64");
	assert_int_equal(event->ts, 1000);
	assert_int_equal(event->end, 1050);
	assert_int_equal(event->pid, 7);
	assert_int_equal(event->tid, 8);
	assert_int_equal(event->place, PLACE_NESTED);
	assert_false(event->moment);
	fixture_end(&f);
}

static void a_queued_operation_runs_beside_its_thread(void **state)
{
	struct fixture f;

	(void)state;
	set_call(&f, 8, SYSCALL_io_uring_read, 50);
	assert_int_equal(fixture_read(&f)->place, PLACE_BESIDE);
	fixture_end(&f);
	set_call(&f, 8, SYSCALL_aio_pwrite, 50);
	assert_int_equal(fixture_read(&f)->place, PLACE_BESIDE);
	fixture_end(&f);
}

static void a_call_without_end_or_thread(void **state)
{
	const struct event_row *event;
	struct fixture f;

	(void)state;
	set_call(&f, CELL_NULL, SYSCALL_read, CELL_NULL);
	event = fixture_read(&f);
	assert_int_equal(event->end, EVENT_NO_END);
	assert_false(event->moment);
	assert_int_equal(event->tid, CELL_NULL);
	assert_int_equal(event->place, PLACE_APART);
	fixture_end(&f);
}

static void a_fault_without_length_is_a_moment(void **state)
{
	const struct event_row *event;
	struct fixture f;

	(void)state;
	fixture_begin(&f, TABLE_fault);
	builder_set(f.builder, column_fault_ts, 1000);
	builder_set(f.builder, column_fault_tid, 8);
	event = fixture_read(&f);
	assert_true(event->moment);
	assert_name(event, "fault");
	assert_int_equal(event->place, PLACE_NESTED);
	fixture_end(&f);
}

/* It begins when it is queued, and its length when it is issued. */
static void a_request_lies_on_its_device(void **state)
{
	const struct event_row *event;
	char keys[EVENT_KEYS_SIZE];
	struct fixture f;

	(void)state;
	fixture_begin(&f, TABLE_block);
	builder_set(f.builder, column_block_ts, 1000);
	builder_set(f.builder, column_block_dur, 50);
	builder_set(f.builder, column_block_queued, 7);
	builder_set(f.builder, column_block_tid, 8);
	builder_set_text(f.builder, column_block_dev, "vda", 3);
	builder_set(f.builder, column_block_op, BLOCK_OP_W);
	event = fixture_read(&f);
	assert_int_equal(event->end, 1057);
	assert_int_equal(event->place, PLACE_APART);
	assert_name(event, "W");
	event_describe_keys(event, keys);
	assert_string_equal(keys, "vda");
	fixture_end(&f);
}

static void keys_are_told_by_name_and_number(void **state)
{
	char keys[EVENT_KEYS_SIZE];
	struct fixture f;

	(void)state;
	fixture_begin(&f, TABLE_gpu_op);
	builder_set(f.builder, column_gpu_op_ts, 1000);
	builder_set(f.builder, column_gpu_op_gpu, 3);
	event_describe_keys(fixture_read(&f), keys);
	assert_string_equal(keys, "gpu 3 unknown stream");
	fixture_end(&f);
	fixture_begin(&f, TABLE_cpu);
	builder_set(f.builder, column_cpu_ts, 1000);
	builder_set(f.builder, column_cpu_cpu, -1);
	event_describe_keys(fixture_read(&f), keys);
	assert_string_equal(keys, "all CPUs");
	assert_int_equal(f.plan.class, EVENT_SAMPLE);
	fixture_end(&f);
}

static void long_keys_are_cut(void **state)
{
	char keys[EVENT_KEYS_SIZE], name[2 * EVENT_KEYS_SIZE];
	struct fixture f;

	(void)state;
	memset(name, 'n', sizeof(name));
	fixture_begin(&f, TABLE_disk);
	builder_set(f.builder, column_disk_ts, 1000);
	builder_set_text(f.builder, column_disk_dev, name, sizeof(name));
	event_describe_keys(fixture_read(&f), keys);
	assert_int_equal(strlen(keys), EVENT_KEYS_SIZE - 1);
	fixture_end(&f);
}

static void arguments_are_what_is_not_told_otherwise(void **state)
{
	static const char *const told[] = {
		"ts", "dur", "pid", "tid", "comm", "op", "file", "dir"
	};
	static const char *const left[] = {
		"fd", "path", "arg_path", "flags", "returned", "blocked"
	};
	struct event_plan plan;

	(void)state;
	event_plan_make(&plan, TABLE_fs);
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		assert_false(has_argument(&plan, told[i]));
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
		assert_true(has_argument(&plan, left[i]));
	event_plan_make(&plan, TABLE_block);
	assert_true(has_argument(&plan, "dev"));
	assert_true(has_argument(&plan, "queued"));
}

/* What a format is not told of by its kind it would have to know by name. */
static void every_table_of_events_has_a_class(void **state)
{
	(void)state;
	for (unsigned table = 0; table < TABLE_COUNT; table++) {
		enum table_kind kind = schema_tables[table].kind;
		struct event_plan plan;

		event_plan_make(&plan, table);
		assert_int_equal(plan.class == EVENT_OTHER,
				 kind == KIND_EVENTS || kind == KIND_DIMENSION);
		if (plan.class == EVENT_SPAN)
			assert_true(plan.length > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_nests_on_its_thread),
		cmocka_unit_test(a_queued_operation_runs_beside_its_thread),
		cmocka_unit_test(a_call_without_end_or_thread),
		cmocka_unit_test(a_fault_without_length_is_a_moment),
		cmocka_unit_test(a_request_lies_on_its_device),
		cmocka_unit_test(keys_are_told_by_name_and_number),
		cmocka_unit_test(long_keys_are_cut),
		cmocka_unit_test(arguments_are_what_is_not_told_otherwise),
		cmocka_unit_test(every_table_of_events_has_a_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
