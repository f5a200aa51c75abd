/* The agent's store: what is written is read, what is too old or too much goes, and hostile bytes are no samples. */
#include "cluster/metric_store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/units.h"
#include "cluster/metric_blob.h"

#define BEGIN	  (1700000000ull * NS_PER_SECOND)
#define BIT(name) (1ull << METRIC_##name)

static char path[64];
static struct error e;

static int make_path(void **state)
{
	(void)state;
	strcpy(path, "/tmp/strata-test-store.XXXXXX");
	close(mkstemp(path));
	return 0;
}

static int remove_path(void **state)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	char name[80];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
	return 0;
}

static struct metric_store *open_as(enum metric_store_mode mode)
{
	struct metric_store *store;

	assert_int_equal(metric_store_open(&store, path, mode, &e), 0);
	return store;
}

/* An interval with a histogram of the node, one of a process, and a figure. */
static void write_second(struct metric_store *store, uint64_t second, int pid)
{
	uint64_t slots[LIVE_SLOTS] = { 1, 0, second + 1 };
	struct metric_sample samples[] = {
		{ .metric = METRIC_runqlat,
		  .label = "",
		  .op = "",
		  .comm = "",
		  .slots = slots,
		  .sum = 9000,
		  .most = 7000 },
		{ .metric = METRIC_cpudist,
		  .label = "",
		  .op = "",
		  .pid = pid,
		  .comm = "train",
		  .slots = slots,
		  .sum = 5000,
		  .most = 4000 },
		{ .metric = METRIC_disk_util, .label = "vda", .op = "", .comm = "", .value = 12.5 },
	};
	struct metric_interval interval = { .start = BEGIN + second * NS_PER_SECOND,
					    .length = NS_PER_SECOND,
					    .samples = samples,
					    .count = 3 };

	assert_int_equal(metric_store_write(store, &interval, &e), 0);
}

struct found {
	unsigned count;
	uint64_t events, last_id, last_start;
	double value;
	char text[256];
};

static int collect(void *context, const struct metric_sample *sample)
{
	struct found *found = context;

	assert_true(sample->id > found->last_id);
	found->count++;
	found->events += sample->count;
	found->last_id = sample->id;
	found->last_start = sample->start;
	found->value = sample->value;
	snprintf(found->text, sizeof(found->text), "%s %s %s %lld %s", metrics[sample->metric].name,
		 sample->label, sample->op, (long long)sample->pid, sample->comm);
	return 0;
}

static struct found find(struct metric_store *store, struct metric_filter filter)
{
	struct found found = { 0 };

	assert_int_equal(metric_store_each(store, &filter, collect, &found, &e), 0);
	return found;
}

static void samples_come_back(void **state)
{
	struct metric_store *store = open_as(METRIC_STORE_WRITE), *reader;
	struct metric_span span;
	struct found found;

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		write_second(store, i, 4711);
	reader = open_as(METRIC_STORE_READ);
	found = find(reader, (struct metric_filter){ .metrics = BIT(runqlat) });
	assert_int_equal(found.count, 10);
	assert_int_equal(found.events, 10 + 55); /* one in slot 0 each, and 1 to 10 in slot 2 */
	assert_string_equal(found.text, "runqlat   0 ");
	found = find(reader, (struct metric_filter){ .metrics = BIT(runqlat) | BIT(disk_util),
						     .from = BEGIN + 4 * NS_PER_SECOND,
						     .to = BEGIN + 6 * NS_PER_SECOND });
	assert_int_equal(found.count, 4);
	assert_true(found.value == 12.5);
	assert_string_equal(found.text, "disk_util vda  0 ");
	found = find(reader, (struct metric_filter){ .pid = 4711, .comm = "train" });
	assert_int_equal(found.count, 10);
	assert_int_equal(find(reader, (struct metric_filter){ .pid = 4711, .comm = "x" }).count, 0);
	assert_int_equal(find(reader, (struct metric_filter){ .pid = -1 }).count, 30);
	assert_int_equal(find(reader, (struct metric_filter){ .pid = -1, .after = 27 }).count, 3);
	assert_int_equal(find(reader, (struct metric_filter){ .pid = -1, .limit = 7 }).count, 7);
	assert_int_equal(metric_store_span(reader, BEGIN + NS_PER_SECOND, 0, &span, &e), 0);
	assert_int_equal(span.intervals, 9);
	assert_int_equal(span.covered, 9 * NS_PER_SECOND);
	assert_int_equal(span.end, BEGIN + 10 * NS_PER_SECOND);
	metric_store_close(reader);
	metric_store_close(store);
}

/* Ids are a cursor for who pushes the samples on: they never come again, not even when all samples are gone. */
static void ids_are_never_used_again(void **state)
{
	struct metric_retention retention = { .age = NS_PER_SECOND };
	struct metric_store *store = open_as(METRIC_STORE_WRITE);
	uint64_t last;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		write_second(store, i, 1);
	last = find(store, (struct metric_filter){ .pid = -1 }).last_id;
	assert_int_equal(metric_store_retain(store, &retention, BEGIN + 1000 * NS_PER_SECOND, &e),
			 0);
	assert_int_equal(find(store, (struct metric_filter){ .pid = -1 }).count, 0);
	metric_store_close(store);
	store = open_as(METRIC_STORE_WRITE);
	write_second(store, 2000, 1);
	assert_int_equal(find(store, (struct metric_filter){ .pid = -1 }).last_id, last + 3);
	metric_store_close(store);
}

