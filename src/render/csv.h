/* Rows as RFC 4180 CSV into a file descriptor, buffered, with integers formatted by hand: this is
 * the inner loop of `strata dump`.
 *
 * Text: bytes that are not UTF-8 become \xNN, a backslash \x5c and NUL \x00; a cell with a comma, a
 * quote or a line break is quoted. Null is an empty cell and an empty text is "". Lines end in \n.
 * On a terminal what could steer it is \xNN too (escape.h). Where spreadsheets are feared, a text that one would take for
 * a formula gets a single quote before it.
 *
 * Cells are added left to right; csv_end_row() ends the line. A failed write is kept in `error` and
 * makes later calls do nothing. The caller owns fd and calls csv_free() after csv_flush().
 */
#ifndef STRATA_RENDER_CSV_H
#define STRATA_RENDER_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum csv_style { CSV_PLAIN, CSV_TERMINAL };

struct csv {
	char *data;
	size_t used;
	uint64_t total; /* bytes flushed */
	uint64_t limit; /* of bytes, 0: none; passing it is the error -EFBIG */
	int fd;
	int error;	      /* 0 or -errno of the first failed write */
	bool in_row;	      /* a separator precedes the next cell */
	enum csv_style style; /* as fd is, unless changed after csv_open() */
	bool no_formulas;     /* set after csv_open() */
};

int csv_open(struct csv *csv, int fd); /* 0 or -ENOMEM */
void csv_free(struct csv *csv);
int csv_flush(struct csv *csv); /* 0 or -errno of the first failed write */

void csv_null(struct csv *csv);
void csv_uint(struct csv *csv, uint64_t value);
void csv_int(struct csv *csv, int64_t value);
void csv_bool(struct csv *csv, bool value);
void csv_real(struct csv *csv,
	      double value); /* the fewest digits that read back as the same number */
void csv_text(struct csv *csv, const char *bytes, size_t size);
void csv_shown_text(
	struct csv *csv, const char *bytes,
	size_t size); /* bytes stand in it as \xNN already: quoted where need be, no more */
void csv_end_row(struct csv *csv);

#endif
