/* A recording made by hand for tests of the models: rows go into builders; help_report() and help_summary()
 * write the file and load what it tells. Times are milliseconds since boot here.
 */
#ifndef REPORT_HELP_H
#define REPORT_HELP_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/report.h"
#include "store/builder.h"
#include "store/writer.h"

#define HELP __attribute__((unused)) static
#define MS   1000000ll

struct fixture {
	struct builder *builders[TABLE_COUNT];
	struct reader *reader;
	struct dims *dims;
	struct summary summary;
	struct report report;
	bool loaded, timeline;
	struct buf chunks; /* of help_write_more */
	char path[40];
};

HELP int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct error e;

	strcpy(f->path, "/tmp/strata-report-XXXXXX");
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		assert_int_equal(builder_open(&f->builders[i], &schema_tables[i], &e), 0);
	*state = f;
	return 0;
}

HELP int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	if (f->loaded)
		report_free(&f->report);
	summary_free(&f->summary);
	dims_close(f->dims);
	if (f->reader)
		reader_close(f->reader);
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		builder_close(f->builders[i]);
	unlink(f->path);
	free(f);
	return 0;
}

/* One cell; columns of names take the name's number. */
#define SET(table, column, value) \
	builder_set(f->builders[TABLE_##table], column_##table##_##column, (int64_t)(value))
#define SET_TEXT(table, column, text) \
	builder_set_text(f->builders[TABLE_##table], column_##table##_##column, text, strlen(text))
#define END(table) builder_end_row(f->builders[TABLE_##table])

HELP void add_fact(struct fixture *f, const char *key, const char *value)
{
	SET_TEXT(run, key, key);
	SET_TEXT(run, value, value);
	END(run);
}

/* A second of a launched command, from 1000 to 2000 ms. */
HELP void add_run(struct fixture *f, const char *layers)
{
	add_fact(f, "start_ts", "1000000000");
	add_fact(f, "stop_ts", "2000000000");
	add_fact(f, "target", "launch");
	add_fact(f, "recorder_tids", "50,51");
	add_fact(f, "command", "python train.py");
	add_fact(f, "layers", layers);
}

enum { FORK, EXEC, EXIT, RENAME, EXISTS };

HELP void add_process(struct fixture *f, int64_t ms, int event, int64_t pid, int64_t tid,
		      int64_t ppid, const char *comm)
{
	SET(process, ts, ms * MS);
	SET(process, event, event);
	SET(process, pid, pid);
	SET(process, tid, tid);
	if (ppid)
		SET(process, ppid, ppid);
	SET_TEXT(process, comm, comm);
	if (event == EXEC)
		SET_TEXT(process, args, "python train.py");
	END(process);
}

enum { STATE_R, STATE_S, STATE_D };

/* wait and waker: -1 is null. */
HELP void add_stay(struct fixture *f, int64_t from, int64_t to, int64_t cpu, int64_t pid,
		   int64_t tid, int64_t wait, int64_t waker, int state, const char *call)
{
	SET(sched, ts, from * MS);
	SET(sched, dur, (to - from) * MS);
	SET(sched, cpu, cpu);
	SET(sched, pid, pid);
	SET(sched, tid, tid);
	if (wait >= 0)
		SET(sched, wait, wait * MS);
	if (waker >= 0)
		SET(sched, waker_tid, waker);
	SET(sched, end_state, state);
	if (call)
		SET_TEXT(sched, syscall, call);
	END(sched);
}

/* Two CPUs, one second: the main process 100, its worker 101, a kworker, 90 ms that no row covers.
 *
 *     CPU 0   100 |1000 1200) idle |1200 1400) 100 |1400 1500) kworker |1500 1510) gap |1600 2000) 100
 *     CPU 1   idle |1000 1100) 101 |1100 1300) 101 |1300 1350) idle |1350 2000)
 *
 * 100 sleeps in poll until 101 wakes it at 1380 and gets the CPU at 1400; then in read, in state D, until 1600.
 */
HELP void add_schedule(struct fixture *f)
{
	add_process(f, 1000, EXEC, 100, 100, 50, "python");
	add_process(f, 1000, EXISTS, 7, 7, 2, "kworker/0:1");
	add_process(f, 1000, EXISTS, 8, 8, 2, "kworker/1:0");
	add_process(f, 1100, FORK, 101, 101, 100, "python");
	add_process(f, 1350, EXIT, 101, 101, 100, "python");
	add_process(f, 2000, EXIT, 100, 100, 50, "python");
	add_stay(f, 1000, 1200, 0, 100, 100, -1, -1, STATE_S, "poll");
	add_stay(f, 1000, 1100, 1, 0, 0, 0, -1, STATE_R, NULL);
	add_stay(f, 1100, 1300, 1, 101, 101, 5, 100, STATE_R, NULL);
	add_stay(f, 1200, 1400, 0, 0, 0, 0, -1, STATE_R, NULL);
	add_stay(f, 1300, 1350, 1, 101, 101, 0, -1, STATE_S, NULL);
	add_stay(f, 1350, 2000, 1, 0, 0, 0, -1, STATE_R, NULL);
	add_stay(f, 1400, 1500, 0, 100, 100, 20, 101, STATE_D, "read");
	add_stay(f, 1500, 1510, 0, 7, 7, 3, -1, STATE_S, NULL);
	add_stay(f, 1600, 2000, 0, 100, 100, 0, -1, STATE_S, NULL);
}

HELP void add_file(struct fixture *f, int64_t file, const char *path, enum file_kind kind)
{
	SET(file, file, file);
	SET_TEXT(file, path, path);
	SET_TEXT(file, dev, "8:1");
	SET(file, inode, file);
	SET(file, generation, 0);
	SET(file, kind, kind);
	END(file);
}

/* A read of `returned` bytes at `pos` (-1: cannot seek), 1 ms long, that missed so many bytes (-1: null). */
HELP void add_read(struct fixture *f, int64_t ms, int64_t pid, int64_t file, int64_t pos,
		   int64_t returned, int64_t missed)
{
	SET(io, ts, ms * MS);
	SET(io, dur, MS);
	SET(io, pid, pid);
	SET(io, tid, pid);
	SET(io, op, SYSCALL_read);
	SET(io, dir, DIRECTION_R);
	SET(io, file, file);
	if (pos >= 0)
		SET(io, pos, pos);
	SET(io, requested, 65536);
	SET(io, returned, returned);
	if (missed >= 0)
		SET(io, missed, missed);
	SET(io, blocked, MS / 2);
	END(io);
}

/* A metadata call of process 100, 2 ms long; file: 0 is null. */
HELP void add_fs(struct fixture *f, int64_t ms, int op, int64_t file, int64_t returned)
{
	SET(fs, ts, ms * MS);
	SET(fs, dur, 2 * MS);
	SET(fs, pid, 100);
	SET(fs, tid, 100);
	SET(fs, op, op);
	if (file)
		SET(fs, file, file);
	SET(fs, returned, returned);
	END(fs);
}

HELP void add_mark(struct fixture *f, int64_t ms, int64_t dur, const char *source, const char *name,
		   const char *value)
{
	SET(mark, ts, ms * MS);
	if (dur >= 0)
		SET(mark, dur, dur * MS);
	SET_TEXT(mark, source, source);
	SET_TEXT(mark, name, name);
	if (value)
		SET_TEXT(mark, value, value);
	END(mark);
}

/* Takes what the builders hold, so that more rows fit. */
HELP void help_write_more(struct fixture *f)
{
	struct error e;

	for (unsigned i = 0; i < TABLE_COUNT; i++)
		if (f->builders[i]->rows)
			assert_int_equal(builder_encode(f->builders[i], &f->chunks, &e), 0);
}

HELP void help_write(struct fixture *f)
{
	struct writer *writer;
	struct error e;

	assert_int_equal(writer_open(&writer, mkstemp(f->path), &e), 0);
	help_write_more(f);
	if (f->chunks.size)
		assert_int_equal(writer_append(writer, &f->chunks, &e), 0);
	assert_int_equal(writer_close(writer, &e), 0);
	buf_free(&f->chunks);
	assert_int_equal(reader_open(&f->reader, f->path, &e), 0);
	assert_int_equal(dims_open(&f->dims, f->reader, &e), 0);
}

HELP const struct summary *help_summary(struct fixture *f)
{
	struct error e;

	help_write(f);
	assert_int_equal(summary_load(&f->summary, f->path, f->reader, f->dims, &e), 0);
	return &f->summary;
}

HELP const struct report *help_report(struct fixture *f, const char *log, const char *phase)
{
	struct report_options options = {
		.log = log, .phase = phase, .timeline = f->timeline, .levels = true
	};
	struct error e = { "" };

	if (!f->reader)
		help_write(f);
	if (f->loaded)
		report_free(&f->report);
	if (report_load(&f->report, f->path, f->reader, f->dims, &options, &e))
		fail_msg("%s", e.text);
	f->loaded = true;
	return &f->report;
}

HELP const struct task_name *find_task(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->tasks.name_count; i++)
		if (report->tasks.names[i].name_size == strlen(name) &&
		    !memcmp(report->tasks.names[i].name, name, strlen(name)))
			return &report->tasks.names[i];
	fail_msg("no task %s", name);
	return NULL;
}

HELP bool near(double found, double expected)
{
	return fabs(found - expected) < 1e-9 * expected;
}

#endif
