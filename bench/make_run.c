/* Makes a recording of a training job that never ran, of as many rows as asked for: a main process and eight
 * data loading workers that open, stat and read files of a data set, stays on CPUs, requests to a disk,
 * samples of CPUs and a GPU, epochs as marks. For measuring what is done with large recordings.
 *
 *     make_run FILE ROWS
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/syscalls.h"
#include "store/builder.h"
#include "store/writer.h"

#define WORKERS 8
#define FILES	20000
#define MAIN	1000
#define START	5000000000ll

struct making {
	struct writer *writer;
	struct builder *builders[TABLE_COUNT];
	uint64_t random;
};

static uint64_t random_below(struct making *making, uint64_t limit)
{
	making->random ^= making->random << 13;
	making->random ^= making->random >> 7;
	making->random ^= making->random << 17;
	return making->random % limit;
}

static void flush(struct making *making, unsigned table)
{
	struct buf chunk = { 0 };
	struct error e;

	if (!making->builders[table]->rows)
		return;
	if (builder_encode(making->builders[table], &chunk, &e) ||
	    writer_append(making->writer, &chunk, &e)) {
		fprintf(stderr, "make_run: %s\n", e.text);
		exit(1);
	}
	buf_free(&chunk);
}

static void end_row(struct making *making, unsigned table)
{
	builder_end_row(making->builders[table]);
	if (builder_full(making->builders[table]))
		flush(making, table);
}

#define SET(table, column, value) \
	builder_set(making->builders[TABLE_##table], column_##table##_##column, (int64_t)(value))
#define SET_TEXT(table, column, text)                                                      \
	builder_set_text(making->builders[TABLE_##table], column_##table##_##column, text, \
			 strlen(text))

static void add_fact(struct making *making, const char *key, const char *value)
{
	SET_TEXT(run, key, key);
	SET_TEXT(run, value, value);
	end_row(making, TABLE_run);
}

static void add_process(struct making *making, int64_t ts, int event, int64_t pid, int64_t ppid)
{
	SET(process, ts, ts);
	SET(process, event, event);
	SET(process, pid, pid);
	SET(process, tid, pid);
	SET(process, ppid, ppid);
	SET_TEXT(process, comm, "python3");
	if (event == 1)
		SET_TEXT(process, args, "python3 train.py");
	end_row(making, TABLE_process);
}

static void add_files(struct making *making)
{
	char path[64];

	for (int64_t i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "/data/imagenet/train/n%04lld/sample-%06lld.jpg",
			 (long long)i / 1000, (long long)i);
		SET(file, file, i + 1);
		SET_TEXT(file, path, path);
		SET_TEXT(file, dev, "259:1");
		SET(file, inode, i + 100);
		SET(file, kind, FILE_KIND_FILE);
		end_row(making, TABLE_file);
	}
}

static void add_io(struct making *making, int64_t ts, int64_t pid, int64_t file)
{
	int64_t bytes = 4096 + (int64_t)random_below(making, 120000);

	SET(io, ts, ts);
	SET(io, dur, 2000 + random_below(making, random_below(making, 50) ? 30000 : 5000000));
	SET(io, pid, pid);
	SET(io, tid, pid);
	SET(io, op, SYSCALL_read);
	SET(io, dir, DIRECTION_R);
	SET(io, fd, 7);
	SET(io, file, file);
	SET(io, pos, random_below(making, 4) * 131072);
	SET(io, requested, 131072);
	SET(io, returned, bytes);
	SET(io, missed, random_below(making, 5) ? 0 : bytes);
	end_row(making, TABLE_io);
}

static void add_fs(struct making *making, int64_t ts, int64_t pid, int64_t file)
{
	bool opens = random_below(making, 2);

	SET(fs, ts, ts);
	SET(fs, dur, 1000 + random_below(making, 9000));
	SET(fs, pid, pid);
	SET(fs, tid, pid);
	SET(fs, op, opens ? SYSCALL_openat : SYSCALL_newfstatat);
	if (opens)
		SET(fs, file, file);
	SET(fs, returned, opens ? 7 : 0);
	end_row(making, TABLE_fs);
}

static void add_stay(struct making *making, int64_t ts, int64_t pid, int64_t cpu)
{
	int64_t wait = (int64_t)random_below(making, 20000);

	SET(sched, ts, ts);
	SET(sched, dur, 5000 + random_below(making, 90000));
	SET(sched, cpu, cpu);
	SET(sched, pid, pid);
	SET(sched, tid, pid);
	SET(sched, wait, wait);
	SET(sched, wake_ts, ts - wait);
	SET(sched, waker_tid,
	    pid == MAIN ? MAIN + 1 + (int64_t)random_below(making, WORKERS) : MAIN);
	SET(sched, waker_kind, WAKER_BY_THREAD);
	SET(sched, end_state, 1);
	SET_TEXT(sched, syscall, "poll");
	end_row(making, TABLE_sched);
}

static void add_block(struct making *making, int64_t ts, int64_t pid, int64_t file)
{
	SET(block, ts, ts);
	SET(block, dur, 80000 + random_below(making, 400000));
	SET(block, queued, 2000);
	SET(block, pid, pid);
	SET(block, tid, pid);
	SET_TEXT(block, dev, "nvme0n1");
	SET(block, op, 0);
	SET(block, bytes, 131072);
	SET(block, file, file);
	end_row(making, TABLE_block);
}

static void add_samples(struct making *making, int64_t end)
{
	for (int64_t ts = START; ts < end; ts += 1000000000) {
		double usr = (double)random_below(making, 70);

		SET(cpu, ts, ts);
		SET(cpu, dur, 1000000000);
		SET(cpu, cpu, -1);
		builder_set_real(making->builders[TABLE_cpu], column_cpu_usr, usr);
		builder_set_real(making->builders[TABLE_cpu], column_cpu_idle, 100 - usr);
		end_row(making, TABLE_cpu);
		SET(gpu, ts, ts);
		SET(gpu, dur, 1000000000);
		SET(gpu, gpu, 0);
		SET(gpu, fb_used, 8ull << 30);
		SET(gpu, fb_total, 80ull << 30);
		builder_set_real(making->builders[TABLE_gpu], column_gpu_sm,
				 (double)random_below(making, 100));
		end_row(making, TABLE_gpu);
	}
}

static void add_marks(struct making *making, int64_t end)
{
	char number[8];

	for (int i = 0; i < 10; i++) {
		snprintf(number, sizeof(number), "%d", i);
		SET(mark, ts, START + (end - START) / 10 * i);
		SET_TEXT(mark, source, "mark");
		SET_TEXT(mark, name, "epoch");
		SET_TEXT(mark, value, number);
		end_row(making, TABLE_mark);
	}
}

static void add_rows(struct making *making, uint64_t rows)
{
	int64_t now = START;
	char stop[32];

	for (uint64_t i = 0; i < rows; i++) {
		uint64_t what = random_below(making, 100),
			 worker = random_below(making, WORKERS + 1);
		int64_t pid = MAIN + (int64_t)worker,
			file = 1 + (int64_t)random_below(making, FILES);

		now += (int64_t)random_below(making, 20000);
		if (what < 60)
			add_io(making, now, pid, file);
		else if (what < 75)
			add_fs(making, now, pid, file);
		else if (what < 95)
			add_stay(making, now, pid, (int64_t)worker);
		else
			add_block(making, now, pid, file);
	}
	now += 6000000;
	for (int64_t i = WORKERS; i >= 0; i--)
		add_process(making, now, 2, MAIN + i, i ? MAIN : 900);
	add_samples(making, now);
	add_marks(making, now);
	snprintf(stop, sizeof(stop), "%lld", (long long)now);
	add_fact(making, "stop_ts", stop);
}

int main(int argc, char **argv)
{
	struct making making_here = { .random = 0x853c49e6748fea9bull }, *making = &making_here;
	struct error e;
	int fd;

	if (argc != 3) {
		fputs("usage: make_run FILE ROWS\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || writer_open(&making->writer, fd, &e)) {
		perror(argv[1]);
		return 1;
	}
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		if (builder_open(&making->builders[i], &schema_tables[i], &e))
			return 1;
	add_fact(making, "start_ts", "5000000000");
	add_fact(making, "target", "launch");
	add_fact(making, "recorder_tids", "900");
	add_fact(making, "command", "python3 train.py");
	add_fact(making, "layers", "process,sched,io,fs,block,cpu,gpu");
	add_files(making);
	add_process(making, START, 1, MAIN, 900);
	for (int64_t i = 1; i <= WORKERS; i++)
		add_process(making, START + i, 0, MAIN + i, MAIN);
	add_rows(making, strtoull(argv[2], NULL, 10));
	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		flush(making, i);
		builder_close(making->builders[i]);
	}
	if (writer_close(making->writer, &e)) {
		fprintf(stderr, "make_run: %s\n", e.text);
		return 1;
	}
	return 0;
}
