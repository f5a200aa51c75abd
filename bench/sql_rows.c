/* Writes the trace that bench/sql asks: sql_rows FILE ROWS. A modelled job in which six loader processes read a data set
 * of 100,000 files again and again, with the stays of its threads on the CPUs: ROWS rows of io and a fifth of that of sched.
 */
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/syscalls.h"
#include "store/builder.h"
#include "store/writer.h"

#define LOADERS	   6
#define FILES	   100000
#define FIRST_PID  41000
#define START	   987654321000000ll
#define CPUS	   16
#define STAY_CALLS 5 /* calls in one stay on a CPU */

struct loader {
	int64_t now, file, pos, request, fd, cpu, stay_start;
	unsigned calls;
};

struct trace {
	struct writer *writer;
	struct builder *io, *sched, *file, *process, *run, *clock;
	struct buf chunk;
	struct error e;
	uint64_t random;
	int64_t next_file;
};

static void fail(const char *what)
{
	fprintf(stderr, "sql_rows: %s\n", what);
	exit(1);
}

static double random_unit(struct trace *trace)
{
	trace->random ^= trace->random << 13;
	trace->random ^= trace->random >> 7;
	trace->random ^= trace->random << 17;
	return ((double)(trace->random >> 11) + 0.5) / 9007199254740992.0;
}

static double random_normal(struct trace *trace)
{
	return sqrt(-2 * log(random_unit(trace))) * cos(6.283185307179586 * random_unit(trace));
}

static void flush_rows(struct trace *trace, struct builder *builder)
{
	if (!builder->rows)
		return;
	trace->chunk.size = 0;
	if (builder_encode(builder, &trace->chunk, &trace->e) ||
	    writer_append(trace->writer, &trace->chunk, &trace->e))
		fail(trace->e.text);
}

static void end_row(struct trace *trace, struct builder *builder)
{
	builder_end_row(builder);
	if (builder_full(builder))
		flush_rows(trace, builder);
}

/* Sizes belong to the files, so that every epoch reads the same bytes. */
static int64_t file_size(int64_t file)
{
	uint64_t mixed = (uint64_t)file * 0x9e3779b97f4a7c15ull;

	return 20000 + (int64_t)(mixed >> 40) % 180000;
}

static void set_text(struct builder *builder, unsigned column, const char *text)
{
	builder_set_text(builder, column, text, strlen(text));
}

static void write_names(struct trace *trace)
{
	static const char *const facts[][2] = { { "host", "bench" },
						{ "start_ts", "987654321000000" } };
	char text[128];

	for (int64_t file = 1; file <= FILES; file++) {
		snprintf(text, sizeof(text), "/data/imagenet/train/n%08d/n%08d_%d.JPEG",
			 (int)(file / 1300), (int)(file / 1300), (int)(file * 7 % 100000));
		builder_set(trace->file, column_file_file, file);
		set_text(trace->file, column_file_path, text);
		set_text(trace->file, column_file_dev, "259:1");
		builder_set(trace->file, column_file_inode, 1000000 + file);
		set_text(trace->file, column_file_fs, "xfs");
		builder_set(trace->file, column_file_kind, FILE_KIND_FILE);
		end_row(trace, trace->file);
	}
	for (int i = 0; i < LOADERS; i++) {
		builder_set(trace->process, column_process_ts, START);
		builder_set(trace->process, column_process_event, EVENT_EXISTS);
		builder_set(trace->process, column_process_pid, FIRST_PID + i);
		builder_set(trace->process, column_process_tid, FIRST_PID + i);
		set_text(trace->process, column_process_comm, "pt_data_worker");
		end_row(trace, trace->process);
	}
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		set_text(trace->run, column_run_key, facts[i][0]);
		set_text(trace->run, column_run_value, facts[i][1]);
		end_row(trace, trace->run);
	}
	builder_set(trace->clock, column_clock_ts, START);
	builder_set(trace->clock, column_clock_realtime, START + 1790000000000000000ll);
	builder_set(trace->clock, column_clock_monotonic, START);
	end_row(trace, trace->clock);
}

static void open_file(struct trace *trace, struct loader *loader)
{
	loader->file = trace->next_file;
	trace->next_file = trace->next_file % FILES + 1;
	loader->pos = 0;
	loader->request = 4096ll << (int)(random_unit(trace) * 9);
	loader->fd = 10 + (int64_t)(random_unit(trace) * 3);
	loader->now += (int64_t)(20000 * random_unit(trace));
	if (random_unit(trace) < 0.1)
		loader->cpu = (int64_t)(random_unit(trace) * CPUS);
}

