#include "render/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/real.h"
#include "base/utf8.h"

#define CSV_BUFFER (256 * 1024)
#define CSV_NUMBER 32 /* more than any number takes, with its separator */

int csv_open(struct csv *csv, int fd)
{
	*csv = (struct csv){ .fd = fd, .data = malloc(CSV_BUFFER) };
	return csv->data ? 0 : -ENOMEM;
}

void csv_free(struct csv *csv)
{
	free(csv->data);
	*csv = (struct csv){ .fd = -1 };
}

int csv_flush(struct csv *csv)
{
	size_t done = 0;

	csv->total += csv->used;
	if (!csv->error && csv->limit && csv->total > csv->limit)
		csv->error = -EFBIG;
	while (done < csv->used && !csv->error) {
		ssize_t wrote = write(csv->fd, csv->data + done, csv->used - done);

		if (wrote >= 0)
			done += (size_t)wrote;
		else if (errno != EINTR)
			csv->error = -errno;
	}
	csv->used = 0;
	return csv->error;
}

/* Room for a short cell and the separator before it. */
static inline char *csv_begin(struct csv *csv)
{
	char *at;

	if (__builtin_expect(csv->used + CSV_NUMBER > CSV_BUFFER, 0))
		csv_flush(csv);
	at = csv->data + csv->used;
	if (csv->in_row)
		*at++ = ',';
	csv->in_row = true;
	return at;
}

static inline void csv_end(struct csv *csv, const char *at)
{
	csv->used = (size_t)(at - csv->data);
}

void csv_null(struct csv *csv)
{
	csv_end(csv, csv_begin(csv));
}

void csv_uint(struct csv *csv, uint64_t value)
{
	csv_end(csv, digits_put(csv_begin(csv), value));
}

void csv_int(struct csv *csv, int64_t value)
{
	csv_end(csv, digits_put_signed(csv_begin(csv), value));
}

void csv_bool(struct csv *csv, bool value)
{
	char *at = csv_begin(csv);
	size_t length = value ? 4 : 5;

	memcpy(at, value ? "true" : "false", length);
	csv_end(csv, at + length);
}

void csv_real(struct csv *csv, double value)
{
	char *at = csv_begin(csv);

	csv_end(csv, at + real_format(at, CSV_NUMBER - 1, value));
}

void csv_end_row(struct csv *csv)
{
	if (csv->used == CSV_BUFFER)
		csv_flush(csv);
	csv->data[csv->used++] = '\n';
	csv->in_row = false;
}

enum { BYTE_PLAIN, BYTE_QUOTED, BYTE_ESCAPED };

/* What a byte asks of its cell: nothing, quotes around it, or a closer look at the byte itself. */
static const uint8_t csv_bytes[256] = {
	[0] = BYTE_ESCAPED,
	['\n'] = BYTE_QUOTED,
	['\r'] = BYTE_QUOTED,
	['"'] = BYTE_QUOTED,
	[','] = BYTE_QUOTED,
	['\\'] = BYTE_ESCAPED,
	[0x80 ... 0xff] = BYTE_ESCAPED,
};

static void csv_append(struct csv *csv, const char *bytes, size_t size)
{
	while (size) {
		size_t room = CSV_BUFFER - csv->used;
		size_t part = size < room ? size : room;

		memcpy(csv->data + csv->used, bytes, part);
		csv->used += part;
		bytes += part;
		size -= part;
		if (csv->used == CSV_BUFFER)
			csv_flush(csv);
	}
}

static void csv_escaped(struct csv *csv, unsigned char byte)
{
	static const char hex[] = "0123456789abcdef";
	char text[] = { '\\', 'x', hex[byte >> 4], hex[byte & 15] };

	csv_append(csv, text, sizeof(text));
}

static void csv_text_slow(struct csv *csv, const char *bytes, size_t size, bool quoted)
{
	size_t length;

	if (quoted)
		csv_append(csv, "\"", 1);
	for (; size; bytes += length, size -= length) {
		length = utf8_character(bytes, size);
		if (!length || *bytes == '\\' || !*bytes) {
			csv_escaped(csv, (unsigned char)*bytes);
			length = 1;
			continue;
		}
		if (*bytes == '"')
			csv_append(csv, "\"", 1);
		csv_append(csv, bytes, length);
	}
	if (quoted)
		csv_append(csv, "\"", 1);
}

void csv_text(struct csv *csv, const char *bytes, size_t size)
{
	bool quoted = !size, escaped = false;

	csv_end(csv, csv_begin(csv));
	for (size_t i = 0; i < size; i++) {
		uint8_t kind = csv_bytes[(unsigned char)bytes[i]];

		quoted |= kind == BYTE_QUOTED;
		escaped |= kind == BYTE_ESCAPED;
	}
	if (quoted || escaped)
		csv_text_slow(csv, bytes, size, quoted);
	else
		csv_append(csv, bytes, size);
}

void csv_shown_text(struct csv *csv, const char *bytes, size_t size)
{
	bool quoted = !size;

	csv_end(csv, csv_begin(csv));
	for (size_t i = 0; i < size && !quoted; i++)
		quoted = csv_bytes[(unsigned char)bytes[i]] == BYTE_QUOTED;
	if (!quoted) {
		csv_append(csv, bytes, size);
		return;
	}
	csv_append(csv, "\"", 1);
	for (size_t i = 0; i < size; i++)
		csv_append(csv, bytes[i] == '"' ? "\"\"" : bytes + i, bytes[i] == '"' ? 2 : 1);
	csv_append(csv, "\"", 1);
}
