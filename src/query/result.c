#include "query/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/text.h"

int64_t result_next(struct result *result, struct error *e)
{
	const char *error;
	idx_t rows;

	do {
		if (result->chunk)
			duckdb.destroy_data_chunk(&result->chunk);
		result->chunk = duckdb.fetch_chunk(result->handle);
		if (!result->chunk) {
			error = duckdb.result_error(&result->handle);
			return error && *error ? error_set(e, -EIO, "%s", error) : 0;
		}
		rows = duckdb.data_chunk_get_size(result->chunk);
	} while (!rows);
	return (int64_t)rows;
}

static struct cell int_cell(__int128 number)
{
	return (struct cell){ .kind = CELL_IS_INT, .number = number };
}

static struct cell real_cell(double real)
{
	return (struct cell){ .kind = CELL_IS_REAL, .real = real };
}

static struct cell text_cell(const duckdb_string_t *text)
{
	return (struct cell){ .kind = CELL_IS_TEXT,
			      .text = { text_bytes(text), text->inlined.length } };
}

static struct cell huge_cell(const duckdb_hugeint *huge)
{
	return int_cell((__int128)(((unsigned __int128)(uint64_t)huge->upper << 64) | huge->lower));
}

struct cell result_cell(const struct result *result, unsigned column, uint64_t row)
{
	duckdb_vector vector = duckdb.data_chunk_get_vector(result->chunk, column);
	uint64_t *validity = duckdb.vector_get_validity(vector);
	const void *data = duckdb.vector_get_data(vector);

	if (validity && !(validity[row / 64] >> row % 64 & 1))
		return (struct cell){ .kind = CELL_IS_NULL };
	switch (duckdb.column_type((duckdb_result *)&result->handle, column)) {
	case DUCKDB_TYPE_BOOLEAN:
		return (struct cell){ .kind = CELL_IS_BOOL, .truth = ((const uint8_t *)data)[row] };
	case DUCKDB_TYPE_TINYINT: return int_cell(((const int8_t *)data)[row]);
	case DUCKDB_TYPE_SMALLINT: return int_cell(((const int16_t *)data)[row]);
	case DUCKDB_TYPE_INTEGER: return int_cell(((const int32_t *)data)[row]);
	case DUCKDB_TYPE_BIGINT: return int_cell(((const int64_t *)data)[row]);
	case DUCKDB_TYPE_UTINYINT: return int_cell(((const uint8_t *)data)[row]);
	case DUCKDB_TYPE_USMALLINT: return int_cell(((const uint16_t *)data)[row]);
	case DUCKDB_TYPE_UINTEGER: return int_cell(((const uint32_t *)data)[row]);
	case DUCKDB_TYPE_UBIGINT: return int_cell(((const uint64_t *)data)[row]);
	case DUCKDB_TYPE_HUGEINT: return huge_cell(&((const duckdb_hugeint *)data)[row]);
	case DUCKDB_TYPE_FLOAT: return real_cell((double)((const float *)data)[row]);
	case DUCKDB_TYPE_DOUBLE: return real_cell(((const double *)data)[row]);
	case DUCKDB_TYPE_VARCHAR: return text_cell(&((const duckdb_string_t *)data)[row]);
	default:
		return (struct cell){ .kind = CELL_IS_TEXT,
				      .text = { "?", 1 } }; /* no statement with rows of its own */
	}
}

void result_free(struct result *result)
{
	if (result->chunk)
		duckdb.destroy_data_chunk(&result->chunk);
	if (result->handle.internal_data)
		duckdb.destroy_result(&result->handle);
	for (unsigned i = 0; i < result->column_count; i++)
		free(result->columns[i].name);
	free(result->columns);
	*result = (struct result){ 0 };
}
