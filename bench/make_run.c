/* Writes a trace of a data-loading job as it might be, for measuring what reads it: make_run FILE ROWS.
 *
 * Of ten rows six are reads and writes, two are stays on CPUs, one is a metadata call and one in ten of those a
 * block request, spread over 16 CPUs, 64 threads and 20,000 files.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "schema/calls.h"
#include "store/builder.h"
#include "store/writer.h"

#define CPUS	16
#define THREADS 64
#define FILES	20000
#define PID	41000
#define START	987654321000000ull

static struct builder *builders[TABLE_COUNT];
static struct writer *writer;
static uint64_t state = 0x853c49e6748fea9bull;

static uint64_t below(uint64_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % limit;
}

static void check(int err, const struct error *e)
{
	if (!err)
		return;
	fprintf(stderr, "make_run: %s\n", e->text);
	exit(1);
}

static void flush(unsigned table)
{
	struct buf chunk = { 0 };
	struct error e;

	if (!builders[table] || !builders[table]->rows)
		return;
	check(builder_encode(builders[table], &chunk, &e), &e);
	check(writer_append(writer, &chunk, &e), &e);
	buf_free(&chunk);
}

static struct builder *row_of(unsigned table)
{
	struct error e;

	if (!builders[table])
		check(builder_open(&builders[table], &schema_tables[table], &e), &e);
	else if (builder_full(builders[table]))
		flush(table);
	return builders[table];
}

static void add_text(struct builder *row, unsigned column, const char *text)
{
	builder_set_text(row, column, text, strlen(text));
}

static void add_fact(const char *key, const char *value)
{
	struct builder *row = row_of(TABLE_run);

	add_text(row, column_run_key, key);
	add_text(row, column_run_value, value);
	builder_end_row(row);
}

static void add_dimensions(void)
{
	char path[64];

	add_fact("host", "bench");
	add_fact("kernel", "Linux 6.1.0");
	add_fact("start_ts", "987654321000000");
	for (unsigned i = 0; i < THREADS; i++) {
		struct builder *row = row_of(TABLE_process);

		builder_set(row, column_process_ts, START);
		builder_set(row, column_process_event, i ? EVENT_FORK : EVENT_EXEC);
		builder_set(row, column_process_pid, PID);
		builder_set(row, column_process_tid, PID + i);
		add_text(row, column_process_comm, i ? "pt_data_worker" : "python3");
		builder_end_row(row);
	}
	for (unsigned i = 1; i <= FILES; i++) {
		struct builder *row = row_of(TABLE_file);

		builder_set(row, column_file_file, i);
		snprintf(path, sizeof(path), "/data/train/shard-%03u/sample-%06u.jpg", i / 100, i);
		add_text(row, column_file_path, path);
		builder_set(row, column_file_inode, i);
		builder_end_row(row);
	}
}

static void add_io(uint64_t ts, uint64_t number)
{
	struct builder *row = row_of(TABLE_io);
	int64_t dur = 400 + (int64_t)below(1600), size = 4096 << below(6);
	bool waits = !below(100);

	builder_set(row, column_io_ts, (int64_t)ts);
	builder_set(row, column_io_dur, waits ? dur + 80000 : dur);
	builder_set(row, column_io_cpu, (int64_t)below(CPUS));
	builder_set(row, column_io_pid, PID);
	builder_set(row, column_io_tid, PID + (int64_t)(number % THREADS));
	builder_set(row, column_io_op, number % 8 ? CALL_pread64 : CALL_write);
	builder_set(row, column_io_dir, number % 8 ? DIRECTION_R : DIRECTION_W);
	builder_set(row, column_io_fd, 10 + (int64_t)below(4));
	builder_set(row, column_io_file, 1 + (int64_t)below(FILES));
	builder_set(row, column_io_pos, (int64_t)below(1 << 20) * 4096);
	builder_set(row, column_io_requested, size);
	builder_set(row, column_io_returned, size);
	builder_set(row, column_io_missed, waits ? 131072 : 0);
	builder_set(row, column_io_blocked, waits ? 79000 : 0);
	builder_end_row(row);
}

static void add_fs(uint64_t ts, uint64_t number)
{
	struct builder *row = row_of(TABLE_fs);

	builder_set(row, column_fs_ts, (int64_t)ts);
	builder_set(row, column_fs_dur, 900 + (int64_t)below(2000));
	builder_set(row, column_fs_cpu, (int64_t)below(CPUS));
	builder_set(row, column_fs_pid, PID);
	builder_set(row, column_fs_tid, PID + (int64_t)(number % THREADS));
	builder_set(row, column_fs_op, number % 2 ? CALL_openat : CALL_close);
	builder_set(row, column_fs_fd, 10);
	builder_set(row, column_fs_file, 1 + (int64_t)below(FILES));
	builder_set(row, column_fs_returned, number % 2 ? 10 : 0);
	builder_set(row, column_fs_blocked, 0);
	builder_end_row(row);
}

/* The CPUs take turns, so that the stays of each follow one another without a gap. */
static void add_sched(uint64_t ts, uint64_t number, uint64_t begun[CPUS])
{
	struct builder *row = row_of(TABLE_sched);
	unsigned cpu = (unsigned)(number % CPUS);
	int64_t tid = number / CPUS % 2 ? PID + (int64_t)below(THREADS) : 0;

	builder_set(row, column_sched_ts, (int64_t)begun[cpu]);
	builder_set(row, column_sched_dur, (int64_t)(ts - begun[cpu]));
	builder_set(row, column_sched_cpu, cpu);
	builder_set(row, column_sched_pid, tid ? PID : 0);
	builder_set(row, column_sched_tid, tid);
	builder_set(row, column_sched_prio, 120);
	builder_set(row, column_sched_wait, (int64_t)below(1000));
	if (tid)
		builder_set(row, column_sched_waker_tid, PID);
	builder_set(row, column_sched_end_state, 1);
	builder_end_row(row);
	begun[cpu] = ts;
}

