/* See writer.h. The writer owns the descriptor and the index it gathers; writer_close frees both.
 *
 * Bytes only ever go to the end, whole chunks in one write, so that whatever kills the process leaves
 * a readable file: the header says `incomplete` until index and trailer stand behind the last chunk.
 */
#include "store/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cursor.h"
#include "store/format.h"

struct writer {
	int fd;
	pthread_mutex_t lock; /* guards what follows, but for the atomics */
	struct file_header header;
	struct buf index; /* entries as they will be written */
	uint64_t count;
	int err; /* the first failed write */
	struct error error;
	_Atomic uint64_t size;
	_Atomic uint64_t rows[TABLE_COUNT];
};

static int write_at(int fd, const void *bytes, size_t size, uint64_t offset, struct error *e)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t done = pwrite(fd, at, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return error_errno(e, "cannot write the trace at byte %llu",
					   (unsigned long long)offset);
		at += done;
		offset += (uint64_t)done;
		size -= (size_t)done;
	}
	return 0;
}

static int write_header(struct writer *writer, struct error *e)
{
	uint8_t bytes[FORMAT_HEADER_SIZE];

	format_put_header(bytes, &writer->header);
	return write_at(writer->fd, bytes, sizeof(bytes), 0, e);
}

static void writer_free(struct writer *writer)
{
	if (writer->fd >= 0)
		close(writer->fd);
	pthread_mutex_destroy(&writer->lock);
	buf_free(&writer->index);
	free(writer);
}

/* Tells readers that somebody writes: a chunk that is not whole yet is no damage then. A file system
 * without locks loses only that. */
static void lock_file(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	fcntl(fd, F_OFD_SETLK, &lock);
}

int writer_open(struct writer **writer, int fd, struct error *e)
{
	struct writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w) {
		close(fd);
		return error_set(e, -ENOMEM, "no memory for the trace's writer");
	}
	w->fd = fd;
	lock_file(fd);
	w->header = (struct file_header){ .version = FORMAT_VERSION,
					  .flags = FORMAT_INCOMPLETE,
					  .realtime = clock_now(CLOCK_REALTIME),
					  .boottime = clock_now(CLOCK_BOOTTIME) };
	pthread_mutex_init(&w->lock, NULL);
	w->size = FORMAT_HEADER_SIZE;
	err = write_header(w, e);
	if (err) {
		writer_free(w);
		return err;
	}
	*writer = w;
	return 0;
}

/* Adds index entries for the chunks; their bytes will stand at the file's end. */
static int index_chunks(struct writer *writer, const struct buf *chunks, struct error *e)
{
	struct cursor cursor = cursor_over(chunks->data, chunks->size);

	while (cursor_left(&cursor)) {
		uint8_t bytes[FORMAT_INDEX_ENTRY_SIZE];
		struct chunk_header header;
		struct index_entry entry;
		const char *wrong = format_get_chunk(cursor.at, cursor_left(&cursor), &header);

		if (wrong)
			return error_set(e, -EINVAL, "not a chunk to append: %s", wrong);
		entry = (struct index_entry){
			.offset = writer->size + (uint64_t)(cursor.at - chunks->data),
			.first_ts = header.first_ts,
			.last_end = header.last_end,
			.rows = header.rows,
			.table = header.table,
		};
		format_put_entry(bytes, &entry);
		if (buf_append(&writer->index, bytes, sizeof(bytes)))
			return error_set(e, -ENOMEM, "no memory for the trace's index");
		cursor_take(&cursor, FORMAT_CHUNK_HEADER_SIZE + (size_t)header.payload);
	}
	return 0;
}

/* The chunks are in the file: count them. */
static void count_chunks(struct writer *writer)
{
	for (; writer->count < writer->index.size / FORMAT_INDEX_ENTRY_SIZE; writer->count++) {
		const struct schema_table *table;
		struct index_entry entry;

		format_get_entry(writer->index.data + writer->count * FORMAT_INDEX_ENTRY_SIZE,
				 &entry);
		table = schema_table_by_number(entry.table);
		if (table)
			writer->rows[table - schema_tables] += entry.rows;
	}
}

/* The header has its place in the file already. Where even that cannot be written, the file stays incomplete with no reason. */
static void note_failure(struct writer *writer, int err)
{
	struct error ignored;

	if (!writer->header.failure)
		writer->header.failure = (uint32_t)-err;
	write_header(writer, &ignored);
}

static int append_locked(struct writer *writer, const struct buf *chunks, struct error *e)
{
	int err;

	if (writer->err) {
		*e = writer->error;
		return writer->err;
	}
	err = index_chunks(writer, chunks, e);
	if (!err) {
		err = write_at(writer->fd, chunks->data, chunks->size, writer->size, e);
		if (err) {
			writer->err = err;
			writer->error = *e;
			/* What cannot be cut off is a chunk without its end: readers stop there. */
			if (ftruncate(writer->fd, (off_t)writer->size))
				error_add(&writer->error, err, "trace left with a cut chunk");
			note_failure(writer, err);
		}
	}
	if (err) {
		writer->index.size = writer->count * FORMAT_INDEX_ENTRY_SIZE;
		return err;
	}
	writer->size += chunks->size;
	count_chunks(writer);
	return 0;
}

int writer_append(struct writer *writer, const struct buf *chunks, struct error *e)
{
	int err;

	pthread_mutex_lock(&writer->lock);
	err = append_locked(writer, chunks, e);
	pthread_mutex_unlock(&writer->lock);
	return err;
}

void writer_note_failure(struct writer *writer, int err, uint64_t unwritten, uint64_t lost)
{
	pthread_mutex_lock(&writer->lock);
	writer->header.unwritten = unwritten;
	writer->header.lost = lost;
	note_failure(writer, err);
	pthread_mutex_unlock(&writer->lock);
}

uint64_t writer_size(const struct writer *writer)
{
	return writer->size;
}

uint64_t writer_rows(const struct writer *writer, unsigned table)
{
	return writer->rows[table];
}

/* Index and trailer, in one piece. */
static int write_index(struct writer *writer, struct error *e)
{
	struct trailer trailer = { .offset = writer->size, .count = writer->count };
	uint8_t head[FORMAT_INDEX_HEADER_SIZE], tail[FORMAT_TRAILER_SIZE];
	struct buf whole = { .limit = SIZE_MAX };
	int err;

	format_put_index_head(head);
	format_put_trailer(tail, &trailer);
	err = buf_append(&whole, head, sizeof(head));
	if (!err)
		err = buf_append(&whole, writer->index.data, writer->index.size);
	if (!err)
		err = buf_append(&whole, tail, sizeof(tail));
	if (err) {
		error_set(e, err, "no memory for the trace's index");
	} else {
		size_t covered = whole.size - FORMAT_TRAILER_CHECKSUM_END;

		trailer.checksum = format_checksum(whole.data, covered);
		format_put_trailer(whole.data + whole.size - sizeof(tail), &trailer);
		err = write_at(writer->fd, whole.data, whole.size, writer->size, e);
	}
	buf_free(&whole);
	return err;
}

int writer_close(struct writer *writer, struct error *e)
{
	int err = writer->err;

	if (err)
		*e = writer->error;
	if (!err) {
		err = write_index(writer, e);
		if (err)
			note_failure(writer, err);
	}
	if (!err) {
		writer->header.flags &= ~(uint32_t)FORMAT_INCOMPLETE;
		err = write_header(writer, e);
	}
	if (close(writer->fd) && !err)
		err = error_errno(e, "cannot close the trace");
	writer->fd = -1;
	writer_free(writer);
	return err;
}
