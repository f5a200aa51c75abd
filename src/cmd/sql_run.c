/* Runs statements and prints what they give. While one runs, a thread of its own, the watcher, waits for Ctrl-C, which
 * interrupts the statement, and draws how far it is on a terminal that has waited long enough.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/units.h"
#include "cmd/sql.h"
#include "query/split.h"

#define TICK_NS	       100000000l
#define PROGRESS_AFTER 500000000ull
#define PROGRESS_WIDTH 30

struct watcher {
	struct sql *sql;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t begun;
	bool running, stopping, shown; /* under the lock; shown: a progress bar is on the screen */
	_Atomic bool interrupted;
};

static void draw_progress(struct sql *sql)
{
	double part = database_progress(sql->database);
	unsigned filled = (unsigned)(part * PROGRESS_WIDTH + 0.5);
	char bar[3 * PROGRESS_WIDTH + 1] = "";

	for (unsigned i = 0; i < PROGRESS_WIDTH; i++)
		strcat(bar, i < filled ? "━" : "─");
	fprintf(stderr, "\r\033[K%s %3.0f %%", bar, part * 100);
	fflush(stderr);
}

/* Waits for the statement's end or Ctrl-C, with the lock held in between. */
static void watch_statement(struct watcher *watcher, const sigset_t *interrupt)
{
	bool shows = isatty(STDERR_FILENO) && log_level >= LOG_NORMAL;
	uint64_t start = clock_monotonic();

	while (watcher->running) {
		struct timespec tick = { .tv_nsec = TICK_NS };
		int got;

		pthread_mutex_unlock(&watcher->lock);
		got = sigtimedwait(interrupt, NULL, &tick);
		pthread_mutex_lock(&watcher->lock);
		if (got == SIGINT && !watcher->running)
			kill(getpid(), SIGINT); /* it came too late, and is for the prompt */
		if (!watcher->running)
			break;
		if (got == SIGINT) {
			watcher->interrupted = true;
			database_interrupt(watcher->sql->database);
		}
		if (shows && clock_monotonic() - start > PROGRESS_AFTER) {
			draw_progress(watcher->sql);
			watcher->shown = true;
		}
	}
}

static void *watch(void *data)
{
	struct watcher *watcher = data;
	sigset_t interrupt;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	pthread_mutex_lock(&watcher->lock);
	while (!watcher->stopping) {
		if (watcher->running)
			watch_statement(watcher, &interrupt);
		else
			pthread_cond_wait(&watcher->begun, &watcher->lock);
	}
	pthread_mutex_unlock(&watcher->lock);
	return NULL;
}

int sql_watch(struct sql *sql, struct error *e)
{
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	sigset_t interrupt;

	if (!watcher)
		return error_set(e, -ENOMEM, "out of memory");
	watcher->sql = sql;
	pthread_mutex_init(&watcher->lock, NULL);
	pthread_cond_init(&watcher->begun, NULL);
	/* Every thread to come inherits it, DuckDB's too: only the watcher hears of Ctrl-C. */
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	pthread_sigmask(SIG_BLOCK, &interrupt, NULL);
	if (pthread_create(&watcher->thread, NULL, watch, watcher)) {
		free(watcher);
		return error_set(e, -EAGAIN, "cannot start a thread");
	}
	sql->watcher = watcher;
	return 0;
}

static void watcher_set(struct watcher *watcher, bool running, bool stopping)
{
	pthread_mutex_lock(&watcher->lock);
	watcher->running = running;
	watcher->stopping = stopping;
	if (running)
		watcher->interrupted = false;
	else if (watcher->shown)
		fputs("\r\033[K", stderr);
	watcher->shown = false;
	pthread_cond_signal(&watcher->begun);
	pthread_mutex_unlock(&watcher->lock);
}

void sql_unwatch(struct sql *sql)
{
	struct watcher *watcher = sql->watcher;

	if (!watcher)
		return;
	watcher_set(watcher, false, true);
	pthread_join(watcher->thread, NULL);
	pthread_cond_destroy(&watcher->begun);
	pthread_mutex_destroy(&watcher->lock);
	free(watcher);
	sql->watcher = NULL;
}

