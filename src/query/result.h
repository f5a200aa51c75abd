/* The rows that a statement gives, cell by cell, without DuckDB's types: those that a cell cannot hold come as
 * the text that DuckDB makes of them.
 */
#ifndef STRATA_QUERY_RESULT_H
#define STRATA_QUERY_RESULT_H

#include "base/buf.h"
#include "base/error.h"
#include "query/duckdb_api.h"

enum cell_kind { CELL_IS_NULL, CELL_IS_BOOL, CELL_IS_INT, CELL_IS_REAL, CELL_IS_TEXT };

struct cell {
	enum cell_kind kind;
	union {
		bool truth;
		__int128 number;
		double real;
		struct {
			const char *bytes; /* until the next chunk is fetched */
			size_t size;
		} text;
	};
};

struct result_column {
	char *name;
	bool is_number; /* shown to the right */
	bool is_json;	/* its texts are JSON; only when that was asked for */
};

struct result {
	duckdb_result handle;
	struct result_column *columns;
	unsigned column_count;
	duckdb_data_chunk chunk;
	bool is_query; /* it gives rows; otherwise it did something */
	bool is_plan;  /* of EXPLAIN: the last column is a text of many lines */
};

/* Goes on to the next rows: how many, 0 at the end, -EIO when the query failed. */
int64_t result_next(struct result *result, struct error *e);
struct cell result_cell(const struct result *result, unsigned column, uint64_t row);
void result_free(struct result *result);

#endif
