/* libFuzzer target: the input is a trace file; everything that reads one reads it. Build the store with
 * -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION, so that checksums do not turn the input away.
 */
#include <stdlib.h>

#include "trace.h"

#include "store/dims.h"
#include "store/reader.h"
#include "store/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every byte of the texts, so that a wrong end is a bad access. */
static uint64_t touch_texts(const struct column *column)
{
	uint64_t sum = 0;

	for (uint32_t row = 0; row < column->rows; row++) {
		size_t size;
		const char *text = column_text(column, column->cells[row], &size);

		sum += (uint64_t)column->cells[row];
		for (size_t i = 0; i < size && i < 64; i++)
			sum += (uint8_t)text[i] + (uint8_t)text[size - 1];
	}
	return sum;
}

static uint64_t decode_all(struct reader *reader)
{
	struct column column = { 0 };
	struct chunk *chunks = NULL;
	uint64_t sum = 0;
	size_t count = 0;
	struct error e;

	if (reader_select(reader, TABLE_COUNT, 0, UINT64_MAX, &chunks, &count, &e))
		return 0;
	for (size_t i = 0; i < count; i++)
		for (unsigned c = 0; c < schema_tables[chunks[i].table].column_count; c++)
			if (!reader_decode(reader, &chunks[i], c, &column, &e))
				sum += touch_texts(&column);
	free(chunks);
	column_free(&column);
	return sum;
}

static uint64_t read_rows(struct reader *reader, unsigned table)
{
	struct rows *rows;
	uint64_t sum = 0;
	struct error e;

	if (rows_open(&rows, reader, table, ~0ull, 100, UINT64_MAX - 100, &e))
		return 0;
	while (rows_next(rows, &e) > 0)
		for (unsigned c = 0; c < schema_tables[table].column_count; c++)
			sum += (uint64_t)rows_cell(rows, c);
	rows_close(rows);
	return sum;
}

static uint64_t read_dims(struct reader *reader)
{
	struct dims *dims;
	uint64_t sum = 0, realtime;
	struct error e;
	size_t size;

	if (dims_open(&dims, reader, &e))
		return 0;
	for (size_t i = 0; i < threads_count(dims_threads(dims)); i++) {
		const struct thread_row *row = threads_row(dims_threads(dims), i);

		sum += dims_comm(dims, row->tid, (uint64_t)row->first_ts, &size) ? size : 0;
	}
	for (size_t i = 0; i < dims_file_count(dims); i++)
		sum += dims_path(dims, dims_file_row(dims, i)->file, &size) ? size : 0;
	sum += dims_run(dims, "host") != NULL;
	if (!dims_utc(dims, 1000000, &realtime))
		sum += realtime;
	dims_close(dims);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t sum = 0;
	struct fuzz_file file;
	struct reader *reader;
	struct error e;

	if (!fuzz_file_make(&file, data, size))
		return 0;
	if (!reader_open(&reader, file.path, &e)) {
		sum += decode_all(reader);
		for (unsigned table = 0; table < TABLE_COUNT; table++)
			sum += read_rows(reader, table);
		sum += read_dims(reader);
		reader_close(reader);
	}
	close(file.fd);
	__asm__ volatile("" : : "r"(sum)); /* so that no read is left out */
	return 0;
}
