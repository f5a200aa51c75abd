#include "cluster/metric_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "cluster/metric_blob.h"
#include "cluster/metric_store_sql.h"

#define BUSY_MS	      2000
#define STEPS_A_LOOK  10000 /* of SQLite's machine, between two looks at the clock */
#define RETAIN_A_TIME 600   /* intervals that go in one transaction */
#define SEEN_EVERY    (600 * NS_PER_SECOND) /* how often a series is noted to be alive */

struct metric_store {
	sqlite3 *db;
	sqlite3_stmt *statements[STORE_SQL_COUNT]; /* made when first used */
	uint64_t deadline;			   /* of the reading under way; 0: none */
	struct buf blob;			   /* of the sample that is written */
};

/* ---- SQLite ---- */

static int store_error(struct metric_store *store, struct error *e, const char *what)
{
	int code = sqlite3_errcode(store->db);
	int err = code == SQLITE_FULL				    ? -ENOSPC
		  : code == SQLITE_INTERRUPT			    ? -ETIMEDOUT
		  : code == SQLITE_BUSY				    ? -EBUSY
		  : code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? -EBADMSG
								    : -EIO;

	return error_set(e, err, "cannot %s the store: %s", what, sqlite3_errmsg(store->db));
}

static int store_run(struct metric_store *store, const char *sql, struct error *e)
{
	return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : store_error(store, e, "write");
}

/* A statement, ready for its parameters; NULL with the error set. */
static sqlite3_stmt *store_prepare(struct metric_store *store, enum store_sql sql, struct error *e)
{
	sqlite3_stmt **statement = &store->statements[sql];

	if (*statement) {
		sqlite3_reset(*statement);
		sqlite3_clear_bindings(*statement);
	} else if (sqlite3_prepare_v3(store->db, store_sql_texts[sql], -1,
				      SQLITE_PREPARE_PERSISTENT, statement, NULL) != SQLITE_OK) {
		store_error(store, e, "ask");
		return NULL;
	}
	return *statement;
}

/* Runs a statement that gives no rows. */
static int store_step(struct metric_store *store, sqlite3_stmt *statement, struct error *e)
{
	int err = sqlite3_step(statement) == SQLITE_DONE ? 0 : store_error(store, e, "write");

	sqlite3_reset(statement);
	return err;
}

/* Called by SQLite now and then: nonzero ends the reading. */
static int store_is_late(void *opaque)
{
	const struct metric_store *store = opaque;

	return store->deadline && clock_monotonic() >= store->deadline;
}

/* ---- opening ---- */

static int store_configure(struct metric_store *store, enum metric_store_mode mode, struct error *e)
{
	sqlite3_extended_result_codes(store->db, 0);
	sqlite3_busy_timeout(store->db, BUSY_MS);
	sqlite3_progress_handler(store->db, STEPS_A_LOOK, store_is_late, store);
	return store_run(store, mode == METRIC_STORE_WRITE ? store_sql_setup : store_sql_look, e);
}

/* SQLite makes files by the umask; whose processes ran when is nobody else's business. */
static int store_make_file(const char *path, struct error *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return error_errno(e, "cannot make it");
	close(fd);
	return 0;
}

int metric_store_open(struct metric_store **out, const char *path, enum metric_store_mode mode,
		      struct error *e)
{
	int flags = mode == METRIC_STORE_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
	struct metric_store *store = calloc(1, sizeof(*store));
	int err = store ? 0 : error_set(e, -ENOMEM, "out of memory");

	*out = NULL;
	if (!err && mode == METRIC_STORE_WRITE)
		err = store_make_file(path, e);
	else if (!err && access(path, R_OK))
		err = error_errno(e, "cannot read it");
	if (!err && sqlite3_open_v2(path, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL))
		err = error_set(e, -EIO, "%s",
				store->db ? sqlite3_errmsg(store->db) : "out of memory");
	if (!err)
		err = store_configure(store, mode, e);
	if (err) {
		metric_store_close(store);
		return error_add(e, err, "store '%s'", path);
	}
	*out = store;
	return 0;
}

void metric_store_close(struct metric_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < STORE_SQL_COUNT; i++)
		sqlite3_finalize(store->statements[i]);
	sqlite3_close(store->db);
	buf_free(&store->blob);
	free(store);
}

/* ---- writing ---- */

static void bind_series(sqlite3_stmt *statement, const struct metric_sample *sample)
{
	sqlite3_bind_text(statement, 1, metrics[sample->metric].name, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, sample->label, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 3, sample->op, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 4, sample->pid);
	sqlite3_bind_text(statement, 5, sample->comm, -1, SQLITE_STATIC);
}