/* The plan as DuckDB draws it. */
static int print_plan(struct result *result, FILE *out, struct error *e)
{
	int64_t rows;

	while ((rows = result_next(result, e)) > 0)
		for (uint64_t row = 0; row < (uint64_t)rows; row++) {
			struct cell cell = result_cell(result, result->column_count - 1, row);

			if (cell.kind != CELL_IS_TEXT)
				continue;
			escape_print(out, ESCAPE_MESSAGE, cell.text.bytes, cell.text.size);
			putc('\n', out);
		}
	return (int)rows;
}

static int print_rows(struct sql *sql, const char *statement, size_t size,
		      struct result_counts *counts, struct error *e)
{
	bool json = sql->style.format == RESULT_JSON || sql->style.format == RESULT_JSONL;
	struct winsize window;
	struct result result;
	int err = database_run(sql->database, statement, size, json, &result, e);

	if (err)
		return err;
	if (sql->style.width && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) && window.ws_col)
		sql->style.width = window.ws_col; /* it may have been resized */
	if (result.is_plan && sql->style.format == RESULT_TABLE)
		err = print_plan(&result, sql->out, e);
	else if (result.is_query)
		err = result_print(&result, &sql->style, sql->out, counts, e);
	result_free(&result);
	if (!err && fflush(sql->out) && errno != EPIPE)
		err = error_errno(e, "cannot write '%s'", sql->output ? sql->output : "stdout");
	return err;
}

static void say_timing(const struct sql *sql, const struct result_counts *counts, uint64_t ns)
{
	char duration[32], rows[32], all[32];
	uint64_t total, given;

	units_format_count(rows, sizeof(rows), counts->rows);
	if (sql->timing || sql->at_prompt)
		log_info("%s row%s in %s", rows, counts->rows == 1 ? "" : "s",
			 units_format_duration(duration, sizeof(duration), ns));
	database_scanned(sql->database, &total, &given);
	log_verbose("%s of %s rows of the tables were read",
		    units_format_count(duration, sizeof(duration), given),
		    units_format_count(all, sizeof(all), total));
	if (counts->cut)
		log_warning("the table shows the first %s rows; -f csv gives all, LIMIT fewer",
			    rows);
}

/* Damage shows when a table is first read: those of a trace that was fine at its opening come here. */
static void say_damage(struct sql *sql)
{
	const char *damage = database_damage(sql->database);

	if (damage)
		log_warning("damaged, showing the rest: %s", damage);
}

/* What was printed of a trace that was cut meanwhile cannot be trusted. */
static int check_cut(const struct sql *sql, struct error *e)
{
	const struct runs *runs = database_runs(sql->database);

	for (size_t i = 0; i < runs->count; i++)
		if (reader_cut(runs->items[i].reader))
			return error_set(e, -EIO, "trace '%s' was cut while it was read",
					 runs->items[i].path);
	return 0;
}

static int run_statement(struct sql *sql, const char *statement, size_t size)
{
	struct result_counts counts = { 0 };
	uint64_t start = clock_monotonic();
	struct error e;
	int err;

	watcher_set(sql->watcher, true, false);
	if (sql->parquet)
		err = database_write_parquet(sql->database, statement, size, sql->parquet_path,
					     &counts.rows, &e);
	else
		err = print_rows(sql, statement, size, &counts, &e);
	if (!err)
		err = check_cut(sql, &e);
	watcher_set(sql->watcher, false, false);
	sql->interrupted = err && sql->watcher->interrupted;
	if (sql->interrupted)
		log_error("interrupted");
	else if (err)
		log_error("%s", e.text);
	else
		say_timing(sql, &counts, clock_monotonic() - start);
	say_damage(sql);
	return err;
}

/* A dot command ends with its line. */
static int run_dot(struct sql *sql, const char *start, const char **next)
{
	size_t length = strcspn(start, "\n");
	char *line = strndup(start, length);
	int err;

	*next = start + length;
	if (!line) {
		log_error("out of memory");
		return -ENOMEM;
	}
	err = sql_dot(sql, line);
	free(line);
	return err;
}

int sql_run_text(struct sql *sql, const char *text)
{
	int err = 0;

	while (!err && !sql->quit) {
		struct split split = split_statement(text);

		if (!split.size)
			break;
		text = split.next;
		if (*split.start == '.')
			err = run_dot(sql, split.start, &text);
		else
			err = run_statement(sql, split.start, split.size);
	}
	return err;
}
