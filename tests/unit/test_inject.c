/* The memory that libraries inside of the job share with the recorder: both sides of it, in one process and in two, and what a
 * process can do to the recorder that means it no good. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "inject/place.h"
#include "inject/pool.h"
#include "inject/writer.h"

#define SLOTS	   256u
#define AREA	   4096u
#define RINGS	   20u
#define MANY	   200000u /* records of a thread, in what runs beside the reader */
#define TEST_KIND  INJECT_CALL
#define FILL(i, k) ((uint64_t)(i)*1000 + (k))

/* Of one slot, or of `head.slots`: all words behind the first say which record it is. */
struct test_record {
	struct inject_head head;
	uint64_t words[INJECT_MOST_SLOTS * 8 - 1];
};

static char path[PATH_MAX];
static struct place place;
static struct pool *pool;
static struct injector injector;
static __thread struct inject_thread thread;

/* What the reader got. */
static struct {
	size_t records, ends;
	uint64_t last, gaps, wrong;
	struct pool_writer writer;
} got;

static void take_record(void *context, const struct pool_writer *writer,
			const struct inject_head *head)
{
	const struct test_record *record = (const void *)head;
	uint64_t i = record->words[0] / 1000;

	(void)context;
	for (unsigned k = 0; k < head->slots * 8u - 1; k++)
		got.wrong += record->words[k] != FILL(i, k);
	got.gaps += got.records && i != got.last + 1;
	got.last = i;
	got.records++;
	got.writer = *writer;
}

static void take_end(void *context, const struct pool_writer *writer)
{
	(void)context;
	(void)writer;
	got.ends++;
}

static const struct pool_visitor visitor = { .record = take_record, .end = take_end };

static void write_record(uint64_t i, unsigned slots)
{
	struct test_record record = { .head = { .kind = TEST_KIND, .slots = (uint8_t)slots } };

	for (unsigned k = 0; k < slots * 8 - 1; k++)
		record.words[k] = FILL(i, k);
	inject_write(&injector, &thread, &record.head);
}

static void write_records(uint64_t from, uint64_t count, unsigned slots)
{
	for (uint64_t i = from; i < from + count; i++)
		write_record(i, slots);
}

static uint64_t lost(enum pool_loss loss)
{
	return pool_lost(pool, INJECT_GPU, loss);
}

static void assert_lost(uint64_t overrun, uint64_t torn, uint64_t no_ring)
{
	assert_int_equal(lost(POOL_OVERRUN), overrun);
	assert_int_equal(lost(POOL_TORN), torn);
	assert_int_equal(lost(POOL_NO_RING), no_ring);
}

static int begin(void **state)
{
	struct place_users users = { getuid(), getgid(), getuid(), getgid() };
	struct pool_config config = { .rings = RINGS, .slots = SLOTS, .area_bytes = AREA };
	struct error e;
	int fd;

	(void)state;
	place_open(&place, &users);
	memset(&injector, 0, sizeof(injector));
	memset(&thread, 0, sizeof(thread));
	memset(&got, 0, sizeof(got));
	if (place_make_file(&place, "pool", 1 << 20, &fd, path, &e) ||
	    pool_open(&pool, fd, &config, &e) || !inject_open(&injector, INJECT_GPU, path))
		fail_msg("%s", e.text);
	pool_start(pool);
	return 0;
}

static int end(void **state)
{
	char folder[PATH_MAX];

	(void)state;
	if (injector.base)
		munmap(injector.base, inject_pool_bytes(RINGS, SLOTS, AREA));
	munmap(injector.generation, INJECT_PAGE);
	pool_close(pool);
	strcpy(folder, path);
	*strrchr(folder, '/') = 0;
	place_remove(&place);
	assert_int_not_equal(access(folder, F_OK), 0);
	return 0;
}

/* ---- one process ---- */

static void records_come_back_in_order_round_and_round(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 50; i++) {
		write_records(i * 90, 90, 1);
		pool_read(pool, &visitor, false);
	}
	assert_int_equal(got.records, 50 * 90);
	assert_int_equal(got.gaps + got.wrong, 0);
	assert_int_equal(got.writer.pid, getpid());
	assert_int_equal(got.writer.tid, gettid());
	assert_int_equal(got.writer.library, INJECT_GPU);
	assert_lost(0, 0, 0);
}

