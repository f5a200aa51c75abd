/* Texts as the vectors of DuckDB hold them. They must be UTF-8: texts of a trace go there as ESCAPE_SHOWN has them. */
#ifndef STRATA_QUERY_TEXT_H
#define STRATA_QUERY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "query/duckdb_api.h"

/* A text of a vector. More than DUCKDB_STRING_INLINED bytes are pointed to: the caller keeps them. */
duckdb_string_t text_string(const char *bytes, size_t size);
const char *text_bytes(const duckdb_string_t *text);
bool text_equals(const duckdb_string_t *a, const duckdb_string_t *b);

#endif
