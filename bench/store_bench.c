/* Measures the trace file alone: rows of io as a data-loading job makes them, encoded and decoded in
 * memory by one thread. Prints one JSON object.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "schema/syscalls.h"
#include "store/builder.h"
#include "store/reader.h"
#include "store/writer.h"

#define THREADS 6
#define ROWS	(2000000 / BUILDER_MAX_ROWS * BUILDER_MAX_ROWS)

struct thread {
	uint64_t now;
	int64_t file, pos, size, request, cpu, fd;
};

static uint64_t random_state = 0x853c49e6748fea9bull;

static double random_unit(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

static double random_normal(void)
{
	return sqrt(-2 * log(random_unit())) * cos(6.283185307179586 * random_unit());
}

/* CPU time: what else the machine does meanwhile should not count. */
static double clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The thread's next file: a size around 110 KB, read in pieces of one size. */
static void open_file(struct thread *thread, int64_t *next_file)
{
	thread->file = (*next_file)++;
	thread->pos = 0;
	thread->size = (int64_t)exp(11.6 + 0.5 * random_normal());
	thread->request = 4096ll << (int)(random_unit() * 9);
	thread->fd = 10 + (int64_t)(random_unit() * 3);
	thread->now += (uint64_t)(20000 * random_unit());
	if (random_unit() < 0.1)
		thread->cpu = (int64_t)(random_unit() * 16);
}

/* One read: log-normal, 400 to 2000 ns for the most part, and now and then one that waits for a disk. */
static void add_row(struct builder *io, struct thread *thread, int number, int64_t *next_file)
{
	int64_t dur = (int64_t)exp(6.7 + 0.45 * random_normal());
	bool waits = random_unit() < 0.01;
	int64_t returned;

	if (waits)
		dur += (int64_t)(80000 * exp(0.5 * random_normal()));
	returned = thread->size - thread->pos < thread->request ? thread->size - thread->pos
								: thread->request;
	thread->now += (uint64_t)(500 + 1000 * random_unit());
	builder_set(io, column_io_ts, (int64_t)thread->now);
	builder_set(io, column_io_dur, dur);
	builder_set(io, column_io_cpu, thread->cpu);
	builder_set(io, column_io_pid, 41000 + number);
	builder_set(io, column_io_tid, 41000 + number);
	builder_set(io, column_io_op, SYSCALL_read);
	builder_set(io, column_io_dir, DIRECTION_R);
	builder_set(io, column_io_fd, thread->fd);
	builder_set(io, column_io_file, thread->file);
	builder_set(io, column_io_pos, thread->pos);
	builder_set(io, column_io_requested, thread->request);
	builder_set(io, column_io_returned, returned);
	builder_set(io, column_io_missed, waits ? 131072 : 0);
	builder_set(io, column_io_blocked, waits ? dur - 3000 : 0);
	builder_end_row(io);
	thread->now += (uint64_t)dur;
	thread->pos += returned;
	if (!returned)
		open_file(thread, next_file);
}

/* Encodes ROWS rows in chunks of `rows`; the time is that of builder_encode alone. */
static void encode_rows(uint32_t rows, struct buf *out, double *ns)
{
	struct thread threads[THREADS] = { 0 };
	struct builder *io = NULL;
	int64_t next_file = 1;
	struct error e;

	if (builder_open(&io, &schema_tables[TABLE_io], &e))
		exit(1);
	for (int i = 0; i < THREADS; i++) {
		threads[i].now = 987654321000000ull;
		open_file(&threads[i], &next_file);
	}
	*ns = 0;
	for (uint32_t row = 0; row < ROWS; row++) {
		int earliest = 0;

		for (int i = 1; i < THREADS; i++)
			if (threads[i].now < threads[earliest].now)
				earliest = i;
		add_row(io, &threads[earliest], earliest, &next_file);
		if (io->rows == rows) {
			double start = clock_ns();

			if (builder_encode(io, out, &e))
				exit(1);
			*ns += clock_ns() - start;
		}
	}
	builder_close(io);
}

/* Nanoseconds a row to decode the columns. */
static double decode_rows(struct reader *reader, uint64_t wanted)
{
	struct column column = { 0 };
	struct chunk *chunks;
	struct error e;
	size_t count;
	double start, ns;

	if (reader_select(reader, TABLE_io, 0, UINT64_MAX, &chunks, &count, &e))
		exit(1);
	start = clock_ns();
	for (size_t i = 0; i < count; i++)
		for (unsigned c = 0; c < schema_tables[TABLE_io].column_count; c++)
			if (wanted >> c & 1 && reader_decode(reader, &chunks[i], c, &column, &e))
				exit(1);
	ns = clock_ns() - start;
	column_free(&column);
	free(chunks);
	return ns / ROWS;
}

static struct reader *write_and_open(const struct buf *chunks)
{
	char path[] = "/tmp/store_bench.XXXXXX";
	int fd = mkstemp(path);
	struct reader *reader;
	struct writer *writer;
	struct error e;

	if (fd < 0 || writer_open(&writer, fd, &e) || writer_append(writer, chunks, &e) ||
	    writer_close(writer, &e) || reader_open(&reader, path, &e))
		exit(1);
	unlink(path);
	return reader;
}

static void print_columns(struct reader *reader)
{
	printf(",\n  \"decode_ns_per_cell\": {");
	for (unsigned c = 0; c < schema_tables[TABLE_io].column_count; c++)
		printf("%s\"%s\": %.2f", c ? ", " : "", schema_tables[TABLE_io].columns[c].name,
		       decode_rows(reader, 1ull << c));
	printf("}");
}

int main(void)
{
	const uint64_t three = 1ull << column_io_ts | 1ull << column_io_dur | 1ull << column_io_tid;
	static const uint32_t sizes[] = { BUILDER_MAX_ROWS, 1024, 128 };

	printf("{\n");
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct buf chunks = { 0 };
		double ns;

		encode_rows(sizes[i], &chunks, &ns);
		printf("%s  \"rows_%u\": {\"bytes_per_row\": %.3f, \"encode_ns_per_row\": %.1f",
		       i ? ",\n" : "", sizes[i], (double)chunks.size / ROWS, ns / ROWS);
		struct reader *reader = write_and_open(&chunks);

		printf(", \"decode_ts_dur_tid_ns_per_row\": %.2f, \"decode_all_ns_per_row\": %.2f}",
		       decode_rows(reader, three), decode_rows(reader, ~0ull));
		if (!i)
			print_columns(reader);
		reader_close(reader);
		buf_free(&chunks);
	}
	printf("\n}\n");
	return 0;
}