/* The number of the sample's series, which is made where there is none. */
static int find_series(struct metric_store *store, const struct metric_sample *sample, uint64_t now,
		       int64_t *series, struct error *e)
{
	sqlite3_stmt *statement = store_prepare(store, STORE_SQL_find_series, e);
	bool found, stale = false;

	if (!statement)
		return -EIO;
	bind_series(statement, sample);
	found = sqlite3_step(statement) == SQLITE_ROW;
	if (found) {
		*series = sqlite3_column_int64(statement, 0);
		stale = (uint64_t)sqlite3_column_int64(statement, 1) + SEEN_EVERY < now;
	}
	sqlite3_reset(statement);
	if (found && !stale)
		return 0;
	statement = store_prepare(store, STORE_SQL_keep_series, e);
	if (!statement)
		return -EIO;
	bind_series(statement, sample);
	sqlite3_bind_int64(statement, 6, (int64_t)now);
	if (store_step(store, statement, e))
		return -EIO;
	if (!found)
		*series = sqlite3_last_insert_rowid(store->db);
	return 0;
}

static int write_sample(struct metric_store *store, const struct metric_sample *sample,
			uint64_t now, struct error *e)
{
	sqlite3_stmt *statement;
	int64_t series = 0;

	if (find_series(store, sample, now, &series, e))
		return -EIO;
	statement = store_prepare(store, STORE_SQL_add_sample, e);
	if (!statement)
		return -EIO;
	sqlite3_bind_int64(statement, 1, series);
	store->blob.size = 0;
	if (metrics[sample->metric].kind != METRIC_KIND_HISTOGRAM)
		sqlite3_bind_double(statement, 2, sample->value);
	else if (metric_blob_write(&store->blob, sample))
		return error_set(e, -ENOMEM, "out of memory");
	else
		sqlite3_bind_blob(statement, 2, store->blob.data, (int)store->blob.size,
				  SQLITE_STATIC);
	return store_step(store, statement, e);
}

static int write_interval(struct metric_store *store, const struct metric_interval *interval,
			  struct error *e)
{
	sqlite3_stmt *statement = store_prepare(store, STORE_SQL_add_interval, e);

	if (!statement)
		return -EIO;
	sqlite3_bind_int64(statement, 1, (int64_t)interval->start);
	sqlite3_bind_int64(statement, 2, (int64_t)interval->length);
	sqlite3_bind_int64(statement, 3, (int64_t)interval->count);
	return store_step(store, statement, e);
}

/* Ends a transaction: as it was meant, or taken back. */
static int store_end(struct metric_store *store, int err, struct error *e)
{
	struct error ignored;

	if (!err)
		err = store_run(store, "COMMIT", e);
	if (err)
		store_run(store, "ROLLBACK", &ignored);
	return err;
}

int metric_store_write(struct metric_store *store, const struct metric_interval *interval,
		       struct error *e)
{
	int err = store_run(store, "BEGIN IMMEDIATE", e);

	if (err)
		return err;
	err = write_interval(store, interval, e);
	for (size_t i = 0; !err && i < interval->count; i++)
		err = write_sample(store, &interval->samples[i], interval->start, e);
	return store_end(store, err, e);
}

/* ---- retention ---- */

