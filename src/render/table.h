/* A table for the terminal: columns as wide as their widest cell, the last text column cut to what is left
 * of the line, at its start, because the end of a path tells more.
 *
 *     table_begin(&table, "file|reads|bytes", "lrr");
 *     table_text(&table, path, size);
 *     table_cell(&table, "%u", 3);
 *     table_cell(&table, "%s", "1 KiB");
 *     table_print(&table, stdout, 80);
 *
 * NULL for the headers leaves the header line out. A letter aligns each column: l left, r right, p left and cut when the line is full, b a bar; a capital
 * letter lets the column go where the line is too short, the last such column first.
 * table_print() frees everything.
 */
#ifndef STRATA_RENDER_TABLE_H
#define STRATA_RENDER_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

#define TABLE_MOST_COLUMNS 16
#define TABLE_BAR	   20 /* columns of a full bar */

struct table {
	const char *align;
	unsigned columns;
	struct buf text; /* the cells one after another, each with a terminator */
	bool failed;
};

void table_begin(struct table *table, const char *headers, const char *align);
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_text(struct table *table, const char *bytes, size_t size); /* made safe; NULL: ? */
void table_bar(struct table *table, double share);		      /* 0 to 1 */

/* What people read: 1.23 s, 4.5 MiB, 1,234, 12 %. */
void table_duration(struct table *table, uint64_t ns);
void table_bytes(struct table *table, uint64_t bytes);
void table_count(struct table *table, uint64_t count);
void table_share(struct table *table, double share); /* 0 to 1; NAN: empty */

void table_print(struct table *table, FILE *out, unsigned width);

#endif