static void add_stay(struct trace *trace, struct loader *loader, int number)
{
	struct builder *sched = trace->sched;

	builder_set(sched, column_sched_ts, loader->stay_start);
	builder_set(sched, column_sched_dur, loader->now - loader->stay_start);
	builder_set(sched, column_sched_cpu, loader->cpu);
	builder_set(sched, column_sched_pid, FIRST_PID + number);
	builder_set(sched, column_sched_tid, FIRST_PID + number);
	builder_set(sched, column_sched_prio, 120);
	builder_set(sched, column_sched_wait, (int64_t)(3000 * exp(random_normal(trace))));
	builder_set(sched, column_sched_end_state, 1);
	end_row(trace, sched);
	loader->now += (int64_t)(5000 * random_unit(trace));
	loader->stay_start = loader->now;
	loader->calls = 0;
}

/* One read: log-normal, 400 to 2000 ns for the most part, and now and then one that waits for a disk. */
static void add_read(struct trace *trace, struct loader *loader, int number)
{
	int64_t dur = (int64_t)exp(6.7 + 0.45 * random_normal(trace));
	int64_t left = file_size(loader->file) - loader->pos;
	int64_t returned = left < loader->request ? left : loader->request;
	bool waits = random_unit(trace) < 0.01;
	struct builder *io = trace->io;

	if (waits)
		dur += (int64_t)(80000 * exp(0.5 * random_normal(trace)));
	loader->now += (int64_t)(500 + 1000 * random_unit(trace));
	builder_set(io, column_io_ts, loader->now);
	builder_set(io, column_io_dur, dur);
	builder_set(io, column_io_cpu, loader->cpu);
	builder_set(io, column_io_pid, FIRST_PID + number);
	builder_set(io, column_io_tid, FIRST_PID + number);
	builder_set(io, column_io_op, random_unit(trace) < 0.2 ? SYSCALL_pread64 : SYSCALL_read);
	builder_set(io, column_io_dir, DIRECTION_R);
	builder_set(io, column_io_fd, loader->fd);
	builder_set(io, column_io_file, loader->file);
	builder_set(io, column_io_pos, loader->pos);
	builder_set(io, column_io_requested, loader->request);
	builder_set(io, column_io_returned, returned);
	builder_set(io, column_io_missed, waits ? 131072 : 0);
	builder_set(io, column_io_blocked, waits ? dur - 3000 : 0);
	end_row(trace, io);
	loader->now += dur;
	loader->pos += returned;
	if (!returned)
		open_file(trace, loader);
	if (++loader->calls == STAY_CALLS)
		add_stay(trace, loader, number);
}

static void open_trace(struct trace *trace, const char *path)
{
	struct {
		struct builder **builder;
		unsigned table;
	} builders[] = { { &trace->io, TABLE_io },     { &trace->sched, TABLE_sched },
			 { &trace->file, TABLE_file }, { &trace->process, TABLE_process },
			 { &trace->run, TABLE_run },   { &trace->clock, TABLE_clock } };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || writer_open(&trace->writer, fd, &trace->e))
		fail("cannot write the trace");
	for (size_t i = 0; i < sizeof(builders) / sizeof(*builders); i++)
		if (builder_open(builders[i].builder, &schema_tables[builders[i].table], &trace->e))
			fail(trace->e.text);
}

int main(int argc, char **argv)
{
	struct trace trace = { .random = 0x853c49e6748fea9bull, .next_file = 1 };
	struct loader loaders[LOADERS] = { 0 };
	long rows = argc == 3 ? atol(argv[2]) : 0;

	if (rows <= 0)
		fail("usage: sql_rows FILE ROWS");
	open_trace(&trace, argv[1]);
	write_names(&trace);
	for (int i = 0; i < LOADERS; i++) {
		loaders[i].now = loaders[i].stay_start = START;
		open_file(&trace, &loaders[i]);
	}
	for (long row = 0; row < rows; row++) {
		int earliest = 0;

		for (int i = 1; i < LOADERS; i++)
			if (loaders[i].now < loaders[earliest].now)
				earliest = i;
		add_read(&trace, &loaders[earliest], earliest);
	}
	struct builder *all[] = { trace.io,	 trace.sched, trace.file,
				  trace.process, trace.run,   trace.clock };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		flush_rows(&trace, all[i]);
		builder_close(all[i]);
	}
	buf_free(&trace.chunk);
	return writer_close(trace.writer, &trace.e) ? 1 : 0;
}