static void old_intervals_go(void **state)
{
	struct metric_retention retention = { .age = 100 * NS_PER_SECOND };
	struct metric_store *store = open_as(METRIC_STORE_WRITE);
	struct metric_span span;

	(void)state;
	for (unsigned i = 0; i < 1500; i++) /* more than goes in one transaction */
		write_second(store, i, 1);
	assert_int_equal(metric_store_retain(store, &retention, BEGIN + 1500 * NS_PER_SECOND, &e),
			 0);
	assert_int_equal(metric_store_span(store, 0, 0, &span, &e), 0);
	assert_int_equal(span.intervals, 100);
	assert_int_equal(span.start, BEGIN + 1400 * NS_PER_SECOND);
	assert_int_equal(find(store, (struct metric_filter){ .pid = -1 }).count, 300);
	metric_store_close(store);
}

/* A simulated week of a busy node, whose processes come and go, at one interval a second: an hour of it here, with a limit that
 * makes the store turn over many times, and all of it with STRATA_WEEK. */
static void size_stays_bounded(void **state)
{
	uint64_t seconds = getenv("STRATA_WEEK") ? 7 * 24 * 3600 : 3600;
	struct metric_retention retention = { .size = 128 << 10 };
	struct metric_store *store = open_as(METRIC_STORE_WRITE);
	off_t most = 0;

	(void)state;
	for (uint64_t i = 0; i < seconds; i++) {
		struct stat file;

		write_second(store, i, 1000 + (int)(i / 7 % 30000));
		if (i % 60)
			continue;
		assert_int_equal(
			metric_store_retain(store, &retention, BEGIN + i * NS_PER_SECOND, &e), 0);
		assert_true(metric_store_bytes(store) <= retention.size);
		assert_int_equal(stat(path, &file), 0);
		most = file.st_size > most ? file.st_size : most;
	}
	assert_true(most < 512 << 10); /* what is removed is used again */
	assert_true(find(store, (struct metric_filter){ .pid = -1 }).count > 100);
	metric_store_close(store);
}

static void a_reading_ends_at_its_deadline(void **state)
{
	struct metric_filter filter = { .pid = -1, .deadline = 1 };
	struct metric_store *store = open_as(METRIC_STORE_WRITE);
	struct found found = { 0 };

	(void)state;
	for (unsigned i = 0; i < 2000; i++)
		write_second(store, i, 1);
	assert_int_equal(metric_store_each(store, &filter, collect, &found, &e), -ETIMEDOUT);
	assert_int_equal(find(store, (struct metric_filter){ .pid = -1 }).count, 6000);
	metric_store_close(store);
}

static void what_is_no_store_is_refused(void **state)
{
	struct metric_store *store;
	FILE *file = fopen(path, "w");

	(void)state;
	fputs("this is a text of some length and no database at all, whatever its name may be\n",
	      file);
	fclose(file);
	assert_int_equal(metric_store_open(&store, path, METRIC_STORE_WRITE, &e), -EBADMSG);
	assert_null(store);
	assert_int_equal(metric_store_open(&store, "/nonexistent/x", METRIC_STORE_READ, &e),
			 -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent/x"));
}

static void bytes_are_read_with_care(void **state)
{
	uint64_t slots[LIVE_SLOTS] = { [0] = 3, [5] = 1ull << 40, [LIVE_SLOTS - 1] = 9 };
	uint64_t back[LIVE_SLOTS];
	struct metric_sample sample = { .slots = slots, .sum = UINT64_MAX, .most = 77, .bytes = 5 };
	struct metric_sample read;
	struct buf blob = { 0 };

	(void)state;
	assert_int_equal(metric_blob_write(&blob, &sample), 0);
	assert_true(metric_blob_read(blob.data, blob.size, back, &read));
	assert_memory_equal(back, slots, sizeof(slots));
	assert_true(read.sum == UINT64_MAX && read.most == 77 && read.bytes == 5);
	assert_int_equal(read.count, 12 + (1ull << 40));
	for (size_t cut = 0; cut < 4; cut++)
		assert_false(metric_blob_read(blob.data, cut, back, &read));
	assert_int_equal(buf_append(&blob, "\1", 1), 0);
	assert_false(metric_blob_read(blob.data, blob.size, back, &read)); /* one slot too many */
	blob.data[0] = 2;
	assert_false(metric_blob_read(blob.data, blob.size - 1, back, &read)); /* another version */
	assert_false(metric_blob_read(NULL, 0, back, &read));
	buf_free(&blob);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_path, remove_path)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(samples_come_back),
		TEST(ids_are_never_used_again),
		TEST(old_intervals_go),
		TEST(size_stays_bounded),
		TEST(a_reading_ends_at_its_deadline),
		TEST(what_is_no_store_is_refused),
		TEST(bytes_are_read_with_care),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
