/* Texts as DuckDB takes them: UTF-8 only. A byte that is not is shown as \xNN and a backslash as \x5c, so
 * that nothing is ambiguous: the same characters that `strata dump` prints.
 */
#ifndef STRATA_QUERY_TEXT_H
#define STRATA_QUERY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "query/duckdb_api.h"

/* Whether the bytes are shown as they are. */
bool text_is_plain(const char *bytes, size_t size);

/* Appends the text as shown. 0 or -ENOMEM. */
int text_append_shown(struct buf *out, const char *bytes, size_t size);

/* A text of a vector. More than DUCKDB_STRING_INLINED bytes are pointed to: the caller keeps them. */
duckdb_string_t text_string(const char *bytes, size_t size);
const char *text_bytes(const duckdb_string_t *text);
bool text_equals(const duckdb_string_t *a, const duckdb_string_t *b);

#endif
