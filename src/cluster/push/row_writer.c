#include "cluster/push/row_writer.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

/* Level 1: packing costs the sender more than the insert costs the server, and more of it gains little. */
#define GZIP_MODE "wb1"
#define FLUSH	  (256u << 10)

int row_writer_begin(struct row_writer *writer, int fd, struct error *e)
{
	int copy = dup(fd);

	*writer = (struct row_writer){ .fd = fd };
	if (copy < 0)
		return error_errno(e, "cannot write rows");
	writer->gzip = gzdopen(copy, GZIP_MODE);
	if (!writer->gzip) {
		close(copy);
		return error_set(e, -ENOMEM, "out of memory");
	}
	gzbuffer(writer->gzip, FLUSH);
	return 0;
}

static void flush(struct row_writer *writer)
{
	if (!writer->failed && writer->bytes.size &&
	    gzwrite(writer->gzip, writer->bytes.data, (unsigned)writer->bytes.size) !=
		    (int)writer->bytes.size)
		writer->failed = true;
	writer->bytes.size = 0;
}

int row_writer_end(struct row_writer *writer, struct error *e)
{
	int err = 0;

	if (!writer->gzip)
		return 0;
	errno = 0;
	flush(writer);
	if (gzclose_w(writer->gzip) != Z_OK || writer->failed)
		err = error_errno(e, "cannot write rows");
	if (err == 0 && writer->failed)
		err = error_set(e, -ENOMEM, "out of memory");
	writer->gzip = NULL;
	buf_free(&writer->bytes);
	return err;
}

static void put(struct row_writer *writer, const void *bytes, size_t size)
{
	writer->raw += size;
	if (buf_append(&writer->bytes, bytes, size))
		writer->failed = true;
}

static void put_byte(struct row_writer *writer, uint8_t byte)
{
	put(writer, &byte, 1);
}

void row_end(struct row_writer *writer, int64_t key)
{
	if (!writer->rows || key < writer->first)
		writer->first = key;
	if (!writer->rows || key > writer->last)
		writer->last = key;
	writer->rows++;
	if (writer->bytes.size >= FLUSH)
		flush(writer);
}

void row_number(struct row_writer *writer, uint64_t number)
{
	number = htole64(number);
	put(writer, &number, sizeof(number));
}

void row_day(struct row_writer *writer, uint16_t day)
{
	day = htole16(day);
	put(writer, &day, sizeof(day));
}

static void put_length(struct row_writer *writer, uint64_t length)
{
	for (; length >= 0x80; length >>= 7)
		put_byte(writer, (uint8_t)(length | 0x80));
	put_byte(writer, (uint8_t)length);
}

void row_text(struct row_writer *writer, const char *bytes, size_t size)
{
	struct buf shown = { 0 };

	if (escape_is_plain(ESCAPE_SHOWN, bytes, size)) {
		put_length(writer, size);
		put(writer, bytes, size);
		return;
	}
	if (escape_append(&shown, ESCAPE_SHOWN, bytes, size))
		writer->failed = true;
	put_length(writer, shown.size);
	put(writer, shown.data, shown.size);
	buf_free(&shown);
}

void row_array(struct row_writer *writer, const uint64_t *numbers, unsigned count)
{
	put_length(writer, count);
	for (unsigned i = 0; i < count; i++)
		row_number(writer, numbers[i]);
}

void row_null(struct row_writer *writer)
{
	put_byte(writer, 1);
}

void row_maybe_number(struct row_writer *writer, uint64_t number)
{
	put_byte(writer, 0);
	row_number(writer, number);
}

void row_maybe_real(struct row_writer *writer, double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	row_maybe_number(writer, bits);
}

void row_maybe_truth(struct row_writer *writer, bool truth)
{
	put_byte(writer, 0);
	put_byte(writer, truth);
}

void row_maybe_text(struct row_writer *writer, const char *bytes, size_t size)
{
	if (!bytes) {
		row_null(writer);
		return;
	}
	put_byte(writer, 0);
	row_text(writer, bytes, size);
}