static int64_t store_number(struct metric_store *store, enum store_sql sql)
{
	struct error ignored;
	sqlite3_stmt *statement = store_prepare(store, sql, &ignored);
	int64_t number = 0;

	if (statement && sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	if (statement)
		sqlite3_reset(statement);
	return number;
}

uint64_t metric_store_bytes(struct metric_store *store)
{
	return (uint64_t)((store_number(store, STORE_SQL_pages) -
			   store_number(store, STORE_SQL_free_pages)) *
			  store_number(store, STORE_SQL_page_size));
}

/* Removes the oldest intervals, RETAIN_A_TIME at most, that began before `before`. *gone: whether there were any. */
static int remove_oldest(struct metric_store *store, uint64_t before, bool *gone, struct error *e)
{
	int err = store_run(store, "BEGIN IMMEDIATE", e);

	*gone = false;
	for (enum store_sql sql = STORE_SQL_choose_old; !err && sql <= STORE_SQL_drop_series;
	     sql++) {
		sqlite3_stmt *statement = store_prepare(store, sql, e);

		if (!statement) {
			err = -EIO;
			break;
		}
		if (sql == STORE_SQL_choose_old) {
			sqlite3_bind_int64(statement, 1, (int64_t)before);
			sqlite3_bind_int64(statement, 2, RETAIN_A_TIME);
		} else if (sql == STORE_SQL_drop_series) {
			sqlite3_bind_int64(statement, 1, (int64_t)(2 * SEEN_EVERY));
		}
		err = store_step(store, statement, e);
		if (sql == STORE_SQL_drop_intervals && !err)
			*gone = sqlite3_changes(store->db) > 0;
	}
	return store_end(store, err, e);
}

int metric_store_retain(struct metric_store *store, const struct metric_retention *retention,
			uint64_t now, struct error *e)
{
	uint64_t oldest = retention->age && now > retention->age ? now - retention->age : 0;
	bool gone = true;
	int err = 0;

	while (!err && oldest && gone)
		err = remove_oldest(store, oldest, &gone, e);
	gone = true;
	while (!err && gone && retention->size && metric_store_bytes(store) > retention->size)
		err = remove_oldest(store, INT64_MAX, &gone, e);
	return err;
}

/* ---- reading ---- */

/* The bits of a filter's metrics as a list of names for SQL: ",cpudist,runqlat,". */
static void list_metrics(char *out, size_t size, uint64_t wanted)
{
	size_t used = (size_t)snprintf(out, size, ",");

	for (unsigned i = 0; i < METRIC_COUNT; i++)
		if (wanted >> i & 1)
			used += (size_t)snprintf(out + used, size - used, "%s,", metrics[i].name);
}

static const char *column_text(sqlite3_stmt *row, int column)
{
	const unsigned char *text = sqlite3_column_text(row, column);

	return text ? (const char *)text : "";
}

/* False: a sample of a metric that this version does not know, or one that is damaged. */
static bool take_sample(sqlite3_stmt *row, struct metric_sample *sample, uint64_t *slots)
{
	const char *name = column_text(row, 3);

	*sample = (struct metric_sample){
		.id = (uint64_t)sqlite3_column_int64(row, 0),
		.start = (uint64_t)sqlite3_column_int64(row, 1),
		.length = (uint64_t)sqlite3_column_int64(row, 2),
		.metric = metric_find(name, strlen(name)),
		.label = column_text(row, 4),
		.op = column_text(row, 5),
		.pid = sqlite3_column_int64(row, 6),
		.comm = column_text(row, 7),
	};
	if (sample->metric == METRIC_COUNT)
		return false;
	if (metrics[sample->metric].kind != METRIC_KIND_HISTOGRAM) {
		sample->value = sqlite3_column_double(row, 8);
		return true;
	}
	sample->slots = slots;
	return metric_blob_read(sqlite3_column_blob(row, 8), (size_t)sqlite3_column_bytes(row, 8),
				slots, sample);
}

static void bind_filter(sqlite3_stmt *statement, const struct metric_filter *filter,
			const char *names)
{
	sqlite3_bind_int64(statement, 1, (int64_t)filter->from);
	sqlite3_bind_int64(statement, 2, filter->to ? (int64_t)filter->to : INT64_MAX);
	sqlite3_bind_int64(statement, 3, (int64_t)filter->after);
	if (filter->metrics)
		sqlite3_bind_text(statement, 4, names, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 5, filter->pid);
	if (filter->comm)
		sqlite3_bind_text(statement, 6, filter->comm, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 7, filter->limit ? (int64_t)filter->limit : -1);
}

int metric_store_each(struct metric_store *store, const struct metric_filter *filter,
		      int (*each)(void *context, const struct metric_sample *sample), void *context,
		      struct error *e)
{
	sqlite3_stmt *statement = store_prepare(store, STORE_SQL_read, e);
	char names[METRIC_COUNT * 32];
	uint64_t slots[LIVE_SLOTS];
	struct metric_sample sample;
	int code, err = 0;

	if (!statement)
		return -EIO;
	list_metrics(names, sizeof(names), filter->metrics);
	bind_filter(statement, filter, names);
	store->deadline = filter->deadline;
	while (!err && (code = sqlite3_step(statement)) != SQLITE_DONE) {
		if (code != SQLITE_ROW)
			err = store_error(store, e, "read");
		else if (take_sample(statement, &sample, slots))
			err = each(context, &sample);
	}
	store->deadline = 0;
	sqlite3_reset(statement);
	return err < 0 ? err : 0;
}

int metric_store_span(struct metric_store *store, uint64_t from, uint64_t to,
		      struct metric_span *span, struct error *e)
{
	sqlite3_stmt *statement = store_prepare(store, STORE_SQL_span, e);
	int err = 0;

	*span = (struct metric_span){ 0 };
	if (!statement)
		return -EIO;
	sqlite3_bind_int64(statement, 1, (int64_t)from);
	sqlite3_bind_int64(statement, 2, to ? (int64_t)to : INT64_MAX);
	if (sqlite3_step(statement) != SQLITE_ROW)
		err = store_error(store, e, "read");
	else
		*span = (struct metric_span){
			.start = (uint64_t)sqlite3_column_int64(statement, 0),
			.end = (uint64_t)sqlite3_column_int64(statement, 1),
			.covered = (uint64_t)sqlite3_column_int64(statement, 2),
			.intervals = (uint64_t)sqlite3_column_int64(statement, 3),
		};
	sqlite3_reset(statement);
	return err;
}

/* ---- facts ---- */

int metric_store_set_fact(struct metric_store *store, const char *name, const char *value,
			  struct error *e)
{
	sqlite3_stmt *statement = store_prepare(store, STORE_SQL_set_fact, e);

	if (!statement)
		return -EIO;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, value, -1, SQLITE_STATIC);
	return store_step(store, statement, e);
}

int metric_store_fact(struct metric_store *store, const char *name, char *out, size_t size,
		      struct error *e)
{
	sqlite3_stmt *statement = store_prepare(store, STORE_SQL_fact, e);
	int err = 0;

	if (!statement)
		return -EIO;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) == SQLITE_ROW)
		snprintf(out, size, "%s", column_text(statement, 0));
	else
		err = error_set(e, -ENOENT, "the store does not say '%s'", name);
	sqlite3_reset(statement);
	return err;
}