static void add_block(uint64_t ts, uint64_t number)
{
	struct builder *row = row_of(TABLE_block);

	builder_set(row, column_block_ts, (int64_t)ts);
	builder_set(row, column_block_dur, 60000 + (int64_t)below(20000));
	builder_set(row, column_block_queued, 2000);
	builder_set(row, column_block_cpu, (int64_t)below(CPUS));
	builder_set(row, column_block_pid, PID);
	builder_set(row, column_block_tid, PID + (int64_t)(number % THREADS));
	add_text(row, column_block_dev, "nvme0n1");
	builder_set(row, column_block_op, 0);
	builder_set(row, column_block_sync, 1);
	builder_set(row, column_block_sector, (int64_t)below(1 << 30));
	builder_set(row, column_block_bytes, 131072);
	builder_set(row, column_block_file, 1 + (int64_t)below(FILES));
	builder_end_row(row);
}

static void add_clock(uint64_t ts)
{
	struct builder *row = row_of(TABLE_clock);

	builder_set(row, column_clock_ts, (int64_t)ts);
	builder_set(row, column_clock_realtime, (int64_t)(ts + 1790000000ull * NS_PER_SECOND));
	builder_set(row, column_clock_monotonic, (int64_t)ts);
	builder_end_row(row);
}

int main(int argc, char **argv)
{
	uint64_t count, ts = START, begun[CPUS];
	struct error e;
	int fd;

	if (argc != 3 || units_parse_count(argv[2], &count)) {
		fputs("usage: make_run FILE ROWS\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	check(writer_open(&writer, fd, &e), &e);
	for (unsigned i = 0; i < CPUS; i++)
		begun[i] = START;
	add_dimensions();
	for (uint64_t i = 0; i < count; i++, ts += 400 + below(800)) {
		if (!(i % 1000000))
			add_clock(ts);
		if (i % 10 < 7)
			add_io(ts, i);
		else if (i % 10 < 9)
			add_sched(ts, i / 10 * 2 + i % 10 - 7, begun);
		else if (i % 100 == 99)
			add_block(ts, i);
		else
			add_fs(ts, i);
	}
	for (unsigned table = 0; table < TABLE_COUNT; table++)
		flush(table);
	check(writer_close(writer, &e), &e);
	return 0;
}