static void records_of_several_slots_run_over_the_end(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 300; i++) {
		write_record(i, 1 + i % INJECT_MOST_SLOTS);
		pool_read(pool, &visitor, false);
	}
	assert_int_equal(got.records, 300);
	assert_int_equal(got.gaps + got.wrong, 0);
	assert_lost(0, 0, 0);
}

static void what_is_not_read_in_time_is_counted(void **state)
{
	(void)state;
	write_records(0, 1000, 1);
	pool_read(pool, &visitor, false);
	assert_int_equal(got.records + lost(POOL_OVERRUN), 1000);
	assert_int_equal(got.records, SLOTS - SLOTS / 4);
	assert_int_equal(got.last, 999);
	assert_int_equal(got.wrong, 0);
	write_records(1000, 10, 1);
	pool_read(pool, &visitor, false);
	assert_int_equal(got.records + lost(POOL_OVERRUN), 1010);
	assert_int_equal(got.last, 1009);
}

static void a_record_that_is_being_written_is_waited_for(void **state)
{
	uint64_t at;
	struct test_record *open;

	(void)state;
	write_record(0, 1);
	open = inject_reserve(&injector, &thread, &at);
	write_record(2, 1); /* as a signal handler would */
	pool_read(pool, &visitor, false);
	assert_int_equal(got.records, 1);
	open->head.kind = TEST_KIND;
	open->head.slots = 1;
	for (unsigned k = 0; k < 7; k++)
		open->words[k] = FILL(1, k);
	inject_commit(&injector, &open->head, at);
	pool_read(pool, &visitor, false);
	assert_int_equal(got.records, 3);
	assert_int_equal(got.gaps + got.wrong, 0);
	assert_lost(0, 0, 0);
}

static void a_record_that_never_ends_is_passed_over(void **state)
{
	uint64_t at;

	(void)state;
	write_record(0, 1);
	inject_reserve(&injector, &thread, &at);
	write_records(2, SLOTS / 2, 1);
	pool_read(pool, &visitor, false);
	assert_int_equal(got.records, 1 + SLOTS / 2);
	assert_int_equal(got.gaps, 1);
	assert_lost(0, 1, 0);
	inject_reserve(&injector, &thread, &at);
	write_record(1000, 1);
	pool_read(pool, &visitor, true); /* nothing will come any more */
	assert_int_equal(got.records, 2 + SLOTS / 2);
	assert_lost(0, 2, 0);
	assert_int_equal(got.ends, 1);
}

static void threads_beyond_the_rings_are_counted(void **state)
{
	struct inject_thread threads[RINGS + 2] = { 0 };

	(void)state;
	for (unsigned i = 0; i < RINGS + 2; i++) {
		struct test_record record = { .head = { .kind = TEST_KIND, .slots = 1 } };

		for (unsigned k = 0; k < 7; k++)
			record.words[k] = FILL(i, k);
		inject_write(&injector, &threads[i], &record.head);
		pool_read(pool, &visitor, false);
	}
	/* All are of one thread: each ring but the newest is one that it has left. */
	assert_int_equal(got.records, RINGS + 2);
	assert_int_equal(pool_writers(pool, INJECT_GPU), RINGS + 2);
	for (unsigned i = 0; i < 20; i++) /* nobody reads, and nobody gives back */
		write_record(i, 1), inject_enter_vfork(&thread, &threads[0]);
	assert_true(lost(POOL_NO_RING) > 0);
}

/* ---- two threads ---- */

static void *write_many(void *unused)
{
	(void)unused;
	write_records(0, MANY, 1);
	inject_end_thread(&injector, &thread);
	return NULL;
}

