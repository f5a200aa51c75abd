/* A spool on disk: numbers that only grow, streams that go on where they were, nothing from a batch that was not committed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cluster/push/spool.h"
#include "cluster/push/spool_record.h"
#include "schema/schema.h"

static char folder[] = "/tmp/strata-spool.XXXXXX";

static struct spool *reopen(struct spool *spool)
{
	struct error e;

	spool_close(spool);
	if (spool_open(&spool, folder, 0, &e))
		fail_msg("%s", e.text);
	return spool;
}

static void add(struct spool *spool, const char *stream, uint64_t cursor, unsigned rows)
{
	struct batch batch = { .table = TABLE_io, .cursor = cursor };
	struct row_writer writer;
	struct error e;

	snprintf(batch.stream, sizeof(batch.stream), "%s", stream);
	assert_int_equal(spool_begin(spool, &writer, &e), 0);
	for (unsigned i = 0; i < rows; i++) {
		row_number(&writer, i);
		row_end(&writer, (int64_t)(10 - i));
	}
	assert_int_equal(spool_commit(spool, &writer, &batch, &e), 0);
	assert_int_equal(batch.rows, rows);
	assert_int_equal(batch.last, 10);
	assert_int_equal(batch.first, 10 - (int)rows + 1);
}

static void streams_go_on_where_they_were(void **state)
{
	struct spool *spool = reopen(NULL);
	uint64_t first, batches, bytes;
	struct error e;
	bool ended;

	(void)state;
	assert_int_equal(spool_cursor(spool, "a", &ended), 0);
	add(spool, "a", 3, 3);
	add(spool, "b", 5, 5);
	add(spool, "a", 7, 4);
	spool = reopen(spool);
	assert_int_equal(spool_cursor(spool, "a", &ended), 7);
	assert_int_equal(spool_cursor(spool, "b", &ended), 5);
	first = spool_first(spool)->number;
	assert_int_equal(spool_first(spool)->cursor, 3);
	assert_int_equal(spool_done(spool, first, &e), 0);
	assert_int_equal(spool_done(spool, first + 1, &e), 0);
	assert_int_equal(spool_done(spool, first + 2, &e), 0);
	assert_null(spool_first(spool));
	spool = reopen(spool);
	assert_null(spool_first(spool));
	assert_int_equal(spool_cursor(spool, "a", &ended), 7); /* what was delivered still counts */
	assert_true(spool_next_number(spool) > first + 2);
	spool_waiting(spool, &batches, &bytes);
	assert_int_equal(batches, 0);
	spool_close(spool);
}

static void rows_that_were_not_committed_are_no_batch(void **state)
{
	struct spool *spool = reopen(NULL), *other;
	struct row_writer writer;
	uint64_t number;
	struct error e;

	(void)state;
	number = spool_next_number(spool);
	assert_int_equal(spool_begin(spool, &writer, &e), 0);
	row_number(&writer, 1);
	row_end(&writer, 1);
	assert_int_equal(spool_open(&other, folder, 0, &e), -EBUSY);
	spool_close(other);
	row_writer_end(&writer, &e); /* and now the process dies */
	spool = reopen(spool);
	assert_null(spool_first(spool));
	assert_true(spool_next_number(spool) >= number);
	spool_close(spool);
}

static void an_epoch_is_never_used_twice(void **state)
{
	struct spool *spool = reopen(NULL);
	uint64_t one, two, identity = spool_identity(spool);
	struct error e;

	(void)state;
	assert_int_equal(spool_next_epoch(spool, &one, &e), 0);
	spool = reopen(spool);
	assert_int_equal(spool_next_epoch(spool, &two, &e), 0);
	assert_true(two > one);
	assert_true(identity && identity == spool_identity(spool));
	spool_close(spool);
}

static void a_record_reads_back_as_it_was(void **state)
{
	struct batch batch = { .number = 1795019317000000,
			       .table = TABLE_fs,
			       .stream = "a\"\n\\\xc3\xa9",
			       .cursor = UINT64_MAX,
			       .is_last = true,
			       .node = "n1",
			       .run = "r",
			       .rows = 7,
			       .first = -5,
			       .last = INT64_MAX };
	char text[SPOOL_RECORD];
	struct batch read;
	struct error e;
	int size = spool_format(&batch, text);

	(void)state;
	assert_true(size > 0);
	assert_int_equal(spool_parse(text, (size_t)size, &read, &e), 0);
	assert_memory_equal(&batch, &read, sizeof(batch));
	assert_int_equal(spool_parse(text, (size_t)size / 2, &read, &e), -EBADMSG);
	assert_int_equal(spool_parse("{}", 2, &read, &e), -EBADMSG);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_go_on_where_they_were),
		cmocka_unit_test(rows_that_were_not_committed_are_no_batch),
		cmocka_unit_test(an_epoch_is_never_used_twice),
		cmocka_unit_test(a_record_reads_back_as_it_was),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
