/* Makes a small trace that says much: small_bomb FILE ROWS CHUNKS TEXT TABLE...
 *
 * Of each table CHUNKS chunks of ROWS rows, whose cells count up from row to row (a time by 1 us), all at the same times; a text is
 * of TEXT bytes, the same in all rows. Each column is a few bytes, whatever ROWS and TEXT are. A table that is ALL stands for all.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "store/codec.h"
#include "store/format.h"
#include "store/writer.h"

static void must(bool done)
{
	if (!done) {
		perror("small_bomb");
		exit(1);
	}
}

static void put(struct buf *out, uint8_t byte)
{
	must(!buf_append(out, &byte, 1));
}

static void put_varint(struct buf *out, uint64_t value)
{
	must(!format_put_varint(out, value));
}

/* One text of `size` bytes, packed. */
static void put_dictionary(struct buf *out, size_t size)
{
	struct buf plain = { 0 };
	size_t bound, packed;
	uint8_t *bytes;

	put_varint(&plain, size);
	must(!buf_append_zeros(&plain, size));
	bound = ZSTD_compressBound(plain.size);
	bytes = malloc(bound);
	must(bytes);
	packed = ZSTD_compress(bytes, bound, plain.data, plain.size, 3);
	put_varint(out, 1);
	put_varint(out, plain.size);
	put(out, CODEC_ZSTD);
	put_varint(out, packed);
	must(!buf_append(out, bytes, packed));
	free(bytes);
	buf_free(&plain);
}

static void put_column(struct buf *directory, struct buf *streams,
		       const struct schema_column *column, size_t text)
{
	bool has_texts = codec_has_texts(column->type), time = column->role == ROLE_TIME;
	size_t before = streams->size;

	put(directory, (uint8_t)column->number);
	put(directory,
	    (uint8_t)(column->type | (has_texts ? ENCODING_PLAIN : ENCODING_DELTA) << 4));
	put(directory, has_texts ? 0 : time ? 2 : 1);
	put_varint(streams, format_zigzag(time ? 1000000000 : 0));
	if (has_texts) {
		put_dictionary(streams, text);
	} else {
		put(streams, CODEC_BYTE);
		put(streams, time ? 0xe8 : 1);
		if (time) {
			put(streams, CODEC_BYTE);
			put(streams, 3);
		}
	}
	put_varint(directory, streams->size - before);
}

static void put_chunk(struct buf *out, const struct schema_table *table, uint32_t rows, size_t text)
{
	struct buf payload = { 0 }, streams = { 0 };
	uint8_t header[FORMAT_CHUNK_HEADER_SIZE];

	for (unsigned i = 0; i < table->column_count; i++)
		put_column(&payload, &streams, &table->columns[i], text);
	must(!buf_append(&payload, streams.data, streams.size));
	format_put_chunk(
		header,
		&(struct chunk_header){
			.table = table->number,
			.columns = table->column_count,
			.rows = rows,
			.payload = (uint32_t)payload.size,
			.first_ts = schema_is_timed(table) ? 1000000000 : 0,
			.last_end = schema_is_timed(table) ? 1000000000 + rows * 2000ull : 0,
			.checksum = format_checksum(payload.data, payload.size) });
	must(!buf_append(out, header, sizeof(header)) &&
	     !buf_append(out, payload.data, payload.size));
	buf_free(&payload);
	buf_free(&streams);
}

int main(int argc, char **argv)
{
	uint8_t header[FORMAT_HEADER_SIZE];
	struct buf out = { 0 };
	int fd;

	if (argc < 6) {
		fprintf(stderr, "usage: small_bomb FILE ROWS CHUNKS TEXT TABLE...\n");
		return 2;
	}
	format_put_header(header, &(struct file_header){ .version = FORMAT_VERSION,
							 .flags = FORMAT_INCOMPLETE });
	must(!buf_append(&out, header, sizeof(header)));
	for (int i = 5; i < argc; i++)
		for (unsigned t = 0; t < TABLE_COUNT; t++)
			for (int chunk = 0; chunk < atoi(argv[3]); chunk++)
				if (!strcmp(argv[i], "ALL") ||
				    !strcmp(argv[i], schema_tables[t].name))
					put_chunk(&out, &schema_tables[t],
						  (uint32_t)strtoul(argv[2], NULL, 0),
						  strtoul(argv[4], NULL, 0));
	fd = open(argv[1], O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	must(fd >= 0 && write(fd, out.data, out.size) == (ssize_t)out.size && !close(fd));
	buf_free(&out);
	return 0;
}