static void a_reader_beside_a_writer_gets_whole_records(void **state)
{
	pthread_t writer;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_many, NULL), 0);
	while (got.last != MANY - 1) {
		pool_read(pool, &visitor, false);
		pool_wait(pool, 1);
	}
	pthread_join(writer, NULL);
	pool_read(pool, &visitor, true);
	assert_int_equal(got.wrong, 0);
	assert_int_equal(got.records + lost(POOL_OVERRUN), MANY);
	assert_int_equal(lost(POOL_TORN), 0);
	assert_int_equal(got.ends, 1);
}

static void *write_one(void *unused)
{
	write_record(0, 1);
	inject_end_thread(&injector, &thread);
	return unused;
}

static void a_ring_of_a_thread_that_ended_is_the_next_ones(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5 * RINGS; i++) {
		pthread_t writer;

		assert_int_equal(pthread_create(&writer, NULL, write_one, NULL), 0);
		pthread_join(writer, NULL);
		pool_read(pool, &visitor, false);
	}
	assert_int_equal(got.records, 5 * RINGS);
	assert_int_equal(got.ends, 5 * RINGS);
	assert_lost(0, 0, 0);
}

/* ---- signals ---- */

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	(void)number;
	write_record((uint64_t)handled++, 1);
}

static void a_signal_handler_writes_between(void **state)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	uint64_t written = 0;

	(void)state;
	handled = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; handled < 500; written++) {
		write_record(written, 1);
		if (written % 64 == 0)
			pool_read(pool, &visitor, false);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	pool_read(pool, &visitor, true);
	/* One that comes while the thread is taking its ring finds none. */
	assert_int_equal(got.records + lost(POOL_OVERRUN) + lost(POOL_NO_RING),
			 written + (uint64_t)handled);
	assert_int_equal(got.wrong, 0);
	assert_int_equal(lost(POOL_TORN), 0);
}

/* ---- other processes ---- */

static void a_forked_process_has_a_ring_of_its_own(void **state)
{
	int status;
	pid_t child;

	(void)state;
	write_records(0, 10, 1);
	child = fork();
	if (!child) {
		write_records(10, 5, 1);
		_exit(0);
	}
	waitpid(child, &status, 0);
	write_records(10, 1, 1);
	pool_read(pool, &visitor, false);
	assert_int_equal(got.records, 16);
	assert_int_equal(got.wrong, 0);
	assert_int_equal(got.gaps, 1); /* each ring by itself is in order */
	assert_int_equal(got.writer.pid, child);
	assert_int_equal(pool_writers(pool, INJECT_GPU), 2);
	assert_int_equal(got.ends, 1); /* it is gone */
	assert_lost(0, 0, 0);
}

static void what_a_killed_process_left_is_read(void **state)
{
	int status;
	pid_t child;

	(void)state;
	child = fork();
	if (!child) {
		uint64_t at;

		write_records(0, 77, 2);
		inject_reserve(&injector, &thread, &at);
		kill(getpid(), SIGKILL);
	}
	waitpid(child, &status, 0);
	pool_read(pool, &visitor, false);
	assert_int_equal(got.records, 77);
	assert_int_equal(got.gaps + got.wrong, 0);
	assert_lost(0, 1, 0);
	assert_int_equal(got.ends, 1);
}

static void who_goes_on_is_known(void **state)
{
	int status, gate[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(gate), 0);
	child = fork();
	if (!child) {
		char byte;

		write_records(0, 3, 1);
		assert_int_equal(read(gate[0], &byte, 1), 1);
		_exit(0);
	}
	while (got.records < 3)
		pool_read(pool, &visitor, false);
	assert_false(pool_has_survivors(pool));
	pool_read(pool, &visitor, true);
	assert_true(pool_has_survivors(pool));
	assert_int_equal(write(gate[1], "g", 1), 1);
	waitpid(child, &status, 0);
	assert_false(pool_has_survivors(pool));
	close(gate[0]);
	close(gate[1]);
}

/* ---- malice ---- */

static struct inject_owners *owners(void)
{
	return (struct inject_owners *)(injector.base + INJECT_OWNERS_AT);
}

