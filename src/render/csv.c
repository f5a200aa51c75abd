#include "render/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/escape.h"
#include "base/real.h"

#define CSV_BUFFER (256 * 1024)
#define CSV_NUMBER 32 /* more than any number takes, with its separator */

int csv_open(struct csv *csv, int fd)
{
	*csv = (struct csv){ .fd = fd,
			     .data = malloc(CSV_BUFFER),
			     .style = isatty(fd) ? CSV_TERMINAL : CSV_PLAIN };
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

static void csv_append(struct csv *csv, enum escape_style style, const char *bytes, size_t size)
{
	struct escape_text text = { bytes, size };

	for (;;) {
		char *at = csv->data + csv->used;

		csv_end(csv, escape_some(style, &text, at, CSV_BUFFER - csv->used));
		if (!text.size)
			return;
		csv_flush(csv);
	}
}

static void csv_put(struct csv *csv, char character)
{
	if (csv->used == CSV_BUFFER)
		csv_flush(csv);
	csv->data[csv->used++] = character;
}

/* What a spreadsheet takes for the beginning of a formula. */
static bool begins_formula(const char *bytes, size_t size)
{
	return size && strchr("=+-@\t\r", *bytes) && *bytes;
}

static void csv_cell(struct csv *csv, enum escape_style style, const char *bytes, size_t size)
{
	char *at = csv_begin(csv);
	bool formula = csv->no_formulas && begins_formula(bytes, size), quoted;

	csv_end(csv, at);
	/* Nearly every text is kept as it is: not looked at twice. */
	if (size && !formula && size < CSV_BUFFER - csv->used &&
	    escape_copy_kept(style, bytes, size, at) == size) {
		csv_end(csv, at + size);
		return;
	}
	quoted = escape_needs_quotes(style, bytes, size);
	if (quoted)
		csv_put(csv, '"');
	if (formula)
		csv_put(csv, '\'');
	csv_append(csv, style, bytes, size);
	if (quoted)
		csv_put(csv, '"');
}

void csv_text(struct csv *csv, const char *bytes, size_t size)
{
	csv_cell(csv, csv->style == CSV_TERMINAL ? ESCAPE_CSV_TERMINAL : ESCAPE_CSV, bytes, size);
}

void csv_shown_text(struct csv *csv, const char *bytes, size_t size)
{
	csv_cell(csv, csv->style == CSV_TERMINAL ? ESCAPE_CSV_SHOWN_TERMINAL : ESCAPE_CSV_SHOWN,
		 bytes, size);
}
