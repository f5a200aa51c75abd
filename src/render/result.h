/* The rows of a query, printed: a table for people, or a format for programs. */
#ifndef STRATA_RENDER_RESULT_H
#define STRATA_RENDER_RESULT_H

#include <stdio.h>

#include "base/error.h"
#include "query/result.h"

enum result_format {
	RESULT_TABLE,
	RESULT_CSV,
	RESULT_JSON,  /* one array of objects */
	RESULT_JSONL, /* one object a line */
	RESULT_MARKDOWN,
};

struct result_style {
	enum result_format format;
	unsigned width; /* of the terminal that a table must fit; 0: none */
	bool color;
	uint64_t limit;	  /* rows of a table; 0: all */
	bool no_formulas; /* CSV: none that a spreadsheet would take for one */
};

struct result_counts {
	uint64_t rows; /* printed */
	bool cut;      /* there were more than the limit */
};

/* Prints what is left of the result. Errors of the stream stay in it; -errno is the query's. */
int result_print(struct result *result, const struct result_style *style, FILE *out,
		 struct result_counts *counts, struct error *e);

/* A cell as text, exactly: what goes into CSV and JSON. The text is the cell's own, or lies in the buffer. */
#define RESULT_NUMBER 48
const char *result_text(const struct cell *cell, char buffer[RESULT_NUMBER], size_t *size);

/* The same for people: numbers with separators and few digits, nothing that could steer the terminal. `plain` is
 * for numbers that name something, such as a pid. Appends to `out`. */
int result_humane(const struct cell *cell, bool plain, struct buf *out);

/* The parts of result_print(). */
int result_print_lines(struct result *result, const struct result_style *style, FILE *out,
		       struct result_counts *counts, struct error *e);
int result_print_table(struct result *result, const struct result_style *style, FILE *out,
		       struct result_counts *counts, struct error *e);

#endif