static void a_head_that_makes_no_sense_ends_its_ring_only(void **state)
{
	static const uint64_t heads[] = { 0, 1ull << 63, UINT64_MAX, 5 };

	(void)state;
	for (unsigned i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		write_records(0, 10, 1);
		pool_read(pool, &visitor, false);
		thread.ring->head = heads[i];
		pool_read(pool, &visitor, false);
		inject_end_thread(&injector, &thread);
		pool_read(pool, &visitor, false);
	}
	assert_int_equal(got.records, 10 * sizeof(heads) / sizeof(*heads));
	assert_int_equal(lost(POOL_TORN), sizeof(heads) / sizeof(*heads));
}

static void records_that_make_no_sense_are_not_handed_over(void **state)
{
	static const uint8_t lengths[] = { 0, INJECT_MOST_SLOTS + 1, 255, INJECT_MOST_SLOTS };

	(void)state;
	for (unsigned i = 0; i < sizeof(lengths); i++) {
		uint64_t at;
		struct inject_head *head = inject_reserve(&injector, &thread, &at);

		head->slots = lengths[i];
		inject_commit(&injector, head, at);
		pool_read(pool, &visitor, false);
	}
	assert_int_equal(got.records, 0);
	pool_read(pool, &visitor, true);
	assert_int_equal(got.records, 0);
	assert_lost(0, sizeof(lengths), 0);
}

static void owners_that_make_no_sense_hold_no_ring(void **state)
{
	static const uint64_t nonsense[] = { UINT64_MAX, 1, INJECT_TAKEN,
					     INJECT_TAKEN | 0xffull << 44,
					     INJECT_ENDED | INJECT_TAKEN };

	(void)state;
	for (unsigned i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++)
		owners()->of[i] = nonsense[i];
	for (unsigned i = 0; i < 3; i++)
		pool_read(pool, &visitor, false);
	write_records(0, 10, 1);
	pool_read(pool, &visitor, false);
	assert_int_equal(got.records, 10);
	memset(owners(), 0xff, sizeof(struct inject_owners));
	pool_read(pool, &visitor, true);
}

static void a_pool_that_was_cut_off_is_no_signal(void **state)
{
	(void)state;
	write_records(0, 10, 1);
	pool_read(pool, &visitor, false);
	assert_int_equal(truncate(path, 0), 0);
	pool_read(pool, &visitor, false);
	pool_wait(pool, 1);
	pool_wake(pool);
	assert_int_equal(pool_lost(pool, INJECT_GPU, POOL_NO_RING), 0);
	pool_read(pool, &visitor, true);
	assert_int_equal(got.records, 10);
}

/* What a process writes over with noise is no crash, and no end of the recorder. */
static void noise_is_survived(void **state)
{
	uint64_t bytes = inject_pool_bytes(RINGS, SLOTS, AREA);

	(void)state;
	srand(18);
	write_records(0, 10, 1);
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < 2000; i++)
			injector.base[(uint64_t)rand() % bytes] = (uint8_t)rand();
		for (unsigned i = 0; i < RINGS; i++)
			((struct inject_ring *)(injector.base + INJECT_RINGS_AT +
						i * injector.ring_bytes))
				->head += (uint64_t)(rand() % 600);
		pool_read(pool, &visitor, false);
	}
	pool_read(pool, &visitor, true);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(records_come_back_in_order_round_and_round),
		TEST(records_of_several_slots_run_over_the_end),
		TEST(what_is_not_read_in_time_is_counted),
		TEST(a_record_that_is_being_written_is_waited_for),
		TEST(a_record_that_never_ends_is_passed_over),
		TEST(threads_beyond_the_rings_are_counted),
		TEST(a_reader_beside_a_writer_gets_whole_records),
		TEST(a_ring_of_a_thread_that_ended_is_the_next_ones),
		TEST(a_signal_handler_writes_between),
		TEST(a_forked_process_has_a_ring_of_its_own),
		TEST(what_a_killed_process_left_is_read),
		TEST(who_goes_on_is_known),
		TEST(a_head_that_makes_no_sense_ends_its_ring_only),
		TEST(records_that_make_no_sense_are_not_handed_over),
		TEST(owners_that_make_no_sense_hold_no_ring),
		TEST(a_pool_that_was_cut_off_is_no_signal),
		TEST(noise_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
